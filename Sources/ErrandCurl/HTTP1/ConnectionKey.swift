import ErrandTransport

/// The properties that two requests must share to use the same connection.
struct ConnectionKey: Sendable, Hashable {
    /// The host and the port, which ``CurlConfiguration/connectionsPerHost`` limits.
    struct Host: Sendable, Hashable {
        let name: String
        let port: Int
    }

    let host: Host
    let isSecure: Bool
    /// The transport options, of which only those that shape a connection are compared.
    let options: TransportOptions

    init(_ request: TransportRequest) {
        self.init(request.url, request.options)
    }

    init(_ url: URI, _ options: TransportOptions) {
        host = Host(name: url.host ?? "", port: url.effectivePort)
        isSecure = url.scheme == "https"
        var options = options
        // It belongs to the request, and the requests of an agent differ only in it.
        options.mayReplay = false
        self.options = options
    }

    static func == (one: Self, other: Self) -> Bool {
        one.isSecure == other.isSecure && one.host == other.host
            && (one.options == other.options || one.hasRoute(of: other))
    }

    private func hasRoute(of other: Self) -> Bool {
        // The engine's requests have no proxy, and without TLS no trust.
        (!isSecure || options.security == other.options.security)
            && options.addressOverrides == other.options.addressOverrides
            && options.addressFamily == other.options.addressFamily
            && options.unixSocketPath == other.options.unixSocketPath
    }

    /// Hashes the host and the scheme: few requests to a host differ in their options.
    func hash(into hasher: inout Hasher) {
        hasher.combine(host)
        hasher.combine(isSecure)
    }
}
