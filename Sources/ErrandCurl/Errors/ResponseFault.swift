package import ErrandTransport

/// The reason why the response on an HTTP/1.1 connection is malformed or incomplete.
package enum ResponseFault: Error, Sendable, Hashable {
    /// A head is malformed or too large.
    case head(HeadParseError)
    /// The first bytes are not those of a status line.
    case notHTTP
    /// The chunk framing of the body is malformed.
    case malformedChunk
    /// A line after the last chunk is not a field.
    case malformedTrailer
    /// The connection was closed before the first byte of a response.
    case noResponse
    /// The connection was closed inside a head, or between an interim response and the final one.
    case truncatedHead
    /// The connection was closed before the end of the body.
    case truncatedBody
    /// The connection was reset before the head was complete.
    case lostBeforeHead
    /// The connection was reset before the body was complete.
    case lostInBody
    /// The server sent data that belongs to no request (RFC 9112 §9.2).
    case unsolicitedData

    /// The code and the message of the error that a request gets.
    package func description(host: String) -> (code: RequestError.Code, message: String) {
        switch self {
        case .head(let error):
            (.badServerResponse, "The server's response is invalid. \(error.message)")
        case .notHTTP:
            (.badServerResponse, "The response from \(host) is not HTTP. Check host and port.")
        case .malformedChunk:
            (
                .badServerResponse,
                "The chunked body from \(host) is malformed, or its extensions exceed maximumHeadBytes."
            )
        case .malformedTrailer:
            (.badServerResponse, "A trailer line in \(host)'s response is not a field.")
        case .noResponse:
            (.connectionLost, "\(host) closed the connection without a response. Try again.")
        case .truncatedHead:
            (.connectionLost, "The connection ended inside the response head. Try again.")
        case .truncatedBody:
            (
                .truncatedBody,
                "The response body from \(host) is incomplete: the connection or the HTTP/2 stream ended too early. "
                    + "Try again."
            )
        case .lostBeforeHead:
            (
                .connectionLost,
                "The connection to \(host) was lost before a response arrived. Try again."
            )
        case .lostInBody:
            (
                .connectionLost,
                "The connection to \(host) was lost before the response was complete. Try again."
            )
        case .unsolicitedData:
            (.badServerResponse, "\(host) sent data that belongs to no request.")
        }
    }

    /// The error that a request gets.
    package func error(host: String) -> RequestError {
        let (code, message) = description(host: host)
        return RequestError(code, stage: .transport, message)
    }
}
