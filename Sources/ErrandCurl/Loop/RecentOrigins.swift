package import ErrandCore

/// The origins that answers have come from lately, so that there most likely is a connection to them.
///
/// Who asks under other conditions, with other certificates or by another proxy, does not get that one.
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

    /// The latest one first.
    private var origins: [Origin] = []

    package init() {}

    /// How many are remembered.
    package static var limit: Int { 8 }

    /// An answer has come from there.
    package mutating func add(_ url: URI, _ options: TransportOptions) {
        let origin = Origin(url, Self.conditions(options))
        guard origins.first != origin else { return }
        origins.removeAll { $0 == origin }
        if origins.count == Self.limit { origins.removeLast() }
        origins.insert(origin, at: 0)
    }

    /// Whether one has.
    package func contains(_ url: URI, _ options: TransportOptions) -> Bool {
        origins.contains(Origin(url, Self.conditions(options)))
    }

    /// Without what differs from one method to the other.
    private static func conditions(_ options: TransportOptions) -> TransportOptions {
        var options = options
        options.mayReplay = false
        return options
    }
}
