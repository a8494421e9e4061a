package import ErrandCore

/// The origins that answers have come from lately, so that there most likely is a connection to them.
package struct RecentOrigins {
    private struct Origin: Equatable {
        let host: String?
        let port: Int
        let scheme: String?

        init(_ url: URI) {
            host = url.host
            port = url.effectivePort
            scheme = url.scheme
        }
    }

    /// The latest one first.
    private var origins: [Origin] = []

    package init() {}

    /// How many are remembered.
    package static var limit: Int { 8 }

    /// An answer has come from there.
    package mutating func add(_ url: URI) {
        let origin = Origin(url)
        guard origins.first != origin else { return }
        origins.removeAll { $0 == origin }
        if origins.count == Self.limit { origins.removeLast() }
        origins.insert(origin, at: 0)
    }

    /// Whether one has.
    package func contains(_ url: URI) -> Bool { origins.contains(Origin(url)) }
}
