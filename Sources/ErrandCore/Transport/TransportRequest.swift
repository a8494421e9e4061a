public import HTTPTypes

/// One exchange, ready for the wire: everything checked, joined and encoded.
public struct TransportRequest: Sendable {
    /// The method: a token.
    public var method: HTTPMethod {
        get { shared.value.method }
        set { change { $0.method = newValue } }
    }
    /// Where to: absolute, http or https, no user info, no fragment.
    public var url: URI {
        get { shared.value.url }
        set { change { $0.url = newValue } }
    }
    /// The headers to send, in order.
    ///
    /// `Host`, `Content-Length` and `Transfer-Encoding` are the transport's.
    public var headers: HTTPFields {
        get { shared.value.headers }
        set { change { $0.headers = newValue } }
    }
    /// The body; `nil` sends none.
    ///
    /// A body with zero bytes sends `Content-Length: 0`.
    public var body: HTTPBody? {
        get { shared.value.body }
        set { change { $0.body = newValue } }
    }
    /// Limits of connecting and of silence, exact to the millisecond.
    ///
    /// The agent looks after the total.
    public var timeouts: Timeouts {
        get { shared.value.timeouts }
        set { change { $0.timeouts = newValue } }
    }
    /// What else the transport should know.
    public var options: TransportOptions {
        get { shared.value.options }
        set { change { $0.options = newValue } }
    }

    // Parts of the address without a copy of the whole.

    /// The address's host.
    package var host: String? { shared.value.url.host }

    /// Whether the address is complete.
    package var isAbsoluteHTTP: Bool { shared.value.url.isAbsoluteHTTP }

    /// Whether it goes out over TLS.
    package var isSecure: Bool { shared.value.url.scheme == "https" }

    private struct Fields: Sendable {
        var method: HTTPMethod
        var url: URI
        var headers: HTTPFields
        var body: HTTPBody?
        var timeouts: Timeouts
        var options: TransportOptions
    }

    // A dozen suspended steps and a transfer hold one each; see Shared.
    private var shared: Shared<Fields>

    private mutating func change(_ change: (inout Fields) -> Void) {
        shared = shared.changed(change)
    }

    /// Makes a request for the wire.
    public init(
        method: HTTPMethod = .get, url: URI, headers: HTTPFields = [:], body: HTTPBody? = nil,
        timeouts: Timeouts = Timeouts(), options: TransportOptions = TransportOptions()
    ) {
        shared = Shared(
            Fields(
                method: method, url: url, headers: headers, body: body, timeouts: timeouts,
                options: options))
    }
}
