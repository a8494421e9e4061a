extension BaseRequest {
    /// Notifies accessories and the endpoint, describes the request, and starts it on its agent.
    nonisolated package func begin() -> RequestTask {
        // Read after `willStart`, which may set the agent.
        let description = announce()
        return (agent ?? .shared).start(consume description)
    }

    /// Prepares the request like ``begin()``, for a caller that performs it in its own Swift task.
    nonisolated func enlist() -> (RequestTask, RequestAgent) {
        let description = announce()
        let agent = agent ?? .shared
        return (agent.enlist(consume description), agent)
    }

    /// Notifies the accessories and the endpoint of the start, then describes the request.
    nonisolated func announce() -> RequestDescription {
        for accessory in allAccessories { accessory.requestWillStart(self) }
        willStart()
        return describe()
    }

    /// Delivers the end of a run, in the documented order: `requestWillStop` of the accessories, hook,
    /// delegate, attached closures, the closures given to `start`, `requestDidStop` of the accessories.
    ///
    /// - Parameter isAccompanied: Whether the accessories have been notified of a cancellation; otherwise they are
    ///   now.
    nonisolated package func end(
        _ outcome: TaskOutcome, isAccompanied: Bool = false, closures: (RequestError?) -> Void
    ) {
        take(outcome)
        // Copies: a callback may change them, or start the request again.
        let accessories = allAccessories
        let attached = (success: attachedSuccess, failure: attachedFailure)
        attachedSuccess = nil
        attachedFailure = nil
        if !isAccompanied, case .failure(let error) = outcome.result, error.isCancellation {
            for accessory in accessories { accessory.requestWillCancel(self) }
        }
        for accessory in accessories { accessory.requestWillStop(self) }
        switch outcome.result {
        case .success:
            didFinish()
            delegate?.requestFinished(self)
            attached.success?(self)
            closures(nil)
        case .failure(let error):
            didFail()
            delegate?.requestFailed(self)
            attached.failure?(self, error)
            closures(error)
        }
        for accessory in accessories { accessory.requestDidStop(self) }
    }
}
