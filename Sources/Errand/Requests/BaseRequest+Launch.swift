import Dispatch
import ErrandCore

extension BaseRequest {
    /// Starts the request on the main actor and calls a closure with its end, and before with a stored response.
    @MainActor
    func launchRequest(
        on named: RequestAgent?, owner: RequestOwner?, hearsStored: Bool,
        then deliver: @escaping @MainActor (RequestError?) -> Void
    ) -> RequestTask {
        let run = begin(on: named)
        let relays = RunRelays(of: run, self, owner: owner)
        run.task.storedDelivery?.deliver { [self] outcome in
            take(outcome)
            if hearsStored { deliver(outcome.error) }
        }
        run.task.whenEndedOnMainActor { [self] outcome in
            relays.end(run, of: self, outcome, closures: deliver)
        }
        return run.task
    }

    /// Starts a request that the caller gives up, and delivers its end on a queue.
    nonisolated func dispatchRequest(
        on named: RequestAgent?, owner: RequestOwner?, _ queue: DispatchQueue,
        then deliver: @escaping @Sendable (RequestError?) -> Void
    ) -> RequestTask {
        var prepared = prepare(on: named)
        let configuration = prepared.agent.configuration
        prepared.description.prepare(by: configuration)
        if let refusal = prepared.description.refusalOfTwoResponses(
            configuration.cachePolicy, part: "started with a queue")
        {
            prepared.description.mistake = refusal
        }
        let run = start(prepared)
        if let owner { run.task.bind(to: owner) }
        // Safe: the caller has given the request up, and it is used on the queue only.
        nonisolated(unsafe) let request = self
        run.task.whenEnded { outcome in
            queue.async {
                // Last: the closure may take the request to another actor.
                request.end(outcome, of: run) { _ in }
                deliver(outcome.error)
            }
        }
        return run.task
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
                    if !task.context.scope.isCancelled { handler(outcome) }
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
        accessories = .accompanying(request, run.task, by: run.agent)
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
}
