/// What connects this machine to the world (row RCH-1).
public struct NetworkStatus: Sendable, Hashable, CustomStringConvertible {
    /// The kind of connection.
    public var kind: Kind
    /// Whether bytes cost money, as on a mobile connection.
    public var isExpensive: Bool
    /// Whether the user asked to save bytes.
    public var isConstrained: Bool

    /// Makes a status.
    public init(_ kind: Kind, isExpensive: Bool = false, isConstrained: Bool = false) {
        self.kind = kind
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }

    /// The kind of connection.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Nobody can be reached.
        case none
        /// A cable.
        case wired
        /// Wireless LAN.
        case wifi
        /// A mobile network.
        case cellular
        /// Another one, such as a tunnel, or a local network without a way out.
        case other
        /// Not known (yet).
        case unknown
    }

    /// Whether there is a connection; `nil` when that is not known (row RCH-2).
    public var isConnected: Bool? {
        switch kind {
        case .none: false
        case .unknown: nil
        case .wired, .wifi, .cellular, .other: true
        }
    }

    /// The kind, and what else is known.
    public var description: String {
        kind.rawValue + (isExpensive ? ", expensive" : "") + (isConstrained ? ", constrained" : "")
    }
}
