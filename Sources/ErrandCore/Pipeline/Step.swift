// Performance annotations: decisions 10 and 17.

/// One stage of the pipeline: it calls `next`, or returns a response itself.
///
/// Only `InterceptStep`, `CacheStep`, `RetryStep`, `DownloadAttemptStep`, `RedirectStep` and `AuthenticateStep` may call `next`
/// more than once.
package protocol Step: AnyObject, Sendable {
    nonisolated(nonsending) func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response

    /// Whether the step applies to this request; otherwise it is skipped, which saves its async frame.
    func concerns(_ pipelineRequest: PipelineRequest) -> Bool
}

extension Step {
    package func concerns(_ pipelineRequest: PipelineRequest) -> Bool { true }
}

/// The rest of the pipeline after a step: a list, in which a step is used where it is stored.
package struct Next: Sendable {
    private final class Node: Sendable {
        let step: any Step
        let next: Node?

        init(_ step: any Step, next: Node?) {
            self.step = step
            self.next = next
        }

        /// This node, or the first one after it whose step applies to the request; the last one always applies.
        func first(concerning request: PipelineRequest) -> Node {
            // Each node retains the next one, so that the nodes that are passed need no references.
            var node = Unmanaged.passUnretained(self)
            while let next = node._withUnsafeGuaranteedRef({ $0.successor(skippedBy: request) }) {
                node = next
            }
            return withExtendedLifetime(self) { node.takeUnretainedValue() }
        }

        @inline(never)  // With its own function, the step needs no reference either.
        private func successor(skippedBy request: PipelineRequest) -> Unmanaged<Node>? {
            step.concerns(request) ? nil : next.map { .passUnretained($0) }
        }
    }

    private let first: Node?

    package init(_ list: [any Step]) { first = list.reversed().reduce(nil) { Node($1, next: $0) } }

    private init(first: Node?) { self.first = first }

    // Inlined, because a function between two steps would need an async frame (decision 10).
    @inline(__always)
    nonisolated(nonsending) package func callAsFunction(
        _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> Response {
        guard let node = first?.first(concerning: pipelineRequest) else { throw Self.hasNoEnd }
        return try await node.step.run(pipelineRequest, next: Next(first: node.next))
    }

    private static let hasNoEnd = RequestError(
        .transportFailed, stage: .transport,
        "The pipeline has no transport step; end the list of steps with one.")
}
