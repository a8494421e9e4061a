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
    /// Default 128; what is less than 1 counts as 1, for each of ``loops``.
    public var idleConnections = 128
    /// Whether a new connection takes up the TLS session of an earlier one to the same server, with the same trust.
    ///
    /// Default true.
    ///
    /// It saves a quarter of a connection's CPU time here, more at the server. A server can tell by it that two
    /// connections come from one client; turn it off where that matters.
    public var resumesTLSSessions = true
    /// How many threads share the work, 1 to 64.
    ///
    /// Default 1, which carries some 25,000 requests a second over TLS, and asks least of a machine.
    ///
    /// Worth raising where one core is not enough and others have nothing to do. Each has connections and TLS sessions
    /// of its own, and its part of ``maximumConnections`` and ``idleConnections``; there are no more of them than the
    /// lower of these allows. Requests that may share a connection (HTTP/2) go to one thread for each host, and so does
    /// everything where ``connectionsPerHost`` is set; others to the least busy one.
    public var loops = 1
    /// The name in events and errors, and of the loop's thread.
    ///
    /// Default `curl`.
    public var name = "curl"

    /// Makes a configuration with the defaults that each property names.
    public init() {}

    /// How many loops there are in fact: a limit cannot be less than one for each.
    package var effectiveLoops: Int {
        let limits = [maximumConnections, idleConnections].compactMap { $0 }.filter { $0 > 0 }
        return max(1, min(loops, 64, limits.min() ?? 64))
    }

    /// What one of several loops may do.
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
