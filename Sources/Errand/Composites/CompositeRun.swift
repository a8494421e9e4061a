import ErrandCore

/// The parts of a run that batches and chains share: accessories, closures and cancellation.
nonisolated protocol CompositeRun: CompositeRequest {
    /// The number of members that are known before the run.
    var expectedCount: Int { get }

    /// The first request, if it is known before the run; its agent's accessories are notified of
    /// the batch or chain.
    var firstRequest: BaseRequest? { get }
    /// The member that failed in the last run.
    var failedRequest: BaseRequest? { get }
    /// Whether an enclosing chain continues although a member has failed.
    var toleratesFailures: Bool { get }

    /// Runs the members to their ends; returns the error of the batch or chain.
    nonisolated(nonsending) func run(_ control: CompositeTask) async -> RequestError?
}

extension CompositeRun {
    var toleratesFailures: Bool { false }

    /// Starts a run on the main actor; one of the closures is called once.
    @MainActor
    func launch(
        owner: RequestOwner?, success: @escaping @MainActor (Self) -> Void,
        failure: @escaping @MainActor (Self, RequestError) -> Void
    ) -> CompositeTask {
        let control = CompositeTask(total: expectedCount)
        if let owner { control.bind(to: owner) }
        let relay = CompositeRelay(composite: self)
        control.watch { [weak control] in
            Task { @MainActor in relay.notify(control?.takeChanges() ?? []) }
        }
        Task { @MainActor in
            let error = await startAndRun(control)
            // Deliver pending changes before the end.
            relay.notify(control.takeChanges())
            notify(.willStop)
            if let error { failure(self, error) } else { success(self) }
            notify(.didStop)
        }
        return control
    }

    /// Runs to the end on the caller's actor and notifies the accessories; returns the error of the
    /// batch or chain.
    nonisolated(nonsending) func carryOut(_ control: CompositeTask) async -> RequestError? {
        let error = await startAndRun(control)
        // Notified here: the run is cancelled on any thread, and the caller's actor is not available
        // to the run before its end.
        if control.isCancelled { notify(.willCancel) }
        notify(.willStop)
        notify(.didStop)
        return error
    }

    /// Runs on the caller's actor; cancelling the calling Swift task cancels the run.
    ///
    /// - Parameter result: Creates the return value, or throws.
    nonisolated(nonsending) func perform<Output>(
        _ result: (CompositeTask, RequestError?) throws(RequestError) -> Output
    ) async throws(RequestError) -> Output {
        let control = CompositeTask(total: expectedCount)
        let error = await withTaskCancellationHandler {
            await carryOut(control)
        } onCancel: {
            control.cancel()
        }
        return try result(control, error)
    }

    /// Notifies the accessories of the start and runs the members.
    nonisolated(nonsending) private func startAndRun(
        _ control: CompositeTask
    ) async -> RequestError? {
        notify(.willStart)
        let error = await run(control)
        control.end()
        return error
    }
}

/// Notifies the accessories of a batch or chain, on the main actor, of changes of its run, which
/// happen on any thread.
@MainActor
private final class CompositeRelay {
    private weak var composite: (any CompositeRun)?

    init(composite: any CompositeRun) { self.composite = composite }

    func notify(_ changes: [CompositeTask.Change]) {
        guard let composite else { return }
        for change in changes {
            switch change {
            case .willSuspend: composite.notify(.willSuspend)
            case .didResume: composite.notify(.didResume)
            case .willCancel: composite.notify(.willCancel)
            }
        }
    }
}
