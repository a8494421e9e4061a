import ErrandHTTP

/// The state of the machine's network connection.
public struct NetworkStatus: Sendable, Hashable, CustomStringConvertible {
    /// The kind of connection.
    public var kind: Kind
    /// Whether traffic is expensive, as on a mobile connection.
    public var isExpensive: Bool
    /// Whether the user has enabled a low-data mode.
    public var isConstrained: Bool

    /// Creates a status.
    public init(_ kind: Kind, isExpensive: Bool = false, isConstrained: Bool = false) {
        self.kind = kind
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
    }

    /// The kind of connection.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No connection.
        case none
        /// A wired connection.
        case wired
        /// Wireless LAN.
        case wifi
        /// A mobile network.
        case cellular
        /// Another kind, such as a tunnel, or a local network without internet access.
        case other
        /// Not known, or not known yet.
        case unknown
    }

    /// Whether there is a connection; `nil` if unknown.
    public var isConnected: Bool? {
        switch kind {
        case .none: false
        case .unknown: nil
        case .wired, .wifi, .cellular, .other: true
        }
    }

    /// The kind and the flags that are set.
    public var description: String {
        kind.rawValue + (isExpensive ? ", expensive" : "") + (isConstrained ? ", constrained" : "")
    }
}

/// The behaviour of requests while there is no network.
///
/// It does not apply to requests that stay on this machine: to `localhost` and names below it,
/// 127/8, `::1`, or a Unix socket. Every value except ``ignore`` needs
/// ``Configuration/reachability``; without it requests fail with
/// ``RequestError/Code/invalidConfiguration``.
public enum ConnectivityPolicy: Sendable, Hashable {
    /// Requests are sent regardless of the network state; the default.
    case ignore
    /// Requests fail with ``RequestError/Code/offline``.
    case failFast
    /// Requests wait until there is a network; ``Timeouts/total`` and cancellation end the wait.
    case waitForConnectivity
}
