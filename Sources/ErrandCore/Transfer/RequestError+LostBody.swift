import ErrandTransport

extension RequestError {
    /// The response whose head arrived before the error, if only its body is lost.
    ///
    /// A redirect that is followed, and a 401 after which the request is sent with other credentials, need no body. Its
    /// connection was closed.
    var responseWithLostBody: Response? {
        switch code {
        case .truncatedBody, .badContentEncoding, .bodyTooLarge, .connectionLost,
            .badServerResponse:
            response
        case .timedOut where timeout == .idle: response
        default: nil
        }
    }
}
