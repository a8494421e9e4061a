public import ErrandHTTP

/// The transport options of one endpoint that differ from ``Configuration/transportOptions``.
///
/// `nil`, the default of every property, uses the configuration's value. Options that decide which server is
/// reached, such as addresses and Unix sockets, can only be set for an agent, because responses and cookies
/// are stored by URL.
public struct TransportOverrides: Sendable, Hashable {
    /// The HTTP version.
    public var httpVersion: TransportOptions.HTTPVersionPolicy? {
        get { shared?.value.httpVersion }
        set { fields.httpVersion = newValue }
    }
    /// Whether gzip, deflate, br and zstd are requested and decoded.
    public var decodesContent: Bool? {
        get { shared?.value.decodesContent }
        set { fields.decodesContent = newValue }
    }
    /// The maximum size of a body in bytes, after decoding; `Int64.max` removes the configuration's limit.
    public var maximumBodyBytes: Int64? {
        get { shared?.value.maximumBodyBytes }
        set { fields.maximumBodyBytes = newValue }
    }
    /// The maximum size of a body that is collected in memory, in bytes.
    public var maximumBytesInMemory: Int64? {
        get { shared?.value.maximumBytesInMemory }
        set { fields.maximumBytesInMemory = newValue }
    }
    /// The maximum ratio of the decoded to the encoded size of a body.
    public var maximumDecodingRatio: Int? {
        get { shared?.value.maximumDecodingRatio }
        set { fields.maximumDecodingRatio = newValue }
    }
    /// The maximum size of a response head in bytes.
    public var maximumHeadBytes: Int? {
        get { shared?.value.maximumHeadBytes }
        set { fields.maximumHeadBytes = newValue }
    }
    /// The proxy.
    public var proxy: TransportOptions.ProxyPolicy? {
        get { shared?.value.proxy }
        set { fields.proxy = newValue }
    }
    /// The TLS policy for an `https://` proxy.
    public var proxySecurity: SecurityPolicy? {
        get { shared?.value.proxySecurity }
        set { fields.proxySecurity = newValue }
    }
    /// The IP address family.
    public var addressFamily: TransportOptions.AddressFamily? {
        get { shared?.value.addressFamily }
        set { fields.addressFamily = newValue }
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

    // One reference, because descriptions are copied often and most have no overrides (decision 10).
    private var shared: Shared<Fields>?

    /// Creates overrides of the given options; all other options keep the configuration's value.
    public init(
        httpVersion: TransportOptions.HTTPVersionPolicy? = nil, decodesContent: Bool? = nil
    ) {
        guard httpVersion != nil || decodesContent != nil else { return }
        shared = Shared(Fields(httpVersion: httpVersion, decodesContent: decodesContent))
    }

    private var fields: Fields {
        get { shared?.value ?? Fields() }
        set { shared = newValue == Fields() ? nil : Shared(newValue) }
    }

    /// Whether no option is set.
    package var isEmpty: Bool { shared == nil }

    /// Whether all values are equal.
    public static func == (one: Self, other: Self) -> Bool {
        one.fields == other.fields
    }

    /// Hashes all values.
    public func hash(into hasher: inout Hasher) { hasher.combine(fields) }

    /// Replaces the options that are set here.
    package func apply(to options: inout TransportOptions) {
        guard let own = shared?.value else { return }
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
