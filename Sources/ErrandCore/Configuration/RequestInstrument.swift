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

    /// Returns what happens in place of a transfer; `nil` sends the request.
    ///
    /// Called after ``willSend(_:attempt:of:_:over:)`` with its request. The pipeline treats the result as that of the
    /// transport.
    func intervention(
        in request: TransportRequest, of description: RequestDescription
    ) -> TransferIntervention?
}

/// Takes the place of a transfer, and may call its argument once, which sends the request.
///
/// It runs in a Swift task that is cancelled with the request.
package typealias TransferIntervention =
    @Sendable (@Sendable () async throws(RequestError) -> Response) async throws -> Response

/// Receives the response, without a streamed body, and the end of a transfer.
package typealias TransferObserver = @Sendable (Response?, TransferEnd) -> Void

extension RequestInstrument {
    /// Changes nothing.
    package func willStart(_ description: inout RequestDescription) {}

    /// Sends the request.
    package func intervention(
        in request: TransportRequest, of description: RequestDescription
    ) -> TransferIntervention? { nil }
}
