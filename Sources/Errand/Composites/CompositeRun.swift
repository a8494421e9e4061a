package import Dispatch
package import ErrandCore

/// The parts of a run that batches, chains and graphs share: accessories, closures, cancellation and
/// deadline.
///
/// A run is claimed, then announced, then carried out. A member of another run is claimed and announced
/// before the first member of that run is sent.
nonisolated package protocol CompositeRun: CompositeRequest, CompositeMember, SendableMetatype {
    /// The result of a successful run.
    associatedtype Success: Sendable

    /// The code of errors of the composite itself.
    static var failureCode: RequestError.Code { get }

    /// The run in progress.
    var task: CompositeTask? { get set }
    /// The time after which the members are cancelled.
    var deadline: Duration? { get }
    /// The result of the last run.
    var success: Success { get }
    /// The number of members that are known before the run.
    var expectedCount: Int { get }

    /// The first request, if it is known before the run; its agent's accessories are notified of
    /// the composite.
    var firstRequest: BaseRequest? { get }
    /// The member that failed in the last run.
    var failedRequest: BaseRequest? { get }

    /// Reserves the members that are known before the run; returns the reason why it is not possible.
    func reserveMembers(_ control: CompositeTask) -> RequestError?
    /// Gives up the reservation of members that were not described.
    func releaseMembers()
    /// Notes that a start was refused before the run.
    func refuseRun()
    /// Describes the reserved members; sends nothing.
    func describeMembers()
    /// Runs the members to their ends; returns the error of the composite.
    ///
    /// Starts no member if the run is stopped already, and ends those that were described.
    nonisolated(nonsending) func run(_ control: CompositeTask) async -> RequestError?
}

extension CompositeRun {
    package func refuseRun() {}

    /// Starts a run on the main actor; one of the closures is called once.
    @MainActor
    package func launch(
        on agent: RequestAgent?, owner: RequestOwner?, success: @escaping @MainActor (Self) -> Void,
        failure: @escaping @MainActor (Self, RequestError) -> Void
    ) -> CompositeTask {
        launch(on: agent, owner: owner) { composite, error in
            if let error { failure(composite, error) } else { success(composite) }
        }
    }

    /// Starts a run on the main actor; the closure is called once, with the error of the run.
    @MainActor
    package func launch(
        on agent: RequestAgent?, owner: RequestOwner?,
        completion: @escaping @MainActor (Self, RequestError?) -> Void
    ) -> CompositeTask {
        let control = CompositeTask(self, on: agent)
        if let error = claim(control) {
            let isInProgress = task != nil
            Task { @MainActor in
                if !isInProgress { delegate?.compositeFailed(self, error) }
                completion(self, error)
            }
            return control
        }
        if let owner { control.bind(to: owner) }
        let relay = CompositeRelay(composite: self, control: control)
        control.watch { [weak control] in
            Task { @MainActor in relay.notify(control?.takeChanges() ?? []) }
        }
        Task { @MainActor in
            announce(control)
            let error = await runToEnd(control)
            // Deliver pending changes before the end.
            relay.notify(control.takeChanges())
            end(control, error) { completion(self, error) }
        }
        return control
    }

    /// Delivers the end of a run: accessories, delegate, closure, accessories.
    private func end(
        _ control: CompositeTask, _ error: RequestError?, closure: () -> Void = {}
    ) {
        notify(.willStop, of: control)
        if let error {
            delegate?.compositeFailed(self, error)
        } else {
            delegate?.compositeFinished(self)
        }
        closure()
        notify(.didStop, of: control)
    }

    /// Notifies the accessories of the start and describes the members; sends nothing.
    ///
    /// - Parameter control: A run that ``claim(_:)`` has accepted.
    func announce(_ control: CompositeTask) {
        notify(.willStart, of: control)
        describeMembers()
    }

    /// Runs to the end on the caller's actor and notifies the accessories; returns the error of the
    /// composite.
    ///
    /// - Parameter control: A run that was announced.
    nonisolated(nonsending) func carryOut(_ control: CompositeTask) async -> RequestError? {
        let error = await runToEnd(control)
        // Notified here: the run is cancelled on any thread, and the caller's actor is not available
        // to the run before its end.
        if control.isCancelled { notify(.willCancel, of: control) }
        end(control, error)
        return error
    }

    /// Runs on the caller's actor; cancelling the calling Swift task cancels the run.
    nonisolated(nonsending) package func perform(
        on agent: RequestAgent?, onStart: (CompositeTask) -> Void
    ) async throws(RequestError) -> Success {
        let control = CompositeTask(self, on: agent)
        if let error = claim(control) {
            if task == nil { delegate?.compositeFailed(self, error) }
            throw error
        }
        onStart(control)
        if let error = await carryOutWithCancellation(control) { throw error }
        return success
    }

