#if canImport(Darwin)
    /// Whether a connection is still being set up: not to be seen here.
    enum ConnectionProbe {
        /// Always false: the limit of silence counts.
        static func isConnecting(to port: Int?) -> Bool { false }
    }
#endif
