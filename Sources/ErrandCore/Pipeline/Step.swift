// Performance annotations: decisions 10 and 17.

/// One stage of the pipeline: it calls `next`, or returns a response itself.
///
/// Only `InterceptStep`, `CacheStep`, `RetryStep`, `DownloadStep`, `RedirectStep` and `AuthenticateStep` may call `next`
/// more than once.
package protocol Step: Sendable {
    nonisolated(nonsending) func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response

    /// Whether the step applies to this request; otherwise it is skipped, which saves its async frame.
    func concerns(_ pipelineRequest: PipelineRequest) -> Bool
}

extension Step {
    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool { true }
}

/// The rest of the pipeline after a step.
package struct Next: Sendable {
    private let steps: [any Step]
    private let index: Int

    package init(_ steps: [any Step]) {
        self.init(steps, index: 0)
    }

    private init(_ steps: [any Step], index: Int) {
        self.steps = steps
        self.index = index
    }

    // Inlined, because a function between two steps would need an async frame (decision 10).
    @inline(__always)
    nonisolated(nonsending) package func callAsFunction(
        _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> Response {
        guard index < steps.count else {
            throw RequestError(
                .transportFailed, stage: .transport,
                "The pipeline has no transport step; end the list of steps with one.")
        }
        var index = index
        while index + 1 < steps.count, !steps[index].concerns(pipelineRequest) { index += 1 }
        return try await steps[index].run(pipelineRequest, next: Next(steps, index: index + 1))
    }
}
