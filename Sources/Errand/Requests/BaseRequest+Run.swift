extension BaseRequest {
    /// Tells the accessories and the endpoint, describes, and hands over to the agent.
    nonisolated package func begin() -> RequestTask {
        // The endpoint may name its agent in `willStart` only.
        let description = announce()
        return (agent ?? .shared).start(consume description)
    }

    /// The same, for whoever carries it out in a Swift task of their own.
    ///
    /// Apart from those: a description is large, and a suspended function keeps room for whatever it names.
    @inline(never)
    nonisolated func enlist() -> (RequestTask, RequestAgent) {
        let description = announce()
        let agent = agent ?? .shared
        return (agent.enlist(consume description), agent)
    }

    /// Tells the accessories and the endpoint that it starts, then describes it.
    nonisolated func announce() -> RequestDescription {
        for accessory in everyAccessory { accessory.requestWillStart(self) }
        willStart()
        return describe()
    }

    /// The one end of a run, in the documented order: will-stop accessories, endpoint, delegate, attached closures,
    /// the closures given to `start`, did-stop accessories.
    ///
    /// - Parameter isAccompanied: Whether the accessories have heard of a cancellation; else they hear of it now.
    nonisolated package func end(
        _ outcome: TaskOutcome, isAccompanied: Bool = false, closures: (RequestError?) -> Void
    ) {
        take(outcome)
        // Copies: whoever is called may change them, or start the request again.
        let accessories = everyAccessory
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
