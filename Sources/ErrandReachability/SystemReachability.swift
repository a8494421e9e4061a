#if os(Linux)
    /// Observes the system's network status: with netlink on Linux, with `NWPathMonitor` on Apple platforms.
    ///
    ///     configuration.reachability = SystemReachability()
    ///     configuration.connectivityPolicy = .waitForConnectivity
    public typealias SystemReachability = NetlinkReachability
#elseif canImport(Network)
    /// Observes the system's network status: with netlink on Linux, with `NWPathMonitor` on Apple platforms.
    public typealias SystemReachability = PathReachability
#endif
