package import ErrandTransport

/// The origins that responded recently, to which a connection probably exists.
///
/// The transport options are part of the origin: a request with another certificate policy or proxy
/// cannot use the same connection.
package struct RecentOrigins {
    private struct Origin: Equatable {
        let host: String?
        let port: Int
        let scheme: String?
        let options: TransportOptions

        init(_ url: URI, _ options: TransportOptions) {
            host = url.host
            port = url.effectivePort
            scheme = url.scheme
            self.options = options
        }
    }

    /// The origins, the latest first.
    private var origins: [Origin] = []

    package init() {}

    /// The maximum number of stored origins.
    package static var limit: Int { 8 }

    /// Records that an origin has responded.
    package mutating func add(_ url: URI, _ options: TransportOptions) {
        let origin = Origin(url, Self.conditions(options))
        guard origins.first != origin else { return }
        origins.removeAll { $0 == origin }
        if origins.count == Self.limit { origins.removeLast() }
        origins.insert(origin, at: 0)
    }

    /// Whether an origin has responded recently.
    package func contains(_ url: URI, _ options: TransportOptions) -> Bool {
        origins.contains(Origin(url, Self.conditions(options)))
    }

    /// The options that a connection depends on; `mayReplay` depends on the method only.
    private static func conditions(_ options: TransportOptions) -> TransportOptions {
        var options = options
        options.mayReplay = false
        return options
    }
}
