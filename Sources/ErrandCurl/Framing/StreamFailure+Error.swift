import ErrandTransport

// The errors that requests get.
extension StreamFailure {
    /// The error of a request whose stream has ended; `nil` if its response is complete.
    ///
    /// - Parameter hasHead: Whether the head of the response has arrived.
    func error(host: String, hasHead: Bool) -> RequestError? {
        switch self {
        case .complete: nil
        case .unprocessed(let code):
            Self.unprocessed(
                "\(host) refused the request without processing it (\(code)). Try again.")
        case .requiresHTTP11:
            RequestError(
                .badServerResponse, stage: .transport,
                "\(host) requires HTTP/1.1 for the request (HTTP_1_1_REQUIRED). Use .http11.")
        case .reset(let code):
            RequestError(
                .connectionLost, stage: .transport,
                "\(host) ended the HTTP/2 stream (\(code)) before the response "
                    + "\(hasHead ? "was complete" : "arrived"). Try again.")
        case .malformed(let fault):
            RequestError(
                .badServerResponse, stage: .transport,
                "The server's response is invalid. \(fault.message)")
        case .tooLarge(let limit):
            RequestError(
                .badServerResponse, stage: .transport,
                "The server's response is invalid. \(HeadParseError.tooLarge(limit: limit).message)"
            )
        case .truncated:
            RequestError(
                .truncatedBody, stage: .transport,
                "The response body from \(host) is incomplete: the HTTP/2 stream ended too early. Try again."
            )
        case .fault(let fault): fault.error(host: host)
        }
    }

    private static func unprocessed(_ message: String) -> RequestError {
        var error = RequestError(.connectionLost, stage: .transport, message)
        error.isUnprocessed = true
        return error
    }
}

extension SessionFault {
    /// The error of the requests of a connection that has ended with the fault.
    func error(host: String) -> RequestError {
        RequestError(
            .badServerResponse, stage: .transport,
            "\(host) broke the rules of HTTP/2 (\(code)). \(message) Check the server, or use .http11."
        )
    }
}
