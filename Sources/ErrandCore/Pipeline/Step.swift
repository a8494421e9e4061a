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

/// A step that does not concern a request with ``RequestTask/isPlain``.
package protocol OptionalStep: Step {}

/// A step that usually waits for nothing itself: it does its work before the later steps, and after them.
///
/// Consecutive steps of this kind have one async frame together (decision 74).
package protocol DirectStep: Step {
    /// The request for the later steps; `nil` if the step has to wait first: then `run` performs it.
    func before(_ pipelineRequest: PipelineRequest) throws(RequestError) -> PipelineRequest?

    /// Changes the result of the later steps.
    ///
    /// - Parameter sent: The request of ``before(_:)``.
    /// - Returns: Whether that is the result of the step; otherwise ``resume(_:after:next:)`` goes on with it.
    func after(
        _ result: inout Result<Response, RequestError>, _ sent: PipelineRequest
    ) -> Bool

    /// Goes on with a result for which the step has to wait, or to call the later steps again.
    func resume(
        _ sent: PipelineRequest, after result: Result<Response, RequestError>, next: Next
    ) async throws(RequestError) -> Response
}

extension DirectStep {
    package func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response { try await next(pipelineRequest) }

    package func resume(
        _ sent: PipelineRequest, after result: Result<Response, RequestError>, next: Next
    ) async throws(RequestError) -> Response { try result.get() }
}

/// The rest of the pipeline after a step: a list, in which a step is used where it is stored.
package struct Next: Sendable {
    fileprivate final class Node: Sendable {
        let step: any Step
        let direct: (any DirectStep)?
        let next: Node?
        private let isOptional: Bool

        init(_ step: any Step, next: Node?) {
            self.step = step
            self.next = next
            direct = step as? any DirectStep
            isOptional = step is any OptionalStep
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
            let isConcerned = !(isOptional && request.task.isPlain) && step.concerns(request)
            return isConcerned ? nil : next.map { .passUnretained($0) }
        }
    }

    private let first: Node?

    package init(_ list: [any Step]) { first = list.reversed().reduce(nil) { Node($1, next: $0) } }

    fileprivate init(first: Node?) { self.first = first }

    // Inlined, because a function between two steps would need an async frame (decision 10).
    @inline(__always)
    nonisolated(nonsending) package func callAsFunction(
        _ pipelineRequest: PipelineRequest
    ) async throws(RequestError) -> Response {
        guard let node = first?.first(concerning: pipelineRequest) else { throw Self.hasNoEnd }
        guard node.direct == nil else { return try await Self.pass(pipelineRequest, node) }
        return try await node.step.run(pipelineRequest, next: Next(first: node.next))
    }

    /// Passes a request through consecutive direct steps to the one that waits, and back.
    @inline(never)
    nonisolated(nonsending) private static func pass(
        _ pipelineRequest: PipelineRequest, _ node: Node
    ) async throws(RequestError) -> Response {
        var passage = Passage()
        passage.descend(pipelineRequest, from: node)
        if let waiting = passage.waiting {
            do {
                let response =
                    if passage.isFull {
                        try await Next(first: waiting.node).again(waiting.request)
                    } else {
                        try await waiting.node.step.run(
                            waiting.request, next: Next(first: waiting.node.next))
                    }
                passage.result = .success(response)
            } catch {
                passage.result = .failure(error)
            }
        }
        guard let unfinished = passage.ascend() else { return try passage.result.get() }
        return try await finish(passage, unfinished)
    }

    /// The rest of the pipeline after more direct steps than one passage takes.
    @inline(never)
    private func again(_ pipelineRequest: PipelineRequest) async throws(RequestError) -> Response {
        try await self(pipelineRequest)
    }

    /// Goes on with a step that has to wait after the later steps.
    @inline(never)
    private static func finish(
        _ passage: Passage, _ first: Passage.Place
    ) async throws(RequestError) -> Response {
        var passage = passage
        var unfinished: Passage.Place? = first
        while let place = unfinished, let step = place.node.direct {
            do {
                let response = try await step.resume(
                    place.request, after: passage.result, next: Next(first: place.node.next))
                passage.result = .success(response)
            } catch {
                passage.result = .failure(error)
            }
            unfinished = passage.ascend()
        }
        return try passage.result.get()
    }

    fileprivate static let hasNoEnd = RequestError(
        .transportFailed, stage: .transport,
        "The pipeline has no transport step; end the list of steps with one.")
}

/// The way of one request through consecutive direct steps.
private struct Passage: Sendable {
    /// A step, and the request that it got, or passed on.
    struct Place: Sendable {
        let node: Next.Node
        let request: PipelineRequest
    }

    /// The step that waits, with the request that it gets; `nil` after a failure before it.
    private(set) var waiting: Place?
    /// The result so far.
    var result = Result<Response, RequestError>.failure(Next.hasNoEnd)
    // The direct steps that were passed, the outermost first; not in an array, which would be allocated.
    private var places: (Place?, Place?, Place?, Place?, Place?) = (nil, nil, nil, nil, nil)
    private var count = 0
    private static let capacity = 5

    var isFull: Bool { count == Self.capacity }

    init() {}

    /// Calls `before` of the direct steps from a node on, up to the first step that waits.
    @inline(never)
    mutating func descend(_ request: PipelineRequest, from first: Next.Node) {
        var (node, request) = (first, request)
        do throws(RequestError) {
            while !isFull, let step = node.direct, let next = node.next,
                let sent = try step.before(request)
            {
                push(Place(node: node, request: sent))
                request = sent
                node = next.first(concerning: request)
            }
            waiting = Place(node: node, request: request)
        } catch {
            result = .failure(error)
        }
    }

    /// Calls `after` of the steps that were passed, the innermost first; returns the first that has to wait.
    @inline(never)
    mutating func ascend() -> Place? {
        while let place = pop(), let step = place.node.direct {
            if !step.after(&result, place.request) { return place }
        }
        return nil
    }

    private mutating func push(_ place: Place) {
        switch count {
        case 0: places.0 = place
        case 1: places.1 = place
        case 2: places.2 = place
        case 3: places.3 = place
        default: places.4 = place
        }
        count += 1
    }

    private mutating func pop() -> Place? {
        guard count > 0 else { return nil }
        count -= 1
        switch count {
        case 0: return places.0.take()
        case 1: return places.1.take()
        case 2: return places.2.take()
        case 3: return places.3.take()
        default: return places.4.take()
        }
    }
}
