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
        let launch = Launch(self, begin(on: named), owner: owner)
        launch.storedDelivery?.deliver { [self] outcome in
            take(outcome)
            success(self)
        }
        return launch.deliver { [self] outcome in
            launch.end(self, outcome) { error in
                if let error { failure(self, error) } else { success(self) }
            }
        }
    }

    /// Starts the request on the main actor and calls a closure with its end.
    @MainActor
    func launch(
        on named: RequestAgent?, owner: RequestOwner?,
        completion: @escaping @MainActor (Self, TaskOutcome) -> Void
    ) -> RequestTask {
        let launch = Launch(self, begin(on: named), owner: owner)
        launch.storedDelivery?.deliver { [self] outcome in
            take(outcome)
            completion(self, outcome)
        }
        return launch.deliver { [self] outcome in
            launch.end(self, outcome) { _ in completion(self, outcome) }
        }
    }

    /// Starts the request without hooks and calls a closure with its end, on a queue.
    nonisolated func dispatch(
        on named: RequestAgent?, _ queue: DispatchQueue,
        completion: @escaping @Sendable (TaskOutcome) -> Void
    ) -> RequestTask {
        let task = agent(atCall: named).start(describe())
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

/// A start on the main actor: the run, and what follows it until its end.
@MainActor
struct Launch {
    let run: RequestRun
    let accompaniment: AccessoryRelay?
    let reports: ProgressRelay?

    init(_ request: BaseRequest, _ run: RequestRun, owner: RequestOwner?) {
        self.run = run
        accompaniment = Self.accompany(run, of: request)
        if let owner { run.task.bind(to: owner) }
        reports = Self.reportProgress(of: request, run.task)
    }

    /// Calls the closure with the outcome, on the main actor.
    func deliver(_ handler: @escaping @MainActor (TaskOutcome) -> Void) -> RequestTask {
        let task = run.task
        task.whenEnded { outcome in
            MainDelivery.shared.deliver(outcome, of: task, to: handler)
        }
        return task
    }

    /// The delivery of a stored response before the end; `nil` if the policy of the request delivers none.
    var storedDelivery: StoredDelivery? {
        run.task.deliversStored ? StoredDelivery(task: run.task) : nil
    }

    /// The delivery of the stored response of ``CachePolicy/cacheThenLoad`` or ``CachePolicy/httpThenLoad``.
    @MainActor
    struct StoredDelivery {
        fileprivate let task: RequestTask

        /// Calls the closure with the stored response, on the main actor, before the end.
        func deliver(_ handler: @escaping @MainActor (TaskOutcome) -> Void) {
            task.whenStored { [task] outcome in
                MainDelivery.shared.deliver(outcome, of: task) { outcome in
                    // After a cancellation only the end is delivered.
                    if !task.isStopping { handler(outcome) }
                }
            }
        }
    }

    func end(
        _ request: BaseRequest, _ outcome: TaskOutcome, closures: (RequestError?) -> Void
    ) {
        let knowsOfCancel = accompaniment?.close() ?? false
        reports?.flush()
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
        guard !request.allAccessories(of: run.agent).isEmpty else { return nil }
        let relay = AccessoryRelay(request: request, agent: run.agent)
        run.task.observe { relay.take($0) }
        return relay
    }
}
