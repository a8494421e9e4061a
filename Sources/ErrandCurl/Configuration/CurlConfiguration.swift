/// The settings of a ``CurlTransport``, fixed when the transport is created.
///
/// For example:
///
///     var configuration = CurlConfiguration()
///     configuration.connectionsPerHost = 6
///     let agent = RequestAgent(transport: CurlTransport(configuration: configuration))
public struct CurlConfiguration: Sendable, Hashable {
    /// The maximum number of open connections; `nil` and values below 1 mean no limit.
    ///
    /// Default `nil`.
    ///
    /// Requests beyond the limit wait for a connection. ``Timeouts/connect`` includes this wait.
    public var maximumConnections: Int?
    /// The maximum number of open connections to one host and port; `nil` and values below 1 mean no limit.
    ///
    /// Default `nil`.
    ///
    /// A connection with HTTP/2 carries many requests. One whose server accepts no further requests on it (GOAWAY)
    /// does not count while it carries its last ones; ``maximumConnections`` includes it.
    public var connectionsPerHost: Int?
    /// The maximum number of idle connections that are kept for later requests.
    ///
    /// Default 128. Values below 1 count as 1. With several ``loops``, the minimum of 1 applies to
    /// each loop.
    public var idleConnections = 128
    /// The time after which an idle connection is closed; a setting for tests.
    package var idleLifetime = Duration.seconds(118)
    /// Whether a new connection resumes the TLS session of an earlier connection to the same server
    /// with the same trust settings.
    ///
    /// Default `true`.
    ///
    /// Resumption saves about a quarter of the CPU time of a connection on the client, and more on
    /// the server. A server can use it to recognise that two connections belong to one client; turn
    /// it off if that matters.
    public var resumesTLSSessions = true
    /// The number of event loop threads, 1 to 64.
    ///
    /// Default 1. One loop carries about 25,000 requests per second over TLS.
    ///
    /// Raise it if one core is not enough and other cores are idle. Each loop has its own
    /// connections and TLS sessions, and its share of ``maximumConnections`` and
    /// ``idleConnections``. The number of loops never exceeds the lower of these two limits.
    /// Requests that may share a connection (HTTP/2) go to one loop per host, and so do all
    /// requests if ``connectionsPerHost`` is set. Other requests go to the loop with the fewest
    /// transfers.
    public var loops = 1
    /// The transport's name in events and errors, and the name of the loop thread.
    ///
    /// Default `curl`.
    public var name = "curl"

    /// Creates a configuration with the default of each property.
    public init() {}

    /// The number of loops after the limits are applied: each loop needs a limit of at least one.
    package var effectiveLoops: Int {
        let limits = [maximumConnections, idleConnections].compactMap { $0 }.filter { $0 > 0 }
        return max(1, min(loops, 64, limits.min() ?? 64))
    }

    /// The configuration of one of several loops, with its share of the limits.
    package func part(_ index: Int, of count: Int) -> CurlConfiguration {
        guard count > 1 else { return self }
        var part = self
        part.maximumConnections = LoopChoice.part(
            of: maximumConnections, index: index, count: count)
        part.idleConnections =
            LoopChoice.part(of: idleConnections, index: index, count: count) ?? idleConnections
        return part
    }
}
