import ErrandHTTP
import ErrandTransport
import Synchronization

extension RequestTask: MemberTask {}

/// What a run of a batch, a chain or a graph knows of its members.
package final class MemberState: Sendable {
    fileprivate struct State {
        /// The tasks of the members in progress, by index.
        var tasks: [Int: any MemberTask] = [:]
        /// The Swift task of a closure of a chain in progress.
        var closure: Task<Void, Never>?
        /// Whether the progress of each member is forwarded; begins with the first observer.
        var forwardsProgress = false
        var hasEnded = false
        var wasCancelled = false
        var finished = 0
        var total: Int
        var bytes = MemberBytes()
        /// The priority that the run was given; `nil` leaves each member its own.
        var priority: RequestPriority?
        var observers: [AsyncStream<(finished: Int, total: Int)>.Continuation] = []

        func notifyObservers() {
            for observer in observers { observer.yield((finished, total)) }
        }
    }

    fileprivate let state: Mutex<State>
    /// The run that has this one as a member; `nil` for a run that was started by itself.
    fileprivate let parent: RequestTask?
    /// The time after which the members are cancelled.
    fileprivate let deadline: Duration?

    fileprivate init(total: Int, parent: RequestTask?, deadline: Duration?) {
        self.parent = parent
        self.deadline = deadline
        state = Mutex(State(total: total))
    }
}

extension RequestTask {
    /// The members of a run of a batch, a chain or a graph; may be used from any thread.
    ///
    ///     let task = batch.start()
    ///     if let members = task.members { print(members.finished, "of", members.total) }
    public struct Members: Sendable {
        fileprivate let task: RequestTask
        private let own: MemberState

        fileprivate init(of task: RequestTask, _ own: MemberState) {
            self.task = task
            self.own = own
        }

        /// The time after which the members are cancelled.
        package var deadline: Duration? { own.deadline }

        /// The number of members that have ended.
        public var finished: Int { own.state.withLock { $0.finished } }

        /// The number of all members that are known so far.
        public var total: Int { own.state.withLock { $0.total } }

