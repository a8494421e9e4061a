public import HTTPTypes

/// A complete, validated and encoded request, as a transport receives it.
public struct TransportRequest: Sendable {
    /// The method; a valid token.
    public var method: HTTPMethod {
        @inlinable get { shared.value.method }
        set { change { $0.method = newValue } }
    }
    /// The URL: absolute, http or https, without user info and fragment.
    public var url: URI {
        @inlinable get { shared.value.url }
        set { change { $0.url = newValue } }
    }
    /// The header fields to send, in order.
    ///
    /// The transport adds `Host`, `Content-Length` and `Transfer-Encoding`.
    public var headers: HTTPFields {
        @inlinable get { shared.value.headers }
        set { change { $0.headers = newValue } }
    }
    /// The body; `nil` sends no body.
    ///
    /// An empty body sends `Content-Length: 0`.
    public var body: HTTPBody? {
        @inlinable get { shared.value.body }
        set { change { $0.body = newValue } }
    }
    /// The time limits, exact to the millisecond.
    ///
    /// The transport enforces the connect and idle limits; the agent enforces the total.
    public var timeouts: Timeouts {
        @inlinable get { shared.value.timeouts }
        set { change { $0.timeouts = newValue } }
    }
    /// The transport options.
    public var options: TransportOptions {
        @inlinable get { shared.value.options }
        set { change { $0.options = newValue } }
    }

    // Parts of the URL, read without a copy of the whole.

    /// The URL's host.
    package var host: String? { shared.value.url.host }

    /// Whether the URL is absolute, with scheme http or https.
    package var isAbsoluteHTTP: Bool { shared.value.url.isAbsoluteHTTP }

    /// Whether the URL's scheme is https.
    package var isSecure: Bool { shared.value.url.scheme == "https" }

    @usableFromInline
    struct Fields: Sendable {
        @usableFromInline var method: HTTPMethod
        @usableFromInline var url: URI
        @usableFromInline var headers: HTTPFields
        @usableFromInline var body: HTTPBody?
        @usableFromInline var timeouts: Timeouts
        @usableFromInline var options: TransportOptions
    }

    // One reference, because a request is held by many suspended steps and a transfer (decision 10).
    @usableFromInline var shared: Shared<Fields>

    private mutating func change(_ change: (inout Fields) -> Void) {
        shared = shared.changed(change)
    }

    /// Creates a request for a transport.
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

extension TransportRequest: CustomStringConvertible {
    /// The method and the URL without its query; ``curlCommand(redactsSecrets:)`` contains more.
    public var description: String { "\(method) \(url.redacted)" }
}
