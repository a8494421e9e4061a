public import HTTPTypes

/// The status and the headers of a response.
public struct ResponseHead: Sendable, Hashable {
    /// The status.
    public var status: HTTPResponse.Status
    /// The header fields in the order received; repeated fields are kept.
    public var headers: HTTPFields
    /// The HTTP version of the response; `nil` if the transport does not know it.
    public var httpVersion: HTTPVersion?
    /// The peer's address as `IP:port`; `nil` if the transport does not know it.
    public var remoteAddress: String?
    /// The number of body bytes after decoding; `nil` if unknown, and for an encoded body.
    public var contentLength: Int64?
    /// Whether the transport delivers the body without the codings of `Content-Encoding` (default false).
    ///
    /// Then ``headers`` are still those received, and a `Response` has neither `Content-Encoding` nor
    /// `Content-Length`, which describe the encoded bytes.
    public var isDecoded = false

    /// Creates a head.
    @inlinable
    public init(
        status: HTTPResponse.Status, headers: HTTPFields = [:], httpVersion: HTTPVersion? = nil,
        remoteAddress: String? = nil, contentLength: Int64? = nil
    ) {
        self.status = status
        self.headers = headers
        self.httpVersion = httpVersion
        self.remoteAddress = remoteAddress
        self.contentLength = contentLength
    }
}

/// The end of a transfer: a complete response or an error.
public struct TransferEnd: Sendable {
    /// The error; `nil` if the response is complete.
    public var error: RequestError?
    /// The time at which each phase of the transfer ended.
    public var timings: AttemptTimings
    /// The trailer fields after the body (RFC 9110 §6.5).
    public var trailers: HTTPFields

    /// Creates an end.
    @inlinable
    public init(
        error: RequestError? = nil, timings: AttemptTimings = AttemptTimings(),
        trailers: HTTPFields = HTTPFields()
    ) {
        self.error = error
        self.timings = timings
        self.trailers = trailers
    }
}

extension ResponseHead: CustomStringConvertible, CustomReflectable {
    /// The status and the number of header fields.
    public var description: String { "status \(status.code), \(headers.count) header fields" }

    /// The parts of the head, without the values of secret headers.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": status.code, "headers": headers.redacted,
                "httpVersion": httpVersion as Any, "remoteAddress": remoteAddress as Any,
                "contentLength": contentLength as Any, "isDecoded": isDecoded,
            ])
    }
}

extension TransferEnd: CustomReflectable {
    /// The parts of the end, without the values of secret trailers.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["error": error as Any, "timings": timings, "trailers": trailers.redacted],
            displayStyle: .struct)
    }
}
