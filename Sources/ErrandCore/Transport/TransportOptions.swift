/// The knobs of a transport, set in ``Configuration/transport`` and overridable where an endpoint has a
/// member for it.
///
/// A transport that lacks what a value asks for refuses the request with ``RequestError/Code/unsupported``
/// before anything is sent.
public struct TransportOptions: Sendable, Hashable {
    /// The version to speak (default ``HTTPVersionPolicy/automatic``: as agreed with the server).
    public var httpVersion: HTTPVersionPolicy {
        get { shared.value.httpVersion }
        set { change { $0.httpVersion = newValue } }
    }
    /// Whether gzip, deflate, br and zstd are asked for and decoded (default true).
    public var decodesContent: Bool {
        get { shared.value.decodesContent }
        set { change { $0.decodesContent = newValue } }
    }
    /// The largest body in bytes, after decoding; `nil` has no limit (default none).
    public var maximumBodyBytes: Int64? {
        get { shared.value.maximumBodyBytes }
        set { change { $0.maximumBodyBytes = newValue } }
    }
    /// The largest body that is collected in memory (default 256 MiB).
    public var maximumBytesInMemory: Int64 {
        get { shared.value.maximumBytesInMemory }
        set { change { $0.maximumBytesInMemory = newValue } }
    }
    /// How many times larger than its encoded form a decoded body may be (default 200).
    ///
    /// The default is 1000 for the first 4 MiB: what is small harms nobody, and regular JSON comes near it. Any other
    /// number holds from the beginning.
    public var maximumDecodingRatio: Int? {
        get { shared.value.maximumDecodingRatio }
        set { change { $0.maximumDecodingRatio = newValue } }
    }
    /// The largest head in bytes (default 256 KiB).
    public var maximumHeadBytes: Int {
        get { shared.value.maximumHeadBytes }
        set { change { $0.maximumHeadBytes = newValue } }
    }
    /// How many bytes are read at once, where the transport can choose; `nil`, the default, is 512 KiB for downloads, which
    /// brings a large body in at a third less cost, and else left to the transport.
    public var receiveBufferBytes: Int? {
        get { shared.value.receiveBufferBytes }
        set { change { $0.receiveBufferBytes = newValue } }
    }
    /// Whether a request that the server may have read can be sent again by itself (RFC 9110 §9.2.2).
    ///
    /// Set by the agent from the method; never true for a method that is not idempotent.
    public var mayReplay = false
    /// Whether a mobile connection may be used; Apple platforms only, elsewhere without effect (row RSQ-5).
    public var allowsCellularAccess = true
    /// Whom to trust and what to show; `nil` trusts what the system trusts.
    public var security: SecurityPolicy? {
        get { shared.value.security }
        set { change { $0.security = newValue } }
    }
    /// Which proxy to use (default ``ProxyPolicy/environment``).
    public var proxy: ProxyPolicy {
        get { shared.value.proxy }
        set { change { $0.proxy = newValue } }
    }
    /// Whom to trust as an `https://` proxy and what to show it; `nil` trusts what the system trusts (default).
    ///
    /// The server behind the proxy is ``security``'s. Pins are refused with ``RequestError/Code/unsupported``: an
    /// authority of the proxy's own does the same.
    public var proxySecurity: SecurityPolicy? {
        get { shared.value.proxySecurity }
        set { change { $0.proxySecurity = newValue } }
    }
    /// Addresses to use in place of DNS: `"host:port"`, or `"host"` for all its ports, to IP addresses.
    ///
    /// Host header and certificate check keep the URL's host.
    public var addressOverrides: [String: [String]] {
        get { shared.value.addressOverrides }
        set { change { $0.addressOverrides = newValue } }
    }
    /// Which kind of IP address to use (default either).
    public var addressFamily: AddressFamily {
        get { shared.value.addressFamily }
        set { change { $0.addressFamily = newValue } }
    }
    /// A Unix socket to connect to in place of host and port.
    public var unixSocketPath: String? {
        get { shared.value.unixSocketPath }
        set { change { $0.unixSocketPath = newValue } }
    }

    private struct Fields: Sendable, Hashable {
        var httpVersion: HTTPVersionPolicy = .automatic
        var decodesContent: Bool = true
        var maximumBodyBytes: Int64?
        var maximumBytesInMemory: Int64 = 256 << 20
        var maximumDecodingRatio: Int? = TransportOptions.usualDecodingRatio
        var maximumHeadBytes: Int = 256 << 10
        var receiveBufferBytes: Int?
        var security: SecurityPolicy?
        var proxy: ProxyPolicy = .environment
        var proxySecurity: SecurityPolicy?
        var addressOverrides: [String: [String]] = [:]
        var addressFamily: AddressFamily = .any
        var unixSocketPath: String?
    }

    // Every request has its own: one reference to what an agent's requests have in common, see Shared.
    private var shared = Self.defaults

    private static let defaults = Shared(Fields())

    /// Whether nothing but what may be replayed, and where, differs from the defaults: then a transport need not ask for
    /// one option after the other.
    package var areUsual: Bool { shared === Self.defaults }

    private mutating func change(_ change: (inout Fields) -> Void) {
        shared = shared.changed(change)
    }

    /// Whether all values are the same.
    public static func == (one: Self, other: Self) -> Bool {
        one.mayReplay == other.mayReplay && one.allowsCellularAccess == other.allowsCellularAccess
            && (one.shared === other.shared || one.shared.value == other.shared.value)
    }

    /// Hashes all values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(mayReplay)
        hasher.combine(allowsCellularAccess)
        hasher.combine(shared.value)
    }

    /// Makes options with the defaults that each property names.
    public init() {}

    /// Which version of HTTP to speak.
    public enum HTTPVersionPolicy: Sendable, Hashable {
        /// HTTP/2 over TLS where the server offers it, else HTTP/1.1.
        case automatic
        /// HTTP/1.1 only.
        case http11
        /// HTTP/2 by ALPN over TLS; an error where the server does not offer it.
        case http2
        /// HTTP/2 without TLS, without asking first (RFC 9113 §3.3).
        case http2PriorKnowledge
    }

    /// Which kind of IP address to use.
    public enum AddressFamily: Sendable, Hashable {
        /// Whichever connects first (RFC 8305).
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }

    /// Which proxy to use.
    public enum ProxyPolicy: Sendable, Hashable {
        /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say.
        case environment
        /// None, whatever the environment says.
        case none
        /// This one: `http://`, `https://`, `socks5://` or `socks5h://`, with `user:password@` where needed.
        ///
        /// Hosts to bypass are names, each with its subdomains (`example.com`, `.example.com` and `*.example.com` are
        /// the same), IP addresses, networks such as `10.0.0.0/8`, or `*` for all; without ports.
        case url(String, bypass: [String] = [])
    }
}
