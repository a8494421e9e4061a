#if canImport(Network)
    public import ErrandCore
    import ErrandSystem
    import Network

    /// Observes the network status with `NWPathMonitor`, until it is released.
    public final class PathReachability: Reachability {
        private let hub = NetworkStatusHub()
        private let monitor = NWPathMonitor()

        /// Starts to observe the network status.
        public init() {
            monitor.pathUpdateHandler = { [hub] path in hub.update(Self.status(of: path)) }
            monitor.start(queue: DispatchQueue(label: "errand.reachability"))
        }

        deinit {
            monitor.cancel()
            hub.finish()
        }

        /// The current network status.
        public var current: NetworkStatus { hub.current }

        /// The current network status, then every change.
        public func changes() -> AsyncStream<NetworkStatus> { hub.changes() }

        private static func status(of path: NWPath) -> NetworkStatus {
            guard path.status == .satisfied else { return NetworkStatus(.none) }
            let kind: NetworkStatus.Kind =
                if path.usesInterfaceType(.wiredEthernet) {
                    .wired
                } else if path.usesInterfaceType(.wifi) {
                    .wifi
                } else if path.usesInterfaceType(.cellular) {
                    .cellular
                } else {
                    .other
                }
            return NetworkStatus(
                kind, isExpensive: path.isExpensive, isConstrained: path.isConstrained)
        }
    }
#endif
