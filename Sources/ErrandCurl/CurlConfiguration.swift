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
    /// The engine and libcurl count `http` connections separately. Both carry requests to one host only if endpoints
    /// override the HTTP version or the proxy.
    public var connectionsPerHost: Int?
    /// The maximum number of idle connections that are kept for later requests.
    ///
    /// Default 128. Values below 1 count as 1. With several ``loops``, the minimum of 1 applies to
    /// each loop. The HTTP/1.1 engine and libcurl each keep up to this number.
    public var idleConnections = 128
    /// The time after which the own engine closes an idle connection, that of libcurl; a setting for tests.
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
    /// The implementation of HTTP/1.1.
    ///
    /// Default ``HTTP1Engine/own``.
    public var http1Engine = HTTP1Engine.own
    /// The transport's name in events and errors, and the name of the loop thread.
    ///
    /// Default `curl`.
    public var name = "curl"

    /// An implementation of HTTP/1.1.
    public enum HTTP1Engine: Sendable, Hashable {
        /// Errand's own, over connections that libcurl opens.
        ///
        /// libcurl carries HTTP/2, the first request to an `https` origin, `http` requests whose
        /// proxy the environment or a bypass list decides, and all requests if
        /// ``maximumConnections`` is set. If ``connectionsPerHost`` is set, or if libcurl does not use
        /// OpenSSL, it also carries `https` requests that do not require HTTP/1.1.
        case own
        /// libcurl.
        case libcurl
    }

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
