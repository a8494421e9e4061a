import ErrandCore

/// What the runs of batches and chains have in common: companions, closures, cancelling.
nonisolated protocol ComposedRun: CompositeRequest {
    /// How many members are known before the run.
    var expectedCount: Int { get }

    /// The member that failed in the last run.
    var failedRequest: BaseRequest? { get }
    /// Whether a member that failed is no failure of the whole for those who await it.
    var toleratesFailures: Bool { get }

    /// Runs the members to their ends; returns what the whole failed with.
    nonisolated(nonsending) func run(_ control: CompositeTask) async -> RequestError?
}

extension ComposedRun {
    var toleratesFailures: Bool { false }

    /// Starts a run on the main actor; one of the closures is called, once.
    @MainActor
    func launch(
        owner: RequestOwner?, success: @escaping @MainActor (Self) -> Void,
        failure: @escaping @MainActor (Self, RequestError) -> Void
    ) -> CompositeTask {
        let control = CompositeTask(total: expectedCount)
        if let owner { control.bind(to: owner) }
        let relay = CompositeRelay(composite: self)
        control.watch { [weak control] in
            Task { @MainActor in relay.tell(control?.takeChanges() ?? []) }
        }
        Task { @MainActor in
            let error = await accompanied(control)
            // Before the end, whatever is on its way still.
            relay.tell(control.takeChanges())
            for accessory in accessories { accessory.compositeWillStop(self) }
            if let error { failure(self, error) } else { success(self) }
            for accessory in accessories { accessory.compositeDidStop(self) }
        }
        return control
    }

    /// Runs to the end and tells the accessories of it; returns what the whole failed with.
    nonisolated(nonsending) func carryOut(_ control: CompositeTask) async -> RequestError? {
        let error = await accompanied(control)
        // Told just before the end: until then the caller's actor is not the run's to use.
        if control.isCancelled {
            for accessory in accessories { accessory.compositeWillCancel(self) }
        }
        for accessory in accessories { accessory.compositeWillStop(self) }
        for accessory in accessories { accessory.compositeDidStop(self) }
        return error
    }

    /// Runs on the caller's actor; cancelling the calling Swift task cancels the run.
    ///
    /// - Parameter result: Makes what the caller gets.
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

    nonisolated(nonsending) private func accompanied(
        _ control: CompositeTask
    ) async -> RequestError? {
        for accessory in accessories { accessory.compositeWillStart(self) }
        let error = await run(control)
        control.end()
        return error
    }
}

/// Carries what happens to a run, on any thread, to the accessories of a composite on the main actor.
@MainActor
private final class CompositeRelay {
    private weak var composite: (any CompositeRequest)?

    init(composite: any CompositeRequest) { self.composite = composite }

    func tell(_ changes: [CompositeTask.Change]) {
        guard let composite else { return }
        for change in changes {
            for accessory in composite.accessories {
                switch change {
                case .willSuspend: accessory.compositeWillSuspend(composite)
                case .didResume: accessory.compositeDidResume(composite)
                case .willCancel: accessory.compositeWillCancel(composite)
                }
            }
        }
    }
}
