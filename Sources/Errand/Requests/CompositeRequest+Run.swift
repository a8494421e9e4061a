package import ErrandCore
import ErrandSystem

/// What each kind of composite does in a run.
///
/// A run is claimed, then announced, then carried out. A member of another run is claimed and announced
/// before the first member of that run is sent.
nonisolated package protocol CompositeRun: CompositeRequest {
    /// The code of errors of the composite itself.
    static var failureCode: RequestError.Code { get }

    /// The number of members that are known before the run.
    var expectedCount: Int { get }
    /// The first request, if it is known before the run; its agent's accessories are notified of
    /// the composite.
    var firstRequest: BaseRequest? { get }

    /// The priority of all members; `nil` if each has its own.
    var priority: RequestPriority? { get }

    /// Reserves the members that are known before the run; returns the reason why it is not possible.
    func reserveMembers(_ control: RequestTask.Members) -> RequestError?
    /// Gives up the reservation of members that were not described.
    func releaseMembers()
    /// Notes that a start was refused before the run.
    func refuseRun()
    /// Describes the reserved members; sends nothing.
    func describeMembers()
    /// Runs the members to their ends; returns the error of the composite.
    ///
    /// Starts no member if the run is stopped already, and ends those that were described.
    nonisolated(nonsending) func run(_ control: RequestTask.Members) async -> RequestError?
}

extension CompositeRun {
    package func refuseRun() {}

    // MARK: - Ways to start

    /// Starts a run on the main actor; the closure is called once, with the error of the run.
    @MainActor
    func launchRun(
        on agent: RequestAgent?, owner: RequestOwner?,
        then deliver: @escaping @MainActor (RequestError?) -> Void
    ) -> RequestTask {
        let control = makeTask(on: agent)
        if let refusal = claim(control, on: agent) {
            let isInProgress = task != nil
            Task { @MainActor in
                if !isInProgress { refuse(refusal) }
                deliver(refusal)
            }
            return control
        }
        if let owner { control.bind(to: owner) }
        let relay = AccessoryRelay.accompanying(self, control, by: performer)
        Task { @MainActor in
            announce(control)
            let error = await runToEnd(control)
            let knowsOfCancel = relay?.close() ?? false
            end(control, error, isAccompanied: knowsOfCancel) { deliver(error) }
        }
        return control
    }

    /// Runs on the caller's actor; cancelling the calling Swift task cancels the run.
    nonisolated(nonsending) func performRun(
        on agent: RequestAgent?, _ onStart: (RequestTask) -> Void
    ) async -> RequestError? {
        let control = makeTask(on: agent)
        if let refusal = claim(control, on: agent) {
            if task == nil { refuse(refusal) }
            return refusal
        }
        onStart(control)
        return await carryOutWithCancellation(control)
    }

    /// Runs a composite that the caller gives up; its closures, its end and those of its members are on the queue.
    func dispatchRun(
        on agent: RequestAgent?, owner: RequestOwner?, _ queue: DispatchQueue,
        then deliver: @escaping @Sendable (RequestError?) -> Void
    ) -> RequestTask {
        let control = makeTask(on: agent)
        // Safe: the caller has given the composite up, and it is used on the queue only.
        nonisolated(unsafe) let composite = self
        if let refusal = claim(control, on: agent) {
            let isInProgress = task != nil
            queue.async {
                if !isInProgress { composite.refuse(refusal) }
                deliver(refusal)
            }
            return control
        }
        if let owner { control.bind(to: owner) }
        Task {
            await QueueActor(queue).run {
                composite.announce(control)
                let error = await composite.runToEnd(control)
                // Last: the closure may take the composite to another actor.
                composite.end(control, error) {}
                deliver(error)
            }
        }
        return control
    }

    /// Runs a claimed and announced composite on the caller's actor; returns its error.
    nonisolated(nonsending) func carryOut(_ control: RequestTask) async -> RequestError? {
        let error = await runToEnd(control)
        end(control, error) {}
        return error
    }

    /// Announces and carries out a run on the caller's actor; cancelling the calling Swift task cancels the run.
    ///
    /// The closure is on the caller's actor because it reads the parameter. In a `nonisolated(nonsending)` function, the
    /// standard library calls such a closure on no actor.
    private func carryOutWithCancellation(
        _ control: RequestTask, isolation: isolated (any Actor)? = #isolation
    ) async -> RequestError? {
        await withTaskCancellationHandler {
            _ = isolation
            return await carryOutOnOneActor(control)
        } onCancel: {
            control.cancel()
        }
    }

