/// How one endpoint is carried, where that differs from ``Configuration/transport``.
///
/// What is `nil`, the default of each, is the configuration's. What says who the server is, such as addresses and Unix
/// sockets, belongs to an agent and is not here: answers are stored, and cookies kept, by URL.
public struct TransportOverrides: Sendable, Hashable {
    /// The version to speak.
    public var httpVersion: TransportOptions.HTTPVersionPolicy? {
        get { shared.value.httpVersion }
        set { shared = shared.changed { $0.httpVersion = newValue } }
    }
    /// Whether gzip, deflate, br and zstd are asked for and decoded.
    public var decodesContent: Bool? {
        get { shared.value.decodesContent }
        set { shared = shared.changed { $0.decodesContent = newValue } }
    }
    /// The largest body in bytes, after decoding; `Int64.max` lifts the configuration's limit.
    public var maximumBodyBytes: Int64? {
        get { shared.value.maximumBodyBytes }
        set { shared = shared.changed { $0.maximumBodyBytes = newValue } }
    }
    /// The largest body that is collected in memory, in bytes.
    public var maximumBytesInMemory: Int64? {
        get { shared.value.maximumBytesInMemory }
        set { shared = shared.changed { $0.maximumBytesInMemory = newValue } }
    }
    /// How many times larger than its encoded form a decoded body may be.
    public var maximumDecodingRatio: Int? {
        get { shared.value.maximumDecodingRatio }
        set { shared = shared.changed { $0.maximumDecodingRatio = newValue } }
    }
    /// The largest head in bytes.
    public var maximumHeadBytes: Int? {
        get { shared.value.maximumHeadBytes }
        set { shared = shared.changed { $0.maximumHeadBytes = newValue } }
    }
    /// Which proxy to use.
    public var proxy: TransportOptions.ProxyPolicy? {
        get { shared.value.proxy }
        set { shared = shared.changed { $0.proxy = newValue } }
    }
    /// Whom to trust as an `https://` proxy and what to show it.
    public var proxySecurity: SecurityPolicy? {
        get { shared.value.proxySecurity }
        set { shared = shared.changed { $0.proxySecurity = newValue } }
    }
    /// Which kind of IP address to use.
    public var addressFamily: TransportOptions.AddressFamily? {
        get { shared.value.addressFamily }
        set { shared = shared.changed { $0.addressFamily = newValue } }
    }

    private struct Fields: Sendable, Hashable {
        var httpVersion: TransportOptions.HTTPVersionPolicy?
        var decodesContent: Bool?
        var maximumBodyBytes: Int64?
        var maximumBytesInMemory: Int64?
        var maximumDecodingRatio: Int?
        var maximumHeadBytes: Int?
        var proxy: TransportOptions.ProxyPolicy?
        var proxySecurity: SecurityPolicy?
        var addressFamily: TransportOptions.AddressFamily?
    }

    // Descriptions are copied on their way; most of them have none of this.
    private var shared = Shared(Fields())

    /// Makes overrides that change nothing but what is given.
    public init(
        httpVersion: TransportOptions.HTTPVersionPolicy? = nil, decodesContent: Bool? = nil
    ) {
        guard httpVersion != nil || decodesContent != nil else { return }
        shared = Shared(Fields(httpVersion: httpVersion, decodesContent: decodesContent))
    }

    /// Whether all values are the same.
    public static func == (one: Self, other: Self) -> Bool {
        one.shared === other.shared || one.shared.value == other.shared.value
    }

    /// Hashes all values.
    public func hash(into hasher: inout Hasher) { hasher.combine(shared.value) }

    /// Puts what is set in the place of the configuration's.
    func apply(to options: inout TransportOptions) {
        let own = shared.value
        if let value = own.httpVersion { options.httpVersion = value }
        if let value = own.decodesContent { options.decodesContent = value }
        if let value = own.maximumBodyBytes { options.maximumBodyBytes = value }
        if let value = own.maximumBytesInMemory { options.maximumBytesInMemory = value }
        if let value = own.maximumDecodingRatio { options.maximumDecodingRatio = value }
        if let value = own.maximumHeadBytes { options.maximumHeadBytes = value }
        if let value = own.proxy { options.proxy = value }
        if let value = own.proxySecurity { options.proxySecurity = value }
        if let value = own.addressFamily { options.addressFamily = value }
    }
}
