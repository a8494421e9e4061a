public import ErrandCore

/// Several requests as one (rows BAT-1 to BAT-15).
///
///     let batch = BatchRequest([GetUser(id: 7), GetImage(id: 7)], policy: .collectAll)
///     let results = try await batch.send()
///
/// Members keep their own hooks, delegates, accessories and attached closures, which are called before the batch's. The
/// results are in the order of the members, whichever ends first. An empty batch succeeds at once, unless its policy wants a
/// success.
nonisolated public final class BatchRequest: ComposedRun {
    /// What a failing member means for the others (row BAT-2).
    public enum Policy: Sendable, Hashable {
        /// The first failure cancels the others and is the batch's. The default.
        case failFast
        /// All members run to their ends.
        case collectAll
        /// The first success is the batch's and cancels the others: one of several mirrors, say.
        ///
        /// The batch fails when all members have failed.
        case firstSuccess
        /// So many successes are the batch's, and cancel the others; less than 1 counts as 1.
        ///
        /// The batch fails, and cancels the others, once too many have failed. A number larger than that of the
        /// members fails with ``RequestError/Code/invalidConfiguration`` before anything is sent.
        case quorum(Int)
    }

    /// The members in order.
    public let requests: [BaseRequest]
    /// What a failing member means for the others.
    public let policy: Policy
    /// How many members are under way at once; `nil` has no limit.
    public let maxConcurrent: Int?
    /// A number of the user's choice (default 0).
    public var tag = 0
    /// Companions of the batch as a whole.
    public var accessories: [any RequestAccessory] = []
    /// What the last run brought, one for each member; empty before it.
    ///
    /// A member that never started is cancelled.
    public private(set) var results: [Result<Response, RequestError>] = []
    /// The first member that failed in the last run, in order of time; members that the batch itself cancelled are
    /// left out.
    public private(set) var failedRequest: BaseRequest?

    /// Makes a batch.
    ///
    /// - Parameters:
    ///   - requests: The members.
    ///   - policy: What a failing member means for the others.
    ///   - maxConcurrent: How many members are under way at once; `nil` has no limit, less than 1 counts as 1.
    public init(
        _ requests: [BaseRequest], policy: Policy = .failFast, maxConcurrent: Int? = nil
    ) {
        self.requests = requests
        self.policy = policy
        self.maxConcurrent = maxConcurrent.map { max(1, $0) }
    }

    /// Whether every answer of the last run came from the store (row BAT-13).
    public var isFromCache: Bool {
        !results.isEmpty && results.allSatisfy { (try? $0.get())?.isFromCache == true }
    }

    /// Starts the members; one of the closures is called, once, on the main actor, after all
    /// members have ended.
    ///
    /// A failure is the error of the first member that failed; or ``RequestError/Code/cancelled``, or
    /// ``RequestError/Code/invalidConfiguration`` for a ``Policy/quorum(_:)`` that cannot be reached.
    ///
    /// An owner that goes cancels the run; the default, `nil`, is none.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        success: @escaping @MainActor (BatchRequest) -> Void = { _ in },
        failure: @escaping @MainActor (BatchRequest, RequestError) -> Void = { _, _ in }
    ) -> CompositeTask {
        launch(owner: owner, success: success, failure: failure)
    }

    /// Runs the members and returns a result for each, on the caller's actor.
    ///
    /// - Throws: The error of the first member that failed, when the batch fails by its policy, which it never does under
    ///   ``Policy/collectAll``; ``RequestError/Code/invalidConfiguration`` for a ``Policy/quorum(_:)`` that cannot be
    ///   reached; ``RequestError/Code/cancelled`` when the run or the calling Swift task is cancelled.
    @discardableResult
    nonisolated(nonsending) public func send() async throws(RequestError)
        -> [Result<Response, RequestError>]
    {
        try await perform { (control, error) throws(RequestError) in
            if let error, policy != .collectAll || control.isCancelled { throw error }
            return results
        }
    }

    var expectedCount: Int { requests.count }
    var toleratesFailures: Bool { policy == .collectAll }

    /// Runs everything to its end; returns the first failure.
    nonisolated(nonsending) func run(_ control: CompositeTask) async -> RequestError? {
        results = []
        failedRequest = nil
        if let needed = BatchTally.needed(by: policy), needed > requests.count {
            results = requests.map { _ in .failure(.cancelled) }
            return RequestError(
                .invalidConfiguration, stage: .build,
                "The batch wants \(needed) successes of \(requests.count) requests. Ask for fewer, or add requests."
            )
        }
        var tally = BatchTally(policy, count: requests.count)
        var found: [Result<Response, RequestError>?] = Array(repeating: nil, count: requests.count)
        var firstError: RequestError?
        let ends = MemberEnds()
        var next = 0
        var underWay = 0
        while true {
            while next < requests.count, underWay < maxConcurrent ?? .max, !control.isCancelled,
                tally.verdict == .open
            {
                begin(next, control: control, ends: ends)
                next += 1
                underWay += 1
            }
            guard underWay > 0 else { break }
            let end = await ends.next()
            underWay -= 1
            control.leave(end.task)
            found[end.index] = end.outcome.result
            note(end, in: &tally, &firstError, control)
            requests[end.index].end(end.outcome) { _ in }
        }
        results = found.map { $0 ?? .failure(.cancelled) }
        if control.isCancelled { return .cancelled }
        return tally.verdict == .succeeded ? nil : firstError
    }

    /// Counts an end; the one that decides cancels the others.
    private func note(
        _ end: MemberEnd, in tally: inout BatchTally, _ firstError: inout RequestError?,
        _ control: CompositeTask
    ) {
        guard tally.verdict == .open else { return }
        if case .failure(let error) = end.outcome.result, firstError == nil {
            firstError = error
            failedRequest = requests[end.index]
        }
        tally.add(isSuccess: (try? end.outcome.result.get()) != nil)
        if tally.verdict != .open { control.cancelMembers() }
    }

    private func begin(_ index: Int, control: CompositeTask, ends: MemberEnds) {
        let task = requests[index].begin()
        control.enter(task)
        Task { ends.add(MemberEnd(index: index, task: task, outcome: await task.outcome())) }
    }
}