        /// The current numbers of members and their later values, until the end of the run.
        ///
        /// A slow reader gets the latest value.
        public var updates: AsyncStream<(finished: Int, total: Int)> {
            let (stream, continuation) = AsyncStream.makeStream(
                of: (finished: Int, total: Int).self, bufferingPolicy: .bufferingNewest(1))
            let hasEnded = own.state.withLock { state in
                continuation.yield((state.finished, state.total))
                if !state.hasEnded { state.observers.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.finish() }
            return stream
        }

        /// Whether this is the run itself, or a run that has it as a member, at any depth.
        package func contains(_ run: Members) -> Bool {
            var current: RequestTask? = run.task
            while let member = current {
                if member === task { return true }
                current = member.memberState?.parent
            }
            return false
        }

        // MARK: - Control

        /// The error with which the run ends because it was cancelled or its deadline has passed; `nil` if neither.
        package var stopError: RequestError? { error(of: task.pause.taskState.value.stopReason) }

        fileprivate func error(of reason: TaskState.StopReason?) -> RequestError? {
            switch reason {
            case nil: nil
            case .cancelled, .shutDown: .cancelled
            case .deadline:
                RequestError(
                    .timedOut, stage: .schedule,
                    "The composite took longer than its deadline of \(deadline ?? .zero), so its members were "
                        + "cancelled. Increase the deadline.",
                    timeout: .total)
            }
        }

        /// Suspends or resumes the members in progress like the run.
        fileprivate func settle() {
            for member in inProgress { settle(member) }
        }

        /// Gives the members in progress a priority, and those that start later.
        func prioritize(_ priority: RequestPriority) {
            let tasks = own.state.withLock { state in
                state.priority = priority
                return Array(state.tasks.values)
            }
            for task in tasks { (task as? RequestTask)?.priority = priority }
        }

        /// Cancels the members in progress and the closure of the run.
        func stop() {
            let (tasks, closure) = own.state.withLock { (Array($0.tasks.values), $0.closure) }
            closure?.cancel()
            for task in tasks { cancel(task) }
        }

        private func cancel(_ member: any MemberTask) {
            if let discards = task.discardsPart, let member = member as? RequestTask {
                member.cancel(discardingPart: discards)
            } else {
                member.cancel()
            }
        }

        private var inProgress: [any MemberTask] { own.state.withLock { Array($0.tasks.values) } }

        /// Suspends or resumes a member like the run, also if the run changes meanwhile on another thread.
        private func settle(_ member: any MemberTask) {
            while true {
                let isPaused = task.pause.isPaused
                if isPaused { member.suspend() } else { member.resume() }
                if task.pause.isPaused == isPaused { return }
            }
        }

        /// Cancels the members in progress, for a run that ends without the others.
        package func cancelInProgress() {
            for task in inProgress { task.cancel() }
        }

        // MARK: - Members

        /// Adds a member that was started; suspends or cancels it if the run is suspended or cancelled.
        ///
        /// - Parameter index: A number that no other member in progress has.
        package func enter(_ member: any MemberTask, at index: Int) {
            let (isForwarded, priority) = own.state.withLock { state in
                state.tasks[index] = member
                return (state.forwardsProgress, state.priority)
            }
            if let priority { (member as? RequestTask)?.priority = priority }
            if isForwarded { forward(member, index) }
            if task.pause.isPaused { settle(member) }
            if task.isStopping { cancel(member) }
        }

        /// Removes a member that has ended.
        package func leave(_ index: Int) {
            let isForwarded = own.state.withLock { state in
                let task = state.tasks.removeValue(forKey: index)
                state.finished += 1
                state.notifyObservers()
                if let task { state.bytes.end(index, with: task.currentProgress) }
                return state.forwardsProgress
            }
            if isForwarded { updateProgress() }
        }

        package func expect(total: Int) {
            own.state.withLock { state in
                guard state.total != total else { return }
                state.total = total
                state.notifyObservers()
            }
        }

        /// Counts a member that has ended, and that another one replaces, no longer.
        package func replace() {
            own.state.withLock { state in
                state.finished -= 1
                state.notifyObservers()
            }
        }

        /// Counts a member that will not run.
        package func skip() {
            own.state.withLock { state in
                state.finished += 1
                state.notifyObservers()
            }
        }

        /// Waits for the end of a closure of the run, whose Swift task is cancelled when the run stops.
        package func finish(_ work: Task<Void, Never>) async {
            own.state.withLock { $0.closure = work }
            if task.isStopping { work.cancel() }
            await work.value
            own.state.withLock { $0.closure = nil }
        }

        /// Waits while the run is suspended and not stopped.
        package func untilResumed() async { await task.untilResumed(task.scope) }

        /// Whether the run was cancelled before its end.
        fileprivate var wasCancelled: Bool { own.state.withLock { $0.wasCancelled } }

        fileprivate func end(wasCancelled: Bool) {
            updateProgress()
            let observers = own.state.withLock { state in
                state.hasEnded = true
                state.wasCancelled = wasCancelled
                return exchange(&state.observers, with: [])
            }
            for observer in observers { observer.finish() }
        }

        // MARK: - Progress

        /// Forwards the progress of the members from now on, also that of nested ones.
        ///
        /// Without an observer, members cost no handlers of their progress.
        package func forwardProgress() {
            let tasks = own.state.withLock { state in
                guard !state.forwardsProgress, !state.hasEnded else {
                    return [Int: any MemberTask]()
                }
                state.forwardsProgress = true
                return state.tasks
            }
            for (index, task) in tasks { forward(task, index) }
            updateProgress()
        }

        private func forward(_ member: any MemberTask, _ index: Int) {
            (member as? RequestTask)?.members?.forwardProgress()
            member.hub.listen(callsAtOnce: true) { [weak task] progress in
                task?.members?.take(progress, of: index)
            }
        }

        /// Records the progress of a member.
        private func take(_ progress: TransferProgress, of index: Int) {
            own.state.withLock { state in
                // A late value of a member that has ended; its last one was recorded.
                guard state.tasks[index] != nil else { return }
                state.bytes.take(progress, of: index)
            }
            updateProgress()
        }

        /// Calls the handlers on another thread: an observer may begin while its caller holds a lock that they need.
        ///
        /// Lock order: the lock of the task or of its hub, then the lock of its members.
        private func updateProgress() {
            task.updateProgressAsynchronously { sum in
                sum = own.state.withLock { $0.bytes.sum(ofMembers: $0.total) }
            }
        }
    }
}

extension RequestTask {
    /// The settings of a run of a batch, a chain or a graph: it has no listeners, because its members do.
    private static let unobserved = SharedConfiguration(Configuration())

