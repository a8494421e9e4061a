/// The settings of a ``CurlTransport`` that hold for its whole life.
///
/// For example:
///
///     var configuration = CurlConfiguration()
///     configuration.connectionsPerHost = 6
///     let agent = RequestAgent(transport: CurlTransport(configuration: configuration))
public struct CurlConfiguration: Sendable, Hashable {
    /// How many connections may be open at once in all; `nil` has no limit.
    ///
    /// Default none.
    ///
    /// Requests beyond it wait for a connection; ``Timeouts/connect`` counts while they do.
    public var maximumConnections: Int?
    /// How many connections may be open at once to one host; `nil` has no limit.
    ///
    /// Default none.
    public var connectionsPerHost: Int?
    /// How many idle connections are kept for later requests.
    ///
    /// Default 128.
    public var idleConnections = 128
    /// Whether a new connection takes up the TLS session of an earlier one to the same server, with the same trust.
    ///
    /// Default true.
    ///
    /// It saves a third of a handshake's CPU time here, more at the server. A server can tell by it that two
    /// connections come from one client; turn it off where that matters.
    public var resumesTLSSessions = true
    /// The name in events and errors, and of the loop's thread.
    ///
    /// Default `curl`.
    public var name = "curl"

    /// Makes a configuration with the defaults that each property names.
    public init() {}
}
