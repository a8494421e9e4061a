import Synchronization

/// One transfer that several identical requests share.
///
/// Each request waits independently; the transfer is cancelled when the last of them leaves.
final class SharedTransfer: Sendable {
    typealias Outcome = Result<Response, RequestError>

    private struct State {
        /// The requests that share the transfer, by id; lower ids joined earlier.
        var members: [Int: RequestTask] = [:]
        /// The member to which the transfer's events belong.
        var eventOwner: RequestTask
        var outcome: Outcome?
        var isAbandoned = false
        /// The Swift task that performs the transfer and calls ``finish(_:)``; `nil` after the end.
        var work: Task<Void, Never>?
        /// The run of the transfer, which cancels it; weak, because it refers to the shared transfer.
        weak var run: RequestTask?
        var nextID = 0
        var stage = TaskStage.waiting
        var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]

        var demand: SharedTransferDemand {
            SharedTransferDemand(
                of: members.values.lazy.map {
                    SharedTransferDemand.Member(isPaused: $0.pause.isPaused, priority: $0.priority)
                })
        }
    }

    /// The id of the request that started the transfer.
    static let leaderID = 0

    /// The transfer's own progress, copied to every member.
    let progress = ProgressHub()
    /// The digest of the leader's cookies and authenticator; `nil` if it has none.
    let credentials: String?
    private let state: Mutex<State>

    /// Makes a transfer with its leader as the first member.
    init(leader: RequestTask, credentials: String? = nil) {
        self.credentials = credentials
        state = Mutex(State(members: [Self.leaderID: leader], eventOwner: leader))
        admit(leader, as: Self.leaderID)
    }

    /// Whether no request can join any more.
    var isOver: Bool { state.withLock { $0.outcome != nil || $0.isAbandoned } }

    /// The member to which the transfer's events belong: of the remaining members, the first that joined.
    var eventOwner: RequestTask { state.withLock { $0.eventOwner } }

    /// Adds a member and returns its id; `nil` if the transfer is over.
    func join(_ member: RequestTask) -> Int? {
        let id = state.withLock { state -> Int? in
            guard state.outcome == nil, !state.isAbandoned else { return nil }
            state.nextID += 1
            state.members[state.nextID] = member
            return state.nextID
        }
        guard let id else { return nil }
        admit(member, as: id)
        return id
    }

    /// Starts the transfer, which can then be cancelled, and is suspended and gets a priority as its members demand.
    ///
    /// It starts under the lock: a request that joins because it has seen the transfer finds it here.
    func run(_ run: RequestTask, _ start: () -> Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            state.run = run
            if state.demand.isPaused { run.pause.pause() }
            state.work = start()
            return state.isAbandoned
        }
        if isAbandoned { run.scope.cancel() }
        settle()
    }

    /// Reports a stage of the transfer to every member.
    func enter(_ stage: TaskStage) {
        let members = state.withLock { state in
            state.stage = stage
            return Array(state.members.values)
        }
        for member in members { member.enter(stage) }
    }

    /// Ends the transfer; every waiting member gets the outcome.
    func finish(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            state.work = nil
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    /// Waits for the outcome, or until the member's scope is cancelled.
    func wait(as id: Int, _ scope: CancellationScope) async -> Outcome {
        await scope.wait {
            await withCheckedContinuation { continuation in
                let available = state.withLock { state -> Outcome? in
                    if let outcome = state.outcome { return outcome }
                    if scope.isCancelled { return .failure(.cancelled) }
                    state.waiters[id] = continuation
                    return nil
                }
                if let available { continuation.resume(returning: available) }
            }
        } onCancel: {
            let waiter = self.state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume(returning: .failure(.cancelled))
        }
    }

    /// Waits for the outcome without being a member.
    func watch(_ scope: CancellationScope) async {
        let id = state.withLock { state -> Int in
            state.nextID += 1
            return state.nextID
        }
        _ = await wait(as: id, scope)
    }

    /// Removes a member; returns the Swift task of the transfer if that cancelled it.
    @discardableResult
    func leave(_ id: Int) -> Task<Void, Never>? {
        let (member, work, run) = state.withLock {
            state -> (RequestTask?, Task<Void, Never>?, RequestTask?) in
            let member = state.members.removeValue(forKey: id)
            // After the outcome, remaining events still go to the member that received the earlier ones.
            if state.outcome == nil, let first = state.members.keys.min(),
                let member = state.members[first]
            {
                state.eventOwner = member
            }
            guard state.members.isEmpty, state.outcome == nil else { return (member, nil, nil) }
            state.isAbandoned = true
            return (member, state.work, state.run)
        }
        member?.pause.watch(nil)
        member?.watchPriority(nil)
        progress.endMirror(id)
        run?.scope.cancel()
        settle()
        return work
    }

    /// Cancels the transfer for all its members.
    func cancel() {
        let run = state.withLock { state in
            state.isAbandoned = true
            return state.work == nil ? nil : state.run
        }
        run?.scope.cancel()
    }

    private func admit(_ member: RequestTask, as id: Int) {
        progress.mirror(into: member.hub, id: id)
        member.enter(state.withLock { $0.stage })
        member.pause.watch { [weak self] in self?.settle() }
        member.watchPriority { [weak self] in self?.settle() }
        settle()
    }

    /// Suspends or resumes the transfer and sets its priority, as its members demand.
    ///
    /// Repeated until nothing changes, so that the later one of two concurrent changes takes effect last.
    private func settle() {
        while true {
            let (demand, run) = state.withLock { ($0.demand, $0.run) }
            guard let run else { return }
            var hasChanged = demand.isPaused ? run.pause.pause() : run.pause.open()
            if let priority = demand.priority, run.priority != priority {
                run.priority = priority
                hasChanged = true
            }
            guard hasChanged else { return }
        }
    }
}
