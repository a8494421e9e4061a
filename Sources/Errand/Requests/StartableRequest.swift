public import Dispatch

/// What every endpoint can do; the extension gives closures the subclass's own type.
nonisolated public protocol StartableRequest: BaseRequest {}

extension BaseRequest: StartableRequest {}

extension StartableRequest {
    /// Starts the request; one of the closures is called, once, on the main actor, also when it is cancelled
    /// (``RequestError/Code/cancelled``).
    ///
    /// The request, its closures and everything they hold are kept until then and no longer. Requests that end
    /// one after the other are told so in that order; task-local values of the caller are not carried over.
    ///
    /// An owner that goes cancels the request and is not kept alive by it; the default, `nil`, is none.
    @MainActor @discardableResult
    public func start(
        owner: RequestOwner? = nil,
        success: @escaping @MainActor (Self) -> Void = { _ in },
        failure: @escaping @MainActor (Self, RequestError) -> Void = { _, _ in }
    ) -> RequestTask {
        let task = begin()
        let accompaniment = accompany(task)
        if let owner { task.bind(to: owner) }
        let reports = reportProgress(of: task)
        let deliver: @MainActor (TaskOutcome) -> Void = { [self] outcome in
            let knowsOfCancel = accompaniment?.close() ?? false
            reports?.flush()
            end(outcome, isAccompanied: knowsOfCancel) { error in
                if let error { failure(self, error) } else { success(self) }
            }
        }
        task.whenEnded { [task] outcome in
            MainDelivery.shared.deliver(outcome, of: task, to: deliver)
        }
        return task
    }

    /// Starts the request from anywhere; the closure is called once, on the queue.
    ///
    /// The request object stays with its actor: hooks, accessories and delegate are not called, and
    /// ``BaseRequest/response`` is not touched. Everything is in the result.
    @discardableResult
    nonisolated public func start(
        on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Response, RequestError>) -> Void
    ) -> RequestTask {
        let task = (agent ?? .shared).start(describe())
        task.whenEnded { outcome in
            queue.async { completion(outcome.result) }
        }
        return task
    }

    /// Runs the request and returns its answer, on the caller's actor.
    ///
    /// Cancelling the calling Swift task cancels it.
    ///
    /// - Throws: ``RequestError``.
    @discardableResult
    nonisolated(nonsending) public func send() async throws(RequestError) -> Response {
        let (task, agent) = enlist()
        let outcome = await agent.perform(task)
        end(outcome) { _ in }
        return try outcome.result.get()
    }

    /// Attaches closures to the next run, whoever starts it: how members of a batch or a chain keep
    /// their own (rows BAT-7, CHN-9).
    ///
    /// Called on the actor the request belongs to, then let go.
    @discardableResult
    nonisolated public func attach(
        success: @escaping (Self) -> Void,
        failure: @escaping (Self, RequestError) -> Void = { _, _ in }
    ) -> Self {
        attachedSuccess = { request in
            if let request = request as? Self { success(request) }
        }
        attachedFailure = { request, error in
            if let request = request as? Self { failure(request, error) }
        }
        return self
    }

    /// Hears of the next run's progress on the main actor: every 100 ms at most, and the last value before the end.
    ///
    ///     Upload(file).onProgress { upload, progress in bar.value = progress.fractionCompleted ?? 0 }
    ///         .start { upload in … }
    ///
    /// For `start(success:failure:)`; the closure is let go after the run. ``BaseRequest/progressHandler`` is for
    /// every way of starting, ``RequestTask/progress`` a sequence.
    @discardableResult
    nonisolated public func onProgress(
        _ closure: @escaping @MainActor (Self, TransferProgress) -> Void
    ) -> Self {
        attachedProgress = { request, progress in
            if let request = request as? Self { closure(request, progress) }
        }
        return self
    }

    @MainActor
    private func reportProgress(of task: RequestTask) -> ProgressRelay? {
        guard let closure = attachedProgress else { return nil }
        attachedProgress = nil
        let relay = ProgressRelay { [weak self] in if let self { closure(self, $0) } }
        task.onProgress { relay.offer($0) }
        return relay
    }

    /// Lets the accessories of a request on the main actor hear of suspend, resume and cancel.
    @MainActor
    private func accompany(_ task: RequestTask) -> AccessoryRelay? {
        guard !everyAccessory.isEmpty else { return nil }
        let relay = AccessoryRelay(request: self)
        task.observe { relay.take($0) }
        return relay
    }
}
