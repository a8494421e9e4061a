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
    /// The name in events and errors, and of the loop's thread.
    ///
    /// Default `curl`.
    public var name = "curl"

    /// Makes a configuration with the defaults that each property names.
    public init() {}
}
