import Dispatch
import ErrandCore

/// The parts of a run that batches and chains share: accessories, closures, cancellation and deadline.
nonisolated protocol CompositeRun: CompositeRequest, SendableMetatype {
    /// The result of a successful run.
    associatedtype Output: Sendable

    /// The code of errors of the batch or chain itself.
    static var failureCode: RequestError.Code { get }

    /// The run in progress.
    var task: CompositeTask? { get set }
    /// The time after which the members are cancelled.
    var deadline: Duration? { get }
    /// The result of the last run.
    var output: Output { get }
    /// The number of members that are known before the run.
    var expectedCount: Int { get }

    /// The first request, if it is known before the run; its agent's accessories are notified of
    /// the batch or chain.
    var firstRequest: BaseRequest? { get }
    /// The member that failed in the last run.
    var failedRequest: BaseRequest? { get }

    /// Runs the members to their ends; returns the error of the batch or chain.
    nonisolated(nonsending) func run(_ control: CompositeTask) async -> RequestError?
}

extension CompositeRun {
    /// Starts a run on the main actor; one of the closures is called once.
    @MainActor
    func launch(
        on agent: RequestAgent?, owner: RequestOwner?, success: @escaping @MainActor (Self) -> Void,
        failure: @escaping @MainActor (Self, RequestError) -> Void
    ) -> CompositeTask {
        let control = CompositeTask(total: expectedCount, agent: agent)
        if let error = claim(control) {
            Task { @MainActor in failure(self, error) }
            return control
        }
        if let owner { control.bind(to: owner) }
        let relay = CompositeRelay(composite: self, control: control)
        control.watch { [weak control] in
            Task { @MainActor in relay.notify(control?.takeChanges() ?? []) }
        }
        Task { @MainActor in
            let error = await startAndRun(control)
            // Deliver pending changes before the end.
            relay.notify(control.takeChanges())
            notify(.willStop, of: control)
            if let error { failure(self, error) } else { success(self) }
            notify(.didStop, of: control)
        }
        return control
    }

    /// Runs to the end on the caller's actor and notifies the accessories; returns the error of the
    /// batch or chain.
    ///
    /// - Parameter control: A run that ``claim(_:)`` has accepted.
    nonisolated(nonsending) func carryOut(_ control: CompositeTask) async -> RequestError? {
        let error = await startAndRun(control)
        // Notified here: the run is cancelled on any thread, and the caller's actor is not available
        // to the run before its end.
        if control.isCancelled { notify(.willCancel, of: control) }
        notify(.willStop, of: control)
        notify(.didStop, of: control)
        return error
    }

    /// Runs on the caller's actor; cancelling the calling Swift task cancels the run.
    nonisolated(nonsending) func perform(
        on agent: RequestAgent?, onStart: (CompositeTask) -> Void
    ) async throws(RequestError) -> Output {
        let control = CompositeTask(total: expectedCount, agent: agent)
        if let error = claim(control) { throw error }
        onStart(control)
        let error = await withTaskCancellationHandler {
            await carryOut(control)
        } onCancel: {
            control.cancel()
        }
        if let error { throw error }
        return output
    }

    /// Runs a batch or chain that the caller gives up, off every actor; the closure is called once, on the queue.
    static func dispatch(
        _ composite: sending Self, on agent: RequestAgent?, _ queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Output, RequestError>) -> Void
    ) -> CompositeTask {
        let control = CompositeTask(total: composite.expectedCount, agent: agent)
        if let error = composite.claim(control) {
            queue.async { completion(.failure(error)) }
            return control
        }
        Task {
            let error = await composite.carryOut(control)
            let result = error.map { Result<Output, RequestError>.failure($0) }
            let end = result ?? .success(composite.output)
            queue.async { completion(end) }
        }
        return control
    }

    /// Reserves the object for a run; returns the error of a start that is not possible.
    func claim(_ control: CompositeTask) -> RequestError? {
        let refusal: RequestError
        if task != nil {
            refusal = RequestError(
                Self.failureCode, stage: .build,
                "This \(Self.self) is in progress already. Start it again after its end, or create another one."
            )
        } else if let deadline, deadline <= .zero {
            refusal = RequestError(
                .invalidConfiguration, stage: .build,
                "The deadline of a \(Self.self) must be greater than 0.")
        } else {
            task = control
            return nil
        }
        control.end()
        return refusal
    }

    /// Notifies the accessories of the start and runs the members.
    nonisolated(nonsending) private func startAndRun(
        _ control: CompositeTask
    ) async -> RequestError? {
        notify(.willStart, of: control)
        let timer = deadline.map { expire(control, after: $0) }
        let error = await run(control)
        timer?.cancel()
        control.end()
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

/// Notifies the accessories of a batch or chain, on the main actor, of changes of its run, which
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
