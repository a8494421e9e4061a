public import ErrandCore

/// Runs several requests concurrently as one unit.
///
///     let batch = BatchRequest([GetUser(id: 7), GetImage(id: 7)], policy: .collectAll)
///     let results = try await batch.send()
///
/// A member is a request, another batch, a chain or a graph. All members are described, and notified of the start,
/// before the first is sent; each has exactly one end. Members keep their own hooks, delegates, accessories and
/// attached closures, which are called before those of the batch. The results have the order of the members, not the
/// order of their ends. An empty batch succeeds at once, unless its policy requires a success.
nonisolated public class BatchRequest: CompositeRequest, CompositeRun, Startable {
    /// The effect of a member's end on the batch and on the other members.
    public enum Policy: Sendable, Hashable {
        /// The first failure cancels the other members, and the batch fails with it; the default.
        case failFast
        /// All members run to their ends, and the batch succeeds, whatever their results are.
        ///
        /// Only a cancellation and the ``CompositeRequest/deadline`` let it fail.
        case collectAll
        /// All members run to their ends; then the batch fails with the error of the member that failed first, if one
        /// has failed.
        ///
        /// The results of all members are in ``BatchRequest/results``, also after a failure.
        case requireAll
        /// The batch succeeds with the first success, which cancels the other members.
        ///
        /// Use it for several mirrors of one resource. The batch fails when all members have failed.
        case firstSuccess
        /// The batch succeeds after this number of successes, at least 1, and cancels the other
        /// members.
        ///
        /// When so many members have failed that the number cannot be reached, the batch fails and
        /// cancels the others. A number below 1, or greater than the number of members, fails with
        /// ``RequestError/Code/invalidConfiguration`` before anything is sent.
        case quorum(Int)
    }

    /// The requests in order, including those of nested batches, chains and graphs, as far as they are known.
    public override var requests: [BaseRequest] { items.flatMap { $0.flattened } }
    /// The members in order.
    private(set) var items: [RequestUnit]
    /// The keys of the members of a batch that was made from a dictionary, otherwise empty.
    let keys: [any Hashable & Sendable]
    /// The effect of a member's end on the batch.
    public let policy: Policy
    /// The maximum number of members in progress at the same time; `nil` is no limit.
    ///
    /// Errors: ``RequestError/Code/invalidConfiguration`` for a number below 1, before anything is sent.
    public let maxConcurrent: Int?
    /// Whether a run repeats only the members that failed or were not started in the last one, and keeps the results of
    /// the others.
    ///
    /// Default false. The policy counts the earlier successes. Runs all members if none has run before, and none if all
    /// have succeeded.
    public var repeatsOnlyFailures = false
    /// The priority of all requests of the batch, except those of nested ones.
    ///
    /// Default `nil`: each request has its own.
    public var priority: RequestPriority?
    /// The results of the last run, one for each of ``requests``; empty before the first run.
    ///
    /// The result of a member that never started is ``RequestError/Code/cancelled``; the error names the request.
    public private(set) var results: [Result<Response, RequestError>] = []
    /// The ``results`` of the last run, or its error; `nil` before it.
    ///
    /// After a failure, ``results`` has the results of the members.
    public var result: Result<[Result<Response, RequestError>], RequestError>? {
        if let error { return .failure(error) }
        return hasSucceeded ? .success(results) : nil
    }

    /// Creates a batch of requests, batches, chains and graphs.
    ///
    /// - Parameters:
    ///   - members: The members.
    ///   - policy: The effect of a member's end on the batch.
    ///   - maxConcurrent: The maximum number of members in progress at the same time, at least 1;
    ///     `nil` is no limit.
    public convenience init(
        _ members: [RequestUnit], policy: Policy = .failFast, maxConcurrent: Int? = nil
    ) {
        self.init(members: members, policy: policy, maxConcurrent: maxConcurrent)
    }

    init(
        members: [RequestUnit], policy: Policy, maxConcurrent: Int?,
        keys: [any Hashable & Sendable] = []
    ) {
        items = members
        self.keys = keys
        self.policy = policy
        self.maxConcurrent = maxConcurrent
        super.init()
    }

    /// Adds a request, a batch, a chain or a graph as the last member.
    ///
    /// A member that is added during a run takes part in the next one: the run has described and counted its members. A
    /// ``Typed`` batch, whose output has the members of its initializer, then fails with
    /// ``RequestError/Code/invalidCombination`` when it is sent.
    public func add(_ member: RequestUnit) {
        if let fixedMembers {
            mistake = fixedMembers
        } else {
            items.append(member)
        }
    }

    /// The error of a batch whose members are fixed, and to which one was added; `nil` if members can be added.
    var fixedMembers: RequestError? { nil }
    /// The error of a member that cannot be added.
    private var mistake: RequestError?

    /// Whether every response of the last run came from the store.
    public var isFromCache: Bool {
        !results.isEmpty && results.allSatisfy { (try? $0.get())?.isFromCache == true }
    }

    package static var failureCode: RequestError.Code { .batchFailed }
    package var expectedCount: Int { items.count }
    package var firstRequest: BaseRequest? { items.lazy.compactMap(\.firstOfAll).first }
    /// The errors of the members in the last run, `nil` for each member that succeeded.
    package var memberErrors: [RequestError?] {
        found.map { if case .failure(let error) = $0 { error } else { nil } }
    }
    /// Whether the last run succeeded.
    private(set) var hasSucceeded = false
    /// The members of the run in progress.
    private var active: CompositeMembers?
    /// The members of the run in progress, by their index in the batch.
    private var indices: [Int] = []
    /// The results of all members in the last run; `nil` before it.
    private(set) var found: [Result<Response?, RequestError>?] = []
    /// The indices of the members that have ended in the last run, in the order of their ends.
    private(set) var ended: [Int] = []
    /// Whether a run has ended or was refused.
    private(set) var hasRun = false
    /// Passes the ended members of one run on; `nil` until ``members`` is read.
    var feed: EndedMembers.Feed?

    deinit { feed?.finish() }

    /// The members that the next run repeats; `nil` for all.
    private var repeated: [Int]? {
        guard repeatsOnlyFailures, !found.isEmpty else { return nil }
        return items.indices.filter { index in
            // A member that was added after the last run has no result.
            if index < found.count, case .success = found[index] { false } else { true }
        }
    }

    /// The error of a policy that requires more successes than there are members.
    private var impossibility: RequestError? {
        if let mistake { return mistake }
        if let fault = BatchState.fault(policy, maxConcurrent: maxConcurrent, in: "batch") {
            return fault
        }
        guard let needed = BatchState.needed(by: policy), needed > items.count else { return nil }
        return RequestError(
            .invalidConfiguration, stage: .build,
            "The batch requires \(needed) successes of \(items.count) requests. "
                + "Require fewer, or add requests.")
    }

    package func reserveMembers(_ control: RequestTask.Members) -> RequestError? {
        if feed?.isFinished == true { feed = nil }
        ended = []
        let repeated = repeated
        indices = repeated ?? Array(items.indices)
        if repeated == nil { found = [] }
        found += Array(repeating: nil, count: items.count - found.count)
        for index in indices { found[index] = nil }
        control.expect(total: indices.count)
        results = []
        hasSucceeded = false
        error = nil
        failedRequest = nil
        if let impossibility {
            results = requests.map { .failure($0.notStarted(by: agentAtCall)) }
            return impossibility
        }
        let run = CompositeMembers(
            indices.map { items[$0] }, of: control, on: agentAtCall, kind: "batch",
            priority: priority)
        if let refusal = run.reserve() { return refusal }
        active = run
        return nil
    }

    package func releaseMembers() {
        active?.release()
        active = nil
        refuseRun()
    }

    package func refuseRun() {
        hasRun = true
        feed?.finish()
    }

    package func describeMembers() { active?.describe() }

    /// Runs the members to their ends; returns the error of the batch, or `nil` if it succeeded.
    nonisolated(nonsending) package func run(_ control: RequestTask.Members) async -> RequestError?
    {
        guard let run = active else { return .cancelled }
        defer { active = nil }
        var state = BatchState(
            policy, count: indices.count, successes: found.count - indices.count,
            maxConcurrent: maxConcurrent)
        var firstError: RequestError?
        while true {
            while control.stopError == nil, let index = state.start() { run.start(index) }
            guard state.hasMembersInProgress else { break }
            let end = await run.next()
            note(end)
            if state.verdict == .open, let error = end.error, firstError == nil {
                firstError = error
                failedRequest = run.member(at: end.index)?.failedOfAll
            }
            if state.end(isSuccess: end.error == nil) { control.cancelInProgress() }
        }
        for index in state.notStarted {
            if let end = await run.endWithoutStart(index) { note(end) }
        }
        hasRun = true
        feed?.finish()
        results = zip(items, found).flatMap { $0.results($1) }
        if let error = control.stopError { return error }
        hasSucceeded = state.verdict == .succeeded
        return hasSucceeded ? nil : firstError
    }

    /// Records the end of a member.
    private func note(_ end: MemberEnd) {
        let index = indices[end.index]
        found[index] = end.result
        ended.append(index)
        feed?.add(endedMember(index, end.result))
    }
}
