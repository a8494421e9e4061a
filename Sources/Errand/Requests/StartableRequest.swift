public import Dispatch

/// The ways to start an endpoint; a protocol, so that closures receive the subclass's own type.
nonisolated public protocol StartableRequest: BaseRequest {}

extension BaseRequest: StartableRequest {}

extension StartableRequest {
    /// Starts the request; one of the closures is called, once, on the main actor, also after a cancellation.
    ///
    /// A cancellation is the error ``RequestError/Code/cancelled``. The request, its closures and their captures are
    /// retained until the end. Ends are delivered in the order in which the requests ended. Task-local values of the
    /// caller are not available in the closures.
    ///
    /// - Parameters:
    ///   - owner: Cancels the request when it is deallocated; held weakly. Default `nil`: none.
    ///   - success: Called after a success.
    ///   - failure: Called after a failure or a cancellation.
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

    /// Starts the request from any context; the closure is called once, on the queue.
    ///
    /// The request object stays with its actor: hooks, accessories and delegate are not called, and
    /// ``BaseRequest/response`` is not set. Everything is in the result.
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

    /// Runs the request and returns its response, on the caller's actor.
    ///
    /// Cancelling the calling Swift task cancels the request.
    ///
    /// - Throws: ``RequestError``.
    @discardableResult
    nonisolated(nonsending) public func send() async throws(RequestError) -> Response {
        let (task, agent) = enlist()
        let outcome = await agent.perform(task)
        end(outcome) { _ in }
        return try outcome.result.get()
    }

    /// Attaches closures to the next run, however it is started; members of a batch or a chain keep theirs.
    ///
    /// Called on the actor of the request, then released.
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

    /// Reports the progress of the next run on the main actor: at most every 100 ms, and the last value before the
    /// end.
    ///
    ///     Upload(file).onProgress { upload, progress in bar.value = progress.fractionCompleted ?? 0 }
    ///         .start { upload in … }
    ///
    /// For `start(success:failure:)`; the closure is released after the run. ``BaseRequest/progressHandler`` is
    /// called for every way of starting, ``RequestTask/progress`` is a sequence.
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

    /// Notifies the accessories of a request on the main actor of suspend, resume and cancel.
    @MainActor
    private func accompany(_ task: RequestTask) -> AccessoryRelay? {
        guard !allAccessories.isEmpty else { return nil }
        let relay = AccessoryRelay(request: self)
        task.observe { relay.take($0) }
        return relay
    }
}
