import Dispatch
import ErrandCore

extension StartableRequest {
    /// Starts the request on the main actor and calls one of two closures with its end.
    @MainActor
    func launch(
        on named: RequestAgent?, owner: RequestOwner?,
        success: @escaping @MainActor (Self) -> Void,
        failure: @escaping @MainActor (Self, RequestError) -> Void
    ) -> RequestTask {
        let run = begin(on: named)
        let relays = RunRelays(of: run, self, owner: owner)
        run.task.storedDelivery?.deliver { [self] outcome in
            take(outcome)
            success(self)
        }
        run.task.whenEndedOnMainActor { [self] outcome in
            relays.end(run, of: self, outcome) { error in
                if let error { failure(self, error) } else { success(self) }
            }
        }
        return run.task
    }

    /// Starts the request on the main actor and calls a closure with its end.
    @MainActor
    func launch(
        on named: RequestAgent?, owner: RequestOwner?,
        completion: @escaping @MainActor (Self, TaskOutcome) -> Void
    ) -> RequestTask {
        let run = begin(on: named)
        let relays = RunRelays(of: run, self, owner: owner)
        run.task.storedDelivery?.deliver { [self] outcome in
            take(outcome)
            completion(self, outcome)
        }
        run.task.whenEndedOnMainActor { [self] outcome in
            relays.end(run, of: self, outcome) { _ in completion(self, outcome) }
        }
        return run.task
    }

    /// Starts the request without hooks and calls a closure with its end, on a queue.
    nonisolated func dispatch(
        on named: RequestAgent?, _ queue: DispatchQueue,
        completion: @escaping @Sendable (TaskOutcome) -> Void
    ) -> RequestTask {
        let task = agent(atCall: named).start(makeDescription())
        if task.deliversStored {
            task.whenStored { outcome in
                queue.async { if !task.isStopping { completion(outcome) } }
            }
        }
        task.whenEnded { outcome in
            queue.async { completion(outcome) }
        }
        return task
    }
}

nonisolated extension RequestTask {
    /// Calls the closure with the outcome, on the main actor.
    ///
    /// The closure should keep the task: releasing its memory on the thread that allocated it is cheaper.
    fileprivate func whenEndedOnMainActor(_ handler: @escaping @MainActor (TaskOutcome) -> Void) {
        whenEnded { MainDelivery.shared.deliver($0, to: handler) }
    }

    /// The delivery of a stored response before the end; `nil` if the policy of the request delivers none.
    fileprivate var storedDelivery: StoredDelivery? {
        deliversStored ? StoredDelivery(task: self) : nil
    }

    /// The delivery of the stored response of ``CachePolicy/cacheThenLoad`` or ``CachePolicy/httpThenLoad``.
    fileprivate struct StoredDelivery {
        let task: RequestTask

        /// Calls the closure with the stored response, on the main actor, before the end.
        func deliver(_ handler: @escaping @MainActor (TaskOutcome) -> Void) {
            task.whenStored { [task] outcome in
                MainDelivery.shared.deliver(outcome) { outcome in
                    // After a cancellation only the end is delivered.
                    if !task.isStopping { handler(outcome) }
                }
            }
        }
    }
}

/// What a run reports on the main actor until its end, besides the end.
@MainActor
struct RunRelays {
    private let accessories: AccessoryRelay?
    private let progress: ProgressRelay?

    init(of run: RequestRun, _ request: BaseRequest, owner: RequestOwner?) {
        accessories = Self.accompany(run, of: request)
        if let owner { run.task.bind(to: owner) }
        progress = Self.reportProgress(of: request, run.task)
    }

    func end(
        _ run: RequestRun, of request: BaseRequest, _ outcome: TaskOutcome,
        closures: (RequestError?) -> Void
    ) {
        let knowsOfCancel = accessories?.close() ?? false
        progress?.flush()
        request.end(outcome, of: run, isAccompanied: knowsOfCancel, closures: closures)
    }

    private static func reportProgress(
        of request: BaseRequest, _ task: RequestTask
    ) -> ProgressRelay? {
        guard let closure = request.attachedProgress else { return nil }
        request.attachedProgress = nil
        let relay = ProgressRelay { [weak request] in if let request { closure(request, $0) } }
        task.onProgress { relay.offer($0) }
        return relay
    }

    /// Notifies the accessories of a request on the main actor of suspend, resume and cancel.
    private static func accompany(_ run: RequestRun, of request: BaseRequest) -> AccessoryRelay? {
        guard request.hasAccessories(of: run.agent) else { return nil }
        let relay = AccessoryRelay(request: request, agent: run.agent)
        run.task.observe { relay.take($0) }
        return relay
    }
}