    /// Announces and carries out a run on the caller's actor.
    ///
    /// A caller without an actor lends the composite to an actor of the run: nested batches, chains and graphs are
    /// Swift tasks of that actor, so their closures and hooks never run at the same time.
    nonisolated(nonsending) private func carryOutOnOneActor(
        _ control: RequestTask
    ) async -> RequestError? {
        let caller: (any Actor)? = #isolation
        if caller != nil {
            announce(control)
            return await carryOut(control)
        }
        // Safe: the caller waits for the end and does not use the composite meanwhile.
        nonisolated(unsafe) let composite = self
        return await CompositeActor().run {
            composite.announce(control)
            return await composite.carryOut(control)
        }
    }

    // MARK: - Steps of a run

    /// Makes the task of a run.
    ///
    /// - Parameter parent: The run that has this one as a member.
    func makeTask(
        on named: RequestAgent?, within parent: RequestTask.Members? = nil
    ) -> RequestTask {
        RequestTask(
            composite: "\(Self.self)", tag: tag, total: expectedCount, priority: priority,
            services: performer(atCall: named)?.services, within: parent, deadline: deadline)
    }

    /// The agent whose accessories are notified of the composite: that at the call, or else that of the first request.
    private func performer(atCall named: RequestAgent?) -> RequestAgent? {
        named ?? firstOfAll?.agent(atCall: nil)
    }

    private var performer: RequestAgent? { performer(atCall: agentAtCall) }

    /// Reserves the object and its members for a run; returns the error of a start that is not possible.
    func claim(_ control: RequestTask, on agent: RequestAgent?) -> RequestError? {
        guard let members = control.members else { return .cancelled }
        let refusal: RequestError
        if let task {
            refusal = RequestError(
                Self.failureCode, stage: .build,
                task.members?.contains(members) == true
                    ? "This \(Self.self) contains itself, directly or through its members. Create another one."
                    : "This \(Self.self) is in progress already. Start it again after its end, or create another one."
            )
        } else if let deadline, deadline <= .zero {
            refusal = RequestError(
                .invalidConfiguration, stage: .build,
                "The deadline of a \(Self.self) must be greater than 0.")
        } else {
            task = control
            agentAtCall = agent
            guard let reason = reserveMembers(members) else { return nil }
            refusal = reason
            task = nil
        }
        control.refuse(refusal)
        if task == nil { refuseRun() }
        return refusal
    }

    /// Gives up a claimed run that was not announced.
    func unclaim() {
        releaseMembers()
        task?.refuse(.cancelled)
        task = nil
    }

    /// Delivers the refusal of a start.
    private func refuse(_ refusal: RequestError) {
        error = refusal
        delegate?.compositeDidFail(self, refusal)
    }

    /// Notifies the accessories of the start and describes the members; sends nothing.
    ///
    /// - Parameter control: A run that ``claim(_:on:)`` has accepted.
    func announce(_ control: RequestTask) {
        notify(.willStart, by: performer)
        describeMembers()
    }

    /// Runs the members of an announced run.
    nonisolated(nonsending) private func runToEnd(_ control: RequestTask) async -> RequestError? {
        guard let members = control.members else { return .cancelled }
        control.enterFlight()
        let timer = deadline.map { expire(control, after: $0) }
        let error = await run(members)
        timer?.cancel()
        defer { task = nil }
        return await control.endComposite(error)
    }

    private func expire(_ control: RequestTask, after deadline: Duration) -> Task<Void, Never> {
        let clock = performer?.clock ?? SystemClock()
        return Task {
            guard (try? await clock.sleep(for: deadline)) != nil else { return }
            control.stop(.deadline)
        }
    }

    /// Delivers the end of a run: accessories, delegate, closure, accessories.
    ///
    /// - Parameter isAccompanied: Whether the accessories have been notified of a cancellation. If not, they are now: the
    ///   run is cancelled on any thread, and its actor was not available before its end.
    private func end(
        _ control: RequestTask, _ error: RequestError?, isAccompanied: Bool = false,
        closure: () -> Void
    ) {
        self.error = error
        let agent = performer
        if !isAccompanied, control.wasCancelled { notify(.willCancel, by: agent) }
        notify(.willStop, by: agent)
        if let error {
            delegate?.compositeDidFail(self, error)
        } else {
            delegate?.compositeDidFinish(self)
        }
        closure()
        notify(.didStop, by: agent)
    }
}

/// The actor of a run whose caller has none.
private actor CompositeActor {
    func run(_ body: @Sendable () async -> RequestError?) async -> RequestError? { await body() }
}

/// The actor of a run that was started with a queue: its code runs on that queue, one part at a time.
private actor QueueActor {
    private final class Executor: SerialExecutor {
        let queue: DispatchQueue

        init(_ queue: DispatchQueue) {
            // Serial, also if the target is concurrent.
            self.queue = DispatchQueue(label: "errand.composite", target: queue)
        }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private let executor: Executor

    init(_ queue: DispatchQueue) { executor = Executor(queue) }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run(_ body: @Sendable () async -> Void) async { await body() }
}
