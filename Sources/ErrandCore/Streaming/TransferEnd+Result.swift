package import ErrandTransport

extension TransferEnd {
    /// The result of a streamed request after its transfer.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - received: The number of bytes of the body that have arrived.
    package func result(
        of head: Response, _ received: Int64
    ) -> Result<Response, RequestError> {
        var response = head
        response.trailers = trailers
        response.timings = head.timings.dropLast() + [timings]
        guard var error else { return .success(response) }
        error.response = response
        error.timings = timings
        error.attempts = response.attempts
        error.bytesReceived = received
        if !error.isCancellation {
            error.message += " The stream was interrupted after \(received) bytes of its body."
        }
        return .failure(error)
    }
}
