import Synchronization

/// One transfer that several identical requests share.
///
/// Each request waits independently; the transfer is cancelled when the last of them leaves.
final class SharedTransfer: Sendable {
    typealias Outcome = Result<Response, RequestError>

    /// The Swift task that runs the transfer and calls ``finish(_:)``, and the context that cancels it.
    private struct Work: Sendable {
        let task: Task<Void, Never>
        /// Weak, because the context refers to the shared transfer; `task` retains it while it runs.
        weak var context: TaskContext?
    }

    private struct State {
        /// The requests that share the transfer, by id; lower ids joined earlier.
        var members: [Int: TaskContext] = [:]
        /// The member to which the transfer's events belong.
        var eventContext: TaskContext
        var outcome: Outcome?
        var isAbandoned = false
        var work: Work?
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

    /// Suspends the transfer while every member is suspended; has the transfer's own state.
    let pause = SuspensionPoint()
    /// The transfer's own progress, copied to every member.
    let progress = ProgressHub()
    /// The digest of the leader's cookies and authenticator; `nil` if it has none.
    let credentials: String?
    private let state: Mutex<State>

    /// Makes a transfer with its leader as the first member.
    init(leader: TaskContext, credentials: String? = nil) {
        self.credentials = credentials
        state = Mutex(State(members: [Self.leaderID: leader], eventContext: leader))
        admit(leader, as: Self.leaderID)
    }

    /// Whether no request can join any more.
    var isOver: Bool { state.withLock { $0.outcome != nil || $0.isAbandoned } }

    /// The member to which the transfer's events belong: of the remaining members, the first that joined.
    var eventContext: TaskContext { state.withLock { $0.eventContext } }

    /// Adds a member and returns its id; `nil` if the transfer is over.
    func join(_ member: TaskContext) -> Int? {
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

    /// Starts the transfer, which can then be cancelled and gets the priority of its members.
    ///
    /// It starts under the lock: a request that joins because it has seen the transfer finds it here.
    func run(_ context: TaskContext, _ start: () -> Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            state.work = Work(task: start(), context: context)
            return state.isAbandoned
        }
        if isAbandoned { context.scope.cancel() }
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
        let (member, work) = state.withLock { state -> (TaskContext?, Work?) in
            let member = state.members.removeValue(forKey: id)
            // After the outcome, remaining events still go to the member that received the earlier ones.
            if state.outcome == nil, let first = state.members.keys.min(),
                let context = state.members[first]
            {
                state.eventContext = context
            }
            guard state.members.isEmpty, state.outcome == nil else { return (member, nil) }
            state.isAbandoned = true
            return (member, state.work)
        }
        member?.pause.watch(nil)
        member?.watchPriority(nil)
        progress.endMirror(id)
        work?.context?.scope.cancel()
        settle()
        return work?.task
    }

    /// Cancels the transfer for all its members.
    func cancel() {
        let work = state.withLock { state in
            state.isAbandoned = true
            return state.work
        }
        work?.context?.scope.cancel()
    }

    private func admit(_ member: TaskContext, as id: Int) {
        progress.mirror(into: member.progress, id: id)
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
            let (demand, work) = state.withLock { ($0.demand, $0.work) }
            var hasChanged = demand.isPaused ? pause.pause() : pause.open()
            if let priority = demand.priority, let context = work?.context,
                context.priority != priority
            {
                context.priority = priority
                hasChanged = true
            }
            guard hasChanged else { return }
        }
    }
}
