/// Watches the network.
///
/// Says what is known and never keeps a request from trying by itself.
public protocol Reachability: Sendable {
    /// What is known now.
    var current: NetworkStatus { get }

    /// What is known now, then every change, none twice in a row.
    ///
    /// Each call makes a sequence of its own, which ends with the reading task.
    func changes() -> AsyncStream<NetworkStatus>
}

/// What happens to requests while there is no network (row RCH-7).
public enum ConnectivityPolicy: Sendable, Hashable {
    /// They are sent and fail or not. The default.
    case ignore
    /// They fail with ``RequestError/Code/offline``.
    case failFast
    /// They wait; ``Timeouts/total`` and cancelling end the wait.
    case waitForConnectivity
}
