package import ErrandSystem
package import ErrandTransport

/// A listener that also observes each transfer and may add headers to it; `ErrandObservability` implements it.
package protocol RequestInstrument: RequestEventListener {
    /// Called when a task is created, on the thread that starts it and with the task-local values there.
    ///
    /// Metadata that it attaches is in the events and in the description that ``willSend`` receives.
    func willStart(_ description: inout RequestDescription)

    /// Called before each transfer: of an attempt, of a redirect, or with refreshed credentials.
    ///
    /// Headers that it adds belong to this transfer only: they are not in the cache key, and a redirect does not send
    /// them to another origin.
    ///
    /// - Returns: A closure that is called once at the end of the transfer, with the response head if there was one.
    func willSend(
        _ request: inout TransportRequest, attempt: Int, of description: RequestDescription,
        _ configuration: Configuration, over transport: any Transport
    ) -> TransferObserver?
}

/// A listener that keeps what each request does; it receives the events of requests of which a capture observes them.
package protocol CapturingListener: AnyObject, RequestEventListener {
    /// Called when a task is created; metadata that it attaches is in the events.
    func willStart(_ description: inout RequestDescription, as id: UUID) -> any RequestCapture
}