    /// The services of a run without a request.
    private static let unattended = TaskServices(
        transport: NoTransport(), store: nil, clock: SystemClock(), cookieJar: nil)

    /// Creates the task of a run of a batch, a chain or a graph.
    ///
    /// - Parameters:
    ///   - endpoint: The name of its type.
    ///   - tag: Its tag.
    ///   - total: The number of members that are known before the run.
    ///   - priority: The priority of its members; `nil` if each has its own.
    ///   - services: Those of the agent whose clock measures the run; `nil` for the system's clock.
    ///   - parent: The run that has it as a member.
    ///   - deadline: The time after which the members are cancelled.
    package convenience init(
        composite endpoint: String, tag: Int, total: Int, priority: RequestPriority? = nil,
        services: TaskServices?, within parent: Members? = nil, deadline: Duration? = nil
    ) {
        var description = RequestDescription(endpoint: endpoint, url: "")
        description.tag = tag
        if let priority { description.sending.priority = priority }
        self.init(
            id: TaskID.next(), description: description, configuration: Self.unobserved,
            services: services ?? Self.unattended,
            members: MemberState(total: total, parent: parent?.task, deadline: deadline))
    }

    /// The members of the run of a batch, a chain or a graph; `nil` for a request.
    public var members: Members? { memberState.map { Members(of: self, $0) } }

    /// Suspends or resumes the members in progress like this run.
    func settleMembers() { members?.settle() }

    /// Reports that a run of a batch, a chain or a graph has begun.
    package func enterFlight() { enter(.inFlight(attempt: 1)) }

    /// Whether ``cancel()`` has ended a run of a batch, a chain or a graph.
    package var wasCancelled: Bool { members?.wasCancelled ?? false }

    /// Records the end of a run of a batch, a chain or a graph; returns after all handlers of its progress.
    ///
    /// - Returns: The error of the run: a reason to stop takes precedence over the result.
    nonisolated(nonsending) package func endComposite(
        _ error: RequestError?
    ) async -> RequestError? {
        let outcome = endMembers(error)
        await untilProgressIsDelivered()
        emitEnd(outcome)
        finish(outcome)
        return outcome.error
    }

    /// Ends a run of a batch, a chain or a graph that was refused before it began.
    package func refuse(_ error: RequestError) { finish(endMembers(error)) }

    private func endMembers(_ error: RequestError?) -> TaskOutcome {
        let reason = end()
        members?.end(wasCancelled: reason == .cancelled)
        _ = finishProgress(isWhole: false)
        guard let stop = members?.error(of: reason), error?.code != stop.code else {
            return TaskOutcome(ofComposite: error)
        }
        return TaskOutcome(ofComposite: stop)
    }
}

/// The transport of a run that sends nothing itself.
private struct NoTransport: Transport {
    private final class Refusal: Transfer {
        func cancel() {}
        func resumeReceiving() {}
    }

    var name: String { "none" }

    func check(_ request: TransportRequest) throws(RequestError) {
        throw RequestError(
            .unsupported, stage: .build, "A batch, a chain or a graph has no transport of its own.")
    }

    func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        Refusal()
    }

    func shutDown() {}
}
