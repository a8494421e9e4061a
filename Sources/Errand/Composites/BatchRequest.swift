public import Dispatch
public import ErrandCore

/// Runs several requests concurrently as one unit.
///
///     let batch = BatchRequest([GetUser(id: 7), GetImage(id: 7)], policy: .collectAll)
///     let results = try await batch.send()
///
/// Members keep their own hooks, delegates, accessories and attached closures, which are called
/// before those of the batch. The results have the order of the members, not the order of their
/// ends. An empty batch succeeds at once, unless its policy requires a success.
nonisolated public final class BatchRequest: CompositeRun {
    /// The effect of a member's end on the batch and on the other members.
    public enum Policy: Sendable, Hashable {
        /// The first failure cancels the other members, and the batch fails with it; the default.
        case failFast
        /// All members run to their ends, and the batch succeeds, whatever their results are.
        ///
        /// Only a cancellation and the ``BatchRequest/deadline`` let it fail.
        case collectAll
        /// The batch succeeds with the first success, which cancels the other members.
        ///
        /// Use it for several mirrors of one resource. The batch fails when all members have failed.
        case firstSuccess
        /// The batch succeeds after this number of successes, at least 1, and cancels the other
        /// members.
        ///
        /// When so many members have failed that the number cannot be reached, the batch fails and
        /// cancels the others. A number greater than the number of members fails with
        /// ``RequestError/Code/invalidConfiguration`` before anything is sent.
        case quorum(Int)
    }

    /// The members in order.
    public let requests: [BaseRequest]
    /// The effect of a member's end on the batch.
    public let policy: Policy
    /// The maximum number of members in progress at the same time; `nil` is no limit.
    public let maxConcurrent: Int?
    /// A number for the caller's own use.
    ///
    /// Default 0.
    public var tag = 0
    /// The accessories of the batch itself; the members have their own.
    ///
    /// Default none.
    public var accessories: [any RequestAccessory] = []
    /// The time from the start after which the members are cancelled and the batch fails with
    /// ``RequestError/Code/timedOut``.
    ///
    /// Default `nil`: no limit. Time during which the computer is suspended counts, unlike in ``Timeouts/total``. The
    /// results of the members that were cancelled are ``RequestError/Code/cancelled``. Errors:
    /// ``RequestError/Code/invalidConfiguration`` for a duration of zero or less, before anything is sent.
    public var deadline: Duration?
    /// The run in progress; `nil` before and after it.
    public internal(set) var task: CompositeTask?
    /// The results of the last run, one for each member; empty before the first run.
    ///
    /// The result of a member that never started is ``RequestError/Code/cancelled``. The error
    /// names its endpoint and its `method`, and the URL of an ``InlineRequest``. Other overrides of
    /// such a member are not read.
    public private(set) var results: [Result<Response, RequestError>] = []
    /// The member that failed first in the last run, not counting members that the batch cancelled.
    public private(set) var failedRequest: BaseRequest?

    /// Creates a batch.
    ///
    /// - Parameters:
    ///   - requests: The members.
    ///   - policy: The effect of a member's end on the batch.
    ///   - maxConcurrent: The maximum number of members in progress at the same time, at least 1;
    ///     `nil` is no limit.
    public init(
        _ requests: [BaseRequest], policy: Policy = .failFast, maxConcurrent: Int? = nil
    ) {
        self.requests = requests
        self.policy = policy
        self.maxConcurrent = maxConcurrent.map { max(1, $0) }
    }

    /// Whether every response of the last run came from the store.
    public var isFromCache: Bool {
        !results.isEmpty && results.allSatisfy { (try? $0.get())?.isFromCache == true }
    }

    /// Starts the members.
    ///
    /// After all of them have ended, one of the closures is called once on the main actor.
    ///
    /// The failure is an error that ``send(onStart:)`` throws.
    ///
    /// - Parameters:
    ///   - owner: An object whose deallocation cancels the run. Default `nil`.
    ///   - success: Called if the batch succeeds by its policy.
    ///   - failure: Called with the error if it does not.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        success: @escaping @MainActor (BatchRequest) -> Void = { _ in },
        failure: @escaping @MainActor (BatchRequest, RequestError) -> Void = { _, _ in }
    ) -> CompositeTask {
        launch(on: nil, owner: owner, success: success, failure: failure)
    }

    /// Runs the members and returns a result for each, on the caller's actor.
    ///
    /// - Parameter onStart: Called with the task before the first member starts. Default: does nothing.
    /// - Throws: The error of the member that failed first, if the batch fails by its policy (never
    ///   under ``Policy/collectAll``); ``RequestError/Code/invalidConfiguration`` for a
    ///   ``Policy/quorum(_:)`` that cannot be reached; ``RequestError/Code/timedOut`` after the ``deadline``;
    ///   ``RequestError/Code/batchFailed`` if the batch is in progress already;
    ///   ``RequestError/Code/cancelled`` if the run or the calling Swift task is cancelled.
    @discardableResult
    nonisolated(nonsending) public func send(
        onStart: (CompositeTask) -> Void = { _ in }
    ) async throws(RequestError) -> [Result<Response, RequestError>] {
        try await perform(on: nil, onStart: onStart)
    }

    /// Starts a batch from any context and gives it up; the closure is called once, on the queue.
    ///
    /// Hooks, delegates and accessories are called on no actor. The failure is an error that ``send(onStart:)`` throws.
    @discardableResult
    public static func start(
        _ batch: sending BatchRequest, on queue: DispatchQueue,
        completion:
            @escaping @Sendable (Result<[Result<Response, RequestError>], RequestError>) -> Void
    ) -> CompositeTask {
        dispatch(batch, on: nil, queue, completion: completion)
    }

    static var failureCode: RequestError.Code { .batchFailed }
    var output: [Result<Response, RequestError>] { results }
    var expectedCount: Int { requests.count }
    var firstRequest: BaseRequest? { requests.first }

    /// Runs the members to their ends; returns the error of the batch, or `nil` if it succeeded.
    nonisolated(nonsending) func run(_ control: CompositeTask) async -> RequestError? {
        results = []
        failedRequest = nil
        if let needed = BatchTally.needed(by: policy), needed > requests.count {
            results = requests.map { .failure(notStarted($0, control)) }
            return RequestError(
                .invalidConfiguration, stage: .build,
                "The batch requires \(needed) successes of \(requests.count) requests. "
                    + "Require fewer, or add requests.")
        }
        var tally = BatchTally(policy, count: requests.count)
        var found: [Result<Response, RequestError>?] = Array(repeating: nil, count: requests.count)
        var firstError: RequestError?
        let ends = MemberResults()
        var next = 0
        var underWay = 0
        while true {
            while next < requests.count, underWay < maxConcurrent ?? .max, control.stopError == nil,
                tally.verdict == .open
            {
                begin(next, control: control, ends: ends)
                next += 1
                underWay += 1
            }
            guard underWay > 0 else { break }
            let end = await ends.next()
            underWay -= 1
            control.leave(end.run.task)
            found[end.index] = end.outcome.result
            note(end, in: &tally, &firstError, control)
            requests[end.index].end(end.outcome, of: end.run) { _ in }
        }
        results = zip(requests, found).map { $1 ?? .failure(notStarted($0, control)) }
        if let error = control.stopError { return error }
        return tally.verdict == .succeeded ? nil : firstError
    }

    /// The error of a member that was not started; it names the member.
    private func notStarted(_ member: BaseRequest, _ control: CompositeTask) -> RequestError {
        member.agent(atCall: control.agent).notStarted(member.name)
    }

    /// Counts the end of a member; cancels the other members if it decides the batch.
    private func note(
        _ end: MemberResult, in tally: inout BatchTally, _ firstError: inout RequestError?,
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

    private func begin(_ index: Int, control: CompositeTask, ends: MemberResults) {
        let run = requests[index].begin(on: control.agent, asMemberOf: "batch")
        control.enter(run.task)
        Task {
            let outcome = await run.task.outcome()
            ends.add(MemberResult(index: index, run: run, outcome: outcome))
        }
    }
}
