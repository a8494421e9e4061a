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

/// What a ``DirectStep`` has done before the later steps.
package enum Passing {
    /// The later steps get the same request.
    case unchanged
    /// The later steps get the changed request.
    case changed
    /// The step has to wait first: its `run` performs the request, which is as it was.
    case waits
}

/// A step that usually waits for nothing itself: it does its work before the later steps, and after them.
///
/// Consecutive steps of this kind have one async frame together (decision 74).
package protocol DirectStep: Step {
    /// Changes the request for the later steps.
    func before(_ pipelineRequest: inout PipelineRequest) throws(RequestError) -> Passing

    /// Changes the result of the later steps.
    ///
    /// - Parameter sent: The request after ``before(_:)``.
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

/// The place of a direct step in the node of another one; never called.
private final class NotDirect: DirectStep {
    static let step = NotDirect()

    func before(_ pipelineRequest: inout PipelineRequest) -> Passing { .waits }

    func after(
        _ result: inout Result<Response, RequestError>, _ sent: PipelineRequest
    ) -> Bool { true }
}

/// The rest of the pipeline after a step: a list, in which a step is used where it is stored.
package struct Next: Sendable {
    fileprivate final class Node: Sendable {
        let step: any Step
        let isDirect: Bool
        let next: Node?
        /// The step, if it is direct; no optional value, from which each use would take a reference.
        private let direct: any DirectStep
        private let isOptional: Bool

        init(_ step: any Step, next: Node?) {
            self.step = step
            self.next = next
            isDirect = step is any DirectStep
            direct = step as? any DirectStep ?? NotDirect.step
            isOptional = step is any OptionalStep
        }

        /// This node, or the first one after it whose step applies to the request; the last one always applies.
        func first(concerning request: PipelineRequest) -> Node {
            withExtendedLifetime(self) {
                Self.first(.passUnretained(self), concerning: request).takeUnretainedValue()
            }
        }

        /// Without references: each node retains the next one.
        static func first(
            _ node: Unmanaged<Node>, concerning request: PipelineRequest
        ) -> Unmanaged<Node> {
            var node = node
            while let next = node._withUnsafeGuaranteedRef({ $0.successor(skippedBy: request) }) {
                node = next
            }
            return node
        }

        /// Calls `before` of a direct step; `nil` for another step, and for the last one.
        ///
        /// A result, because a closure around it has no typed error.
        @inline(never)  // See ``successor(skippedBy:)``.
        func passing(
            _ request: inout PipelineRequest
        ) -> Result<(step: Passing, next: Unmanaged<Node>)?, RequestError> {
            guard isDirect, let next = next.map({ Unmanaged.passUnretained($0) }) else {
                return .success(nil)
            }
            do throws(RequestError) {
                return .success((try direct.before(&request), next))
            } catch {
                return .failure(error)
            }
        }

        /// Calls `after` of the direct step.
        @inline(never)  // See ``successor(skippedBy:)``.
        func after(
            _ result: inout Result<Response, RequestError>, _ sent: PipelineRequest
        ) -> Bool { direct.after(&result, sent) }

        /// Calls `resume` of the direct step.
        func resume(
            _ sent: PipelineRequest, after result: Result<Response, RequestError>
        ) async throws(RequestError) -> Response {
            try await direct.resume(sent, after: result, next: Next(first: next))
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
        guard !node.isDirect else { return try await Self.pass(pipelineRequest, node) }
        return try await node.step.run(pipelineRequest, next: Next(first: node.next))
    }

    /// Passes a request through consecutive direct steps to the one that waits, and back.
    @inline(never)
    nonisolated(nonsending) private static func pass(
        _ pipelineRequest: PipelineRequest, _ node: Node
    ) async throws(RequestError) -> Response {
        // The node retains those after it.
        var passage = Passage()
        passage.descend(pipelineRequest, from: node)
        if let waiting = passage.waiting {
            let step = waiting.node.takeUnretainedValue()
            do {
                let response =
                    if passage.isFull, step.isDirect {
                        try await Next(first: step).again(waiting.request)
                    } else {
                        try await step.step.run(waiting.request, next: Next(first: step.next))
                    }
                passage.result = .success(response)
            } catch {
                passage.result = .failure(error)
            }
        }
        passage.ascend()
        guard passage.isWaiting else { return try passage.result.get() }
        return try await finish(&passage)
    }

    /// The rest of the pipeline after more direct steps than one passage takes.
    @inline(never)
    private func again(_ pipelineRequest: PipelineRequest) async throws(RequestError) -> Response {
        try await self(pipelineRequest)
    }

    /// Goes on with a step that has to wait after the later steps.
    @inline(never)
    private static func finish(
        _ passage: inout Passage
    ) async throws(RequestError) -> Response {
        while let waiting = passage.waiting {
            let node = waiting.node.takeUnretainedValue()
            do {
                let response = try await node.resume(waiting.request, after: passage.result)
                passage.result = .success(response)
            } catch {
                passage.result = .failure(error)
            }
            passage.ascend()
        }
        return try passage.result.get()
    }

    fileprivate static let hasNoEnd = RequestError(
        .transportFailed, stage: .transport,
        "The pipeline has no transport step; end the list of steps with one.")
}

/// The way of one request through consecutive direct steps.
///
/// Nodes are not retained: the first one, whose owner outlives the passage, retains the others.
private struct Passage: Sendable {
    /// A step, and the index of the request that it got, or passed on.
    private struct Place: Sendable {
        let node: Unmanaged<Next.Node>
        let request: Int
    }

    /// The place of the step that waits, if any.
    ///
    /// At first the one after the direct steps, with the request that it gets; later a direct step that has to wait after
    /// the later ones, with the request that it passed on.
    private var place: Place?
    /// The result so far.
    var result = Result<Response, RequestError>.failure(Next.hasNoEnd)
    // The direct steps that were passed, the outermost first, and the different requests that they passed on; not in
    // arrays, which would be allocated.
    private var passed: (Place?, Place?, Place?, Place?, Place?) = (nil, nil, nil, nil, nil)
    private var passedCount = 0
    private var requests: (PipelineRequest?, PipelineRequest?, PipelineRequest?) = (nil, nil, nil)
    private var requestCount = 0

    /// Whether there is no room for a further step, which may pass on a request of its own.
    var isFull: Bool { passedCount == 5 || requestCount == 3 }

    init() {}

    var isWaiting: Bool { place != nil }

    /// The step that waits, and its request.
    var waiting: (node: Unmanaged<Next.Node>, request: PipelineRequest)? {
        guard let place, let request = request(at: place.request) else { return nil }
        return (place.node, request)
    }

    @inline(never)  // Otherwise the requests are copied to choose one.
    private func request(at index: Int) -> PipelineRequest? {
        switch index {
        case 0: requests.0
        case 1: requests.1
        default: requests.2
        }
    }

    /// Calls `before` of the direct steps from a node on, up to the first step that waits.
    @inline(never)
    mutating func descend(_ request: PipelineRequest, from first: Next.Node) {
        var (node, request) = (Unmanaged.passUnretained(first), request)
        do throws(RequestError) {
            while !isFull {
                let passing = try node._withUnsafeGuaranteedRef { $0.passing(&request) }.get()
                guard let passing, passing.step != .waits else { break }
                if passing.step == .changed || requestCount == 0 { keep(request) }
                keep(Place(node: node, request: requestCount - 1))
                node = Next.Node.first(passing.next, concerning: request)
            }
            if requestCount == 0 { keep(request) }
            place = Place(node: node, request: requestCount - 1)
        } catch {
            result = .failure(error)
        }
    }

    /// Calls `after` of the steps that were passed, the innermost first, up to the first that has to wait.
    @inline(never)
    mutating func ascend() {
        place = nil
        while place == nil, let last = removeLast() {
            guard let sent = takeRequest(at: last.request) else { continue }
            let hasEnded = last.node._withUnsafeGuaranteedRef { $0.after(&result, sent) }
            if !hasEnded { place = last }
            putBack(sent, at: last.request)
        }
    }

    private mutating func keep(_ step: Place) {
        switch passedCount {
        case 0: passed.0 = step
        case 1: passed.1 = step
        case 2: passed.2 = step
        case 3: passed.3 = step
        default: passed.4 = step
        }
        passedCount += 1
    }

    private mutating func removeLast() -> Place? {
        guard passedCount > 0 else { return nil }
        passedCount -= 1
        return switch passedCount {
        case 0: passed.0
        case 1: passed.1
        case 2: passed.2
        case 3: passed.3
        default: passed.4
        }
    }

    private mutating func keep(_ request: PipelineRequest) {
        switch requestCount {
        case 0: requests.0 = request
        case 1: requests.1 = request
        default: requests.2 = request
        }
        requestCount += 1
    }

    /// Moves a request out, because a copy would retain its parts for each step.
    private mutating func takeRequest(at index: Int) -> PipelineRequest? {
        switch index {
        case 0: requests.0.take()
        case 1: requests.1.take()
        default: requests.2.take()
        }
    }

    private mutating func putBack(_ request: consuming PipelineRequest, at index: Int) {
        switch index {
        case 0: requests.0 = consume request
        case 1: requests.1 = consume request
        default: requests.2 = consume request
        }
    }
}
