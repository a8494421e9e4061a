#if os(Linux)
    /// Watches the system's network: netlink on Linux, `NWPathMonitor` on Apple platforms.
    ///
    ///     configuration.reachability = SystemReachability()
    ///     configuration.connectivityPolicy = .waitForConnectivity
    public typealias SystemReachability = NetlinkReachability
#elseif canImport(Network)
    /// Watches the system's network: netlink on Linux, `NWPathMonitor` on Apple platforms.
    public typealias SystemReachability = PathReachability
#endif
