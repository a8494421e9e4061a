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
///
/// It concerns no request that stays on this machine: to `localhost` and names below it, 127/8, `::1`, or through a Unix
/// socket. Anything but ``ignore`` needs ``Configuration/reachability``; without it requests fail with
/// ``RequestError/Code/invalidConfiguration``.
public enum ConnectivityPolicy: Sendable, Hashable {
    /// They are sent and fail or not. The default.
    case ignore
    /// They fail with ``RequestError/Code/offline``.
    case failFast
    /// They wait; ``Timeouts/total`` and cancelling end the wait.
    case waitForConnectivity
}
