public import HTTPTypes

/// One exchange, ready for the wire: everything checked, joined and encoded.
public struct TransportRequest: Sendable {
    /// The method: a token.
    public var method: HTTPMethod
    /// Where to: absolute, http or https, no user info, no fragment.
    public var url: URI
    /// The headers to send, in order.
    ///
    /// `Host`, `Content-Length` and `Transfer-Encoding` are the transport's.
    public var headers: HTTPFields
    /// The body; `nil` sends none.
    ///
    /// A body with zero bytes sends `Content-Length: 0`.
    public var body: HTTPBody?
    /// Limits of connecting and of silence, exact to the millisecond.
    ///
    /// The agent looks after the total.
    public var timeouts: Timeouts
    /// What else the transport should know.
    public var options: TransportOptions

    /// Makes a request for the wire.
    public init(
        method: HTTPMethod = .get, url: URI, headers: HTTPFields = [:], body: HTTPBody? = nil,
        timeouts: Timeouts = Timeouts(), options: TransportOptions = TransportOptions()
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeouts = timeouts
        self.options = options
    }
}
