/// One stage of the pipeline.
///
/// It calls `next` to go on, or answers by itself.
///
/// Only `RetryStep`, `RedirectStep`, `AuthenticateStep` and `DownloadStep` may call `next` more than
/// once.
package protocol Step: Sendable {
    nonisolated(nonsending) func run(
        _ exchange: Exchange, next: Next
    ) async throws(RequestError) -> Response

    /// Whether the step has anything to do with this request. A step that has not is passed over, which spares a
    /// small request the room and the time of a suspended step.
    func concerns(_ exchange: Exchange) -> Bool
}

extension Step {
    package func concerns(_ exchange: Exchange) -> Bool { true }
}

/// The rest of the pipeline, as a step sees it.
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

    // Inlined: a function of its own between each two steps would be suspended with them.
    @inline(__always)
    nonisolated(nonsending) package func callAsFunction(
        _ exchange: Exchange
    ) async throws(RequestError) -> Response {
        guard index < steps.count else {
            throw RequestError(
                .transportFailed, stage: .transport,
                "The pipeline has no transport step; end the list of steps with one.")
        }
        var index = index
        while index + 1 < steps.count, !steps[index].concerns(exchange) { index += 1 }
        return try await steps[index].run(exchange, next: Next(steps, index: index + 1))
    }
}
