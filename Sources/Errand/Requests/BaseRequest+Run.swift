import ErrandCore
import ErrandSystem

/// One run of a request: its task, and the agent that performs it.
nonisolated struct RequestRun: Sendable {
    let task: RequestTask
    let agent: RequestAgent
}

/// The description of a request whose accessories and hooks were notified of the start, and the agent
/// that will perform it.
nonisolated struct PreparedRequest: Sendable {
    var description: RequestDescription
    let agent: RequestAgent
}

extension BaseRequest {
    /// The agent of the next run.
    ///
    /// - Parameter named: The agent at the call, which takes precedence over the endpoint's.
    nonisolated func agent(atCall named: RequestAgent?) -> RequestAgent {
        named ?? assignedAgent ?? agent
    }

    /// Notifies accessories and the endpoint, describes the request, and starts it on its agent.
    nonisolated func begin(on named: RequestAgent? = nil) -> RequestRun {
        let description = announce(named)
        // Read after `willStart`, which may change what the endpoint's agent depends on.
        let agent = agent(atCall: named)
        let run = RequestRun(task: agent.start(consume description), agent: agent)
        task = run.task
        return run
    }

    /// Notifies accessories and the endpoint, and describes the request; sends nothing.
    nonisolated func prepare(on named: RequestAgent?) -> PreparedRequest {
        let description = announce(named)
        return PreparedRequest(description: description, agent: agent(atCall: named))
    }

    /// Starts the request with a description of ``prepare(on:)``.
    nonisolated func start(_ prepared: consuming PreparedRequest) -> RequestRun {
        let agent = prepared.agent
        let run = RequestRun(task: agent.start(prepared.description), agent: agent)
        task = run.task
        return run
    }

    /// Prepares the request like ``begin(on:)``, for a caller that performs it in its own Swift task.
    ///
    /// Outlined to keep the caller's async frame small (decision 10).
    @inline(never)
    nonisolated func enlist(on named: RequestAgent? = nil) -> RequestRun {
        let description = announce(named)
        let agent = agent(atCall: named)
        let run = RequestRun(task: agent.enlist(consume description), agent: agent)
        task = run.task
        return run
    }

    /// Prepares the request of one page or of a stream, whose description is changed after ``Configuration/prepare``.
    @inline(never)  // decision 10
    nonisolated func enlist(
        on named: RequestAgent?,
        changing change: (inout RequestDescription, Configuration) -> Void
    ) -> RequestRun {
        var description = announce(named)
        let agent = agent(atCall: named)
        let configuration = agent.configuration
        description.prepare(by: configuration)
        change(&description, configuration)
        let run = RequestRun(task: agent.enlist(consume description), agent: agent)
        task = run.task
        return run
    }

    /// Notifies the accessories and the endpoint of the start, then describes the request.
    nonisolated private func announce(_ named: RequestAgent?) -> RequestDescription {
        notify(.willStart, by: agent(atCall: named))
        willStart()
        return makeDescription()
    }

    /// Delivers the end of a run that was performed in the caller's Swift task; returns its outcome.
    nonisolated func end(_ run: RequestRun) -> TaskOutcome {
        flushProgress()
        let outcome = run.task.finalOutcome
        end(outcome, of: run) { _ in }
        return outcome
    }

    /// Delivers the end of a run that was performed in the caller's Swift task; returns its response.
    @inline(never)  // decision 10
    nonisolated func response(ofEnded run: RequestRun) throws(RequestError) -> Response {
        try end(run).result.get()
    }

    /// Delivers the end of a run, in the documented order: `requestWillStop` of the accessories, hook,
    /// delegate, attached closures, the closures given to `start`, `requestDidStop` of the accessories.
    ///
    /// - Parameter isAccompanied: Whether the accessories have been notified of a cancellation; otherwise they are
    ///   now.
    nonisolated func end(
        _ outcome: TaskOutcome, of run: RequestRun, isAccompanied: Bool = false,
        closures: (RequestError?) -> Void
    ) {
        end(
            outcome, of: run.task, by: run.agent, isAccompanied: isAccompanied, closures: closures)
    }

    /// Delivers the end of a run; `task` is `nil` for a member of a composite that was described and not started.
    nonisolated func end(
        _ outcome: TaskOutcome, of ended: RequestTask?, by agent: RequestAgent,
        isAccompanied: Bool = false, closures: (RequestError?) -> Void
    ) {
        // A later start of the same object has a task of its own.
        if let ended, task === ended { task = nil }
        take(outcome)
        // Copies: a callback may change them, or start the request again.
        let accessories = allAccessories(of: agent)
        let attached = (success: attachedSuccess, failure: attachedFailure)
        attachedSuccess = nil
        attachedFailure = nil
        attachedProgress = nil
        if !isAccompanied, case .failure(let error) = outcome.result, error.isCancellation {
            for accessory in accessories { accessory.notify(.willCancel, of: self) }
        }
        for accessory in accessories { accessory.notify(.willStop, of: self) }
        switch outcome.result {
        case .success:
            didFinish()
            delegate?.requestDidFinish(self)
            attached.success?(self)
            closures(nil)
        case .failure(let error):
            didFail()
            delegate?.requestDidFail(self, error)
            attached.failure?(self, error)
            closures(error)
        }
        for accessory in accessories { accessory.notify(.didStop, of: self) }
    }

    /// Stores the outcome of a run.
    nonisolated func take(_ outcome: TaskOutcome) {
        storedOutput = outcome.output
        switch outcome.result {
        case .success(let response):
            self.response = response
            error = nil
        case .failure(let error):
            response = error.response
            self.error = error
        }
    }
}

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
                    if !task.scope.isCancelled { handler(outcome) }
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
        progress = request.relayProgress(of: run.task)
    }

    func end(
        _ run: RequestRun, of request: BaseRequest, _ outcome: TaskOutcome,
        closures: (RequestError?) -> Void
    ) {
        let knowsOfCancel = accessories?.close() ?? false
        progress?.flush()
        request.end(outcome, of: run, isAccompanied: knowsOfCancel, closures: closures)
    }
}
