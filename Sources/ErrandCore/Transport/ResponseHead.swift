public import HTTPTypes

/// The head of an answer.
public struct ResponseHead: Sendable, Hashable {
    /// The status.
    public var status: HTTPResponse.Status
    /// The headers, in order, as many times as they came.
    public var headers: HTTPFields
    /// The version spoken; `nil` where the transport cannot tell.
    public var httpVersion: HTTPVersion?
    /// The peer's address as `IP:port`; `nil` where the transport cannot tell.
    public var remoteAddress: String?
    /// How many bytes of body are announced, after decoding; `nil` when unknown, and for an encoded body.
    public var contentLength: Int64?

    /// Makes a head.
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

/// How a transfer ended.
public struct TransferEnd: Sendable {
    /// Why it failed; `nil` when the answer is complete.
    public var error: RequestError?
    /// What it cost.
    public var timings: AttemptTimings
    /// Header fields behind the body.
    public var trailers: HTTPFields

    /// Makes an end.
    public init(
        error: RequestError? = nil, timings: AttemptTimings = AttemptTimings(),
        trailers: HTTPFields = [:]
    ) {
        self.error = error
        self.timings = timings
        self.trailers = trailers
    }
}