    /// Announces and carries out a run on the caller's actor; cancelling the calling Swift task cancels the run.
    ///
    /// The closure is on the caller's actor because it reads the parameter. In a `nonisolated(nonsending)` function, the
    /// standard library calls such a closure on no actor.
    private func carryOutWithCancellation(
        _ control: CompositeTask, isolation: isolated (any Actor)? = #isolation
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
        _ control: CompositeTask
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

    /// Runs a composite that the caller gives up, off every actor; the closure is called once, on the queue.
    ///
    /// - Parameter read: Reads the result of a run without an error.
    package static func dispatch<Value: Sendable>(
        _ composite: sending Self, on agent: RequestAgent?, _ queue: DispatchQueue,
        read: @escaping @Sendable (Self) -> Result<Value, RequestError>,
        completion: @escaping @Sendable (Result<Value, RequestError>) -> Void
    ) -> CompositeTask {
        let control = CompositeTask(composite, on: agent)
        if let error = composite.claim(control) {
            if composite.task == nil { composite.delegate?.compositeFailed(composite, error) }
            queue.async { completion(.failure(error)) }
            return control
        }
        Task {
            let error = await composite.carryOutOnOneActor(control)
            let end = error.map { Result<Value, RequestError>.failure($0) } ?? read(composite)
            queue.async { completion(end) }
        }
        return control
    }

    /// Runs a batch or chain that the caller gives up; the closure is called once, on the queue, with its result.
    package static func dispatch(
        _ composite: sending Self, on agent: RequestAgent?, _ queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Success, RequestError>) -> Void
    ) -> CompositeTask {
        dispatch(composite, on: agent, queue) {
            .success($0.success)
        } completion: {
            completion($0)
        }
    }

    /// The result of the last run.
    package func result(_ error: RequestError?) -> Result<Success, RequestError> {
        error.map { .failure($0) } ?? .success(success)
    }

    /// Reserves the object and its members for a run; returns the error of a start that is not possible.
    func claim(_ control: CompositeTask) -> RequestError? {
        let refusal: RequestError
        if let task {
            refusal = RequestError(
                Self.failureCode, stage: .build,
                task.contains(control)
                    ? "This \(Self.self) contains itself, directly or through its members. Create another one."
                    : "This \(Self.self) is in progress already. Start it again after its end, or create another one."
            )
        } else if let deadline, deadline <= .zero {
            refusal = RequestError(
                .invalidConfiguration, stage: .build,
                "The deadline of a \(Self.self) must be greater than 0.")
        } else {
            task = control
            guard let reason = reserveMembers(control) else { return nil }
            refusal = reason
            task = nil
        }
        control.end()
        if task == nil { refuseRun() }
        return refusal
    }

    /// Gives up a claimed run that was not announced.
    func unclaim() {
        releaseMembers()
        task?.end()
        task = nil
    }

    /// Runs the members of an announced run.
    nonisolated(nonsending) private func runToEnd(_ control: CompositeTask) async -> RequestError? {
        let timer = deadline.map { expire(control, after: $0) }
        let error = await run(control)
        timer?.cancel()
        control.end()
        await control.hub.untilDelivered()
        task = nil
        return error
    }

    private func expire(_ control: CompositeTask, after deadline: Duration) -> Task<Void, Never> {
        let agent = control.agent ?? firstRequest?.agent(atCall: nil) ?? .shared
        return Task { [clock = agent.clock] in
            guard (try? await clock.sleep(for: deadline)) != nil else { return }
            control.expire(after: deadline)
        }
    }
}

/// The actor of a run whose caller has none.
private actor CompositeActor {
    func run(_ body: @Sendable () async -> RequestError?) async -> RequestError? { await body() }
}

/// Notifies the accessories of a composite, on the main actor, of changes of its run, which
/// happen on any thread.
@MainActor
private final class CompositeRelay {
    private weak var composite: (any CompositeRun)?
    private let control: CompositeTask

    init(composite: any CompositeRun, control: CompositeTask) {
        self.composite = composite
        self.control = control
    }

    func notify(_ changes: [CompositeTask.Change]) {
        guard let composite else { return }
        for change in changes {
            switch change {
            case .willSuspend: composite.notify(.willSuspend, of: control)
            case .didResume: composite.notify(.didResume, of: control)
            case .willCancel: composite.notify(.willCancel, of: control)
            }
        }
    }
}
