/// The options of a transport.
///
/// They are set in ``Configuration/transportOptions``; an endpoint can override some of them. A transport that
/// does not support an option refuses the request with ``RequestError/Code/unsupported`` before anything is
/// sent. Negative sizes, a decoding ratio, a head or a read size below 1 fail requests with
/// ``RequestError/Code/invalidConfiguration``.
public struct TransportOptions: Sendable, Hashable {
    /// The HTTP version (default ``HTTPVersionPolicy/automatic``: negotiated with the server).
    public var httpVersion: HTTPVersionPolicy {
        get { shared.value.httpVersion }
        set { change { $0.httpVersion = newValue } }
    }
    /// Whether gzip, deflate, br and zstd are requested and decoded (default true).
    ///
    /// On Linux, `URLSessionTransport` requests and accepts them only if the request has a header `Accept-Encoding`.
    public var decodesContent: Bool {
        get { shared.value.decodesContent }
        set { change { $0.decodesContent = newValue } }
    }
    /// The maximum size of a body in bytes, after decoding; `nil`, the default, means no limit.
    public var maximumBodyBytes: Int64? {
        get { shared.value.maximumBodyBytes }
        set { change { $0.maximumBodyBytes = newValue } }
    }
    /// The maximum size of a body that is collected in memory, in bytes (default 256 MiB).
    ///
    /// Of a response that the endpoint refuses by its status or content type, at most 1 MiB is received; the error has
    /// this beginning of the body. Errors: ``RequestError/Code/bodyTooLarge``.
    public var maximumBytesInMemory: Int64 {
        get { shared.value.maximumBytesInMemory }
        set { change { $0.maximumBytesInMemory = newValue } }
    }
    /// The maximum ratio of the decoded to the encoded size of a body (default 200); `nil` means no limit.
    ///
    /// With the default, the ratio is 1000 for the first 4 MiB: a small body is harmless, and repetitive JSON can
    /// come close to that ratio. Any other value applies from the first byte.
    public var maximumDecodingRatio: Int? {
        get { shared.value.maximumDecodingRatio }
        set { change { $0.maximumDecodingRatio = newValue } }
    }
    /// The maximum size of a response head in bytes (default 256 KiB).
    public var maximumHeadBytes: Int {
        get { shared.value.maximumHeadBytes }
        set { change { $0.maximumHeadBytes = newValue } }
    }
    /// The number of bytes per read, if the transport can choose it (default `nil`).
    ///
    /// `nil` means 512 KiB for downloads, which costs a third less CPU for a large body, and the transport's
    /// choice otherwise. `CurlTransport` uses at least 1 KiB and at most 10 MiB.
    public var receiveBufferBytes: Int? {
        get { shared.value.receiveBufferBytes }
        set { change { $0.receiveBufferBytes = newValue } }
    }
    /// Whether the transport may replay a request that the server may have processed (RFC 9110 §9.2.2).
    ///
    /// The agent sets it from the method; it is false for methods that are not idempotent.
    public var mayReplay = false
    /// Whether a body in a content coding that the transport does not know is delivered as received, instead of an
    /// error.
    ///
    /// The agent sets it for endpoints whose format is `.any`: the others need the
    /// decoded text. The response keeps its `Content-Encoding`. `URLSessionTransport` on Linux cannot do this: such a
    /// response is the error ``RequestError/Code/badContentEncoding``.
    public var deliversUnknownCodings = false
    /// Whether the response may be needed before the end of the request's body, because its body is streamed.
    ///
    /// The agent sets it. Ignored by `==`.
    package var isStreamed = false
    /// Whether the request offers another protocol, to which its connection is handed over after 101.
    ///
    /// The agent sets it. Ignored by `==`.
    package var isUpgrade = false
    /// Whether cellular connections may be used (default true); has an effect on Apple platforms only.
    public var allowsCellularAccess = true
    /// The TLS policy for the server; `nil`, the default, uses the system's trust.
    public var security: SecurityPolicy? {
        get { shared.value.security?.policy }
        set { change { $0.security = newValue.map(SharedSecurity.init) } }
    }
    /// The proxy (default ``ProxyPolicy/environment``).
    public var proxy: ProxyPolicy {
        get { shared.value.proxy }
        set { change { $0.proxy = newValue } }
    }
    /// The TLS policy for an `https://` proxy; `nil`, the default, uses the system's trust.
    ///
    /// ``security`` applies to the server. Pins are refused with ``RequestError/Code/unsupported``; trust only the
    /// authority of the proxy instead. Without an `https://` proxy the policy has no effect.
    public var proxySecurity: SecurityPolicy? {
        get { shared.value.proxySecurity?.policy }
        set { change { $0.proxySecurity = newValue.map(SharedSecurity.init) } }
    }
    /// IP addresses to use instead of DNS, by `"host:port"`, or by `"host"` for all ports (default none).
    ///
    /// The Host header and the certificate check still use the URL's host. An HTTP proxy is asked for a tunnel (CONNECT)
    /// to the address, also for `http`.
    public var addressOverrides: [String: [String]] {
        get { shared.value.addressOverrides }
        set { change { $0.addressOverrides = newValue } }
    }
    /// The IP address family (default any).
    public var addressFamily: AddressFamily {
        get { shared.value.addressFamily }
        set { change { $0.addressFamily = newValue } }
    }
    /// The path of a Unix domain socket to connect to instead of the URL's host and port (default none).
    ///
    /// A proxy of the environment is not used. ``ProxyPolicy/url(_:bypass:)`` and ``addressOverrides`` are refused
    /// with ``RequestError/Code/invalidCombination``.
    public var unixSocketPath: String? {
        get { shared.value.unixSocketPath }
        set { change { $0.unixSocketPath = newValue } }
    }

    /// The names of secrets in the request and its response.
    ///
    /// The agent sets it from `Configuration.secretNames`; transports ignore it.
    // Beside the shared storage, which requests of an agent with names of its own would copy.
    package var secretNames = SecretNames.standard

    private struct Fields: Sendable, Hashable {
        var httpVersion: HTTPVersionPolicy = .automatic
        var decodesContent: Bool = true
        var maximumBodyBytes: Int64?
        var maximumBytesInMemory: Int64 = 256 << 20
        var maximumDecodingRatio: Int? = TransportOptions.defaultDecodingRatio
        var maximumHeadBytes: Int = 256 << 10
        var receiveBufferBytes: Int?
        var security: SharedSecurity?
        var proxy: ProxyPolicy = .environment
        var proxySecurity: SharedSecurity?
        var addressOverrides: [String: [String]] = [:]
        var addressFamily: AddressFamily = .any
        var unixSocketPath: String?
    }

    // All requests of an agent share one reference to their common options (decision 10).
    private var shared = Self.defaults

    private static let defaults = Shared(Fields())

    /// Whether the options in the shared storage have their defaults: all except `secretNames` and those of one request.
    ///
    /// A transport can then skip its checks of the single options.
    package var hasDefaults: Bool { shared === Self.defaults }

    /// The storage of ``security``, which costs less to read than a copy.
    package var sharedSecurity: SharedSecurity? { shared.value.security }

    /// The storage of ``proxySecurity``.
    package var sharedProxySecurity: SharedSecurity? { shared.value.proxySecurity }

    /// Whether both have the same shared storage, so that comparing them costs nothing.
    package func hasSameStorage(as other: Self) -> Bool { shared === other.shared }

    private mutating func change(_ change: (inout Fields) -> Void) {
        shared = shared.changed(change)
    }

    /// Whether all values are equal.
    public static func == (one: Self, other: Self) -> Bool {
        one.mayReplay == other.mayReplay && one.areEqualExceptReplay(to: other)
    }

    /// Whether all public options are equal except ``mayReplay``, which depends on the method only.
    package func areEqualExceptReplay(to other: Self) -> Bool {
        deliversUnknownCodings == other.deliversUnknownCodings
            && allowsCellularAccess == other.allowsCellularAccess
            && secretNames == other.secretNames
            && (shared === other.shared || shared.value == other.shared.value)
    }

    /// Hashes all values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(mayReplay)
        hasher.combine(deliversUnknownCodings)
        hasher.combine(allowsCellularAccess)
        hasher.combine(secretNames)
        hasher.combine(shared.value)
    }

    /// Creates options with the defaults of the properties.
    public init() {}

    /// A choice of the HTTP version.
    public enum HTTPVersionPolicy: Sendable, Hashable {
        /// HTTP/2 over TLS if the server supports it, otherwise HTTP/1.1.
        case automatic
        /// HTTP/1.1 only.
        case http11
        /// HTTP/2 over TLS with ALPN; an error if the server does not support it.
        case http2
        /// HTTP/2 without TLS and without an upgrade (prior knowledge, RFC 9113 §3.3).
        case http2PriorKnowledge
    }

    /// A choice of the IP address family.
    public enum AddressFamily: Sendable, Hashable {
        /// IPv4 or IPv6, whichever connects first (RFC 8305).
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }

    /// A choice of the proxy.
    public enum ProxyPolicy: Sendable, Hashable {
        /// The proxy of the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
        ///
        /// `no_proxy` has the entries of ``url(_:bypass:)``, separated by commas or spaces. It is read once.
        case environment
        /// No proxy, even if the environment sets one.
        case none
        /// This proxy: `http://`, `https://`, `socks5://` or `socks5h://`, with optional `user:password@`.
        ///
        /// `bypass` lists hosts that are reached directly. Host names are compared without regard to case.
        ///
        /// | entry | bypasses the proxy |
        /// | --- | --- |
        /// | `example.com`, `.example.com`, `*.example.com` | the host and its subdomains |
        /// | `10.0.0.1`, `::1`, `[::1]` | the address |
        /// | `10.0.0.0/8`, `fd00::/8`, `[fd00::]/8` | the addresses of the network |
        /// | `*` | all hosts |
        /// | `example.com:8443`, `10.0.0.1:8443`, `[::1]:8443`, `*:8443` | the same, for this port only |
        ///
        /// A name in a URL is not looked up, so networks apply to addresses only. An IPv6 address with a zone
        /// (`[fe80::1%25eth0]`) is refused.
        case url(String, bypass: [String] = [])
    }
}
