#if canImport(Darwin)
    /// Does nothing: sockets that are connecting cannot be listed on this platform.
    enum ConnectionProbe {
        /// Never created.
        struct Candidate: Sendable, Hashable {}

        /// Always empty, so only the idle timeout applies.
        static func connecting(toPortsOf peers: [ConnectionPeer]) -> [Candidate] { [] }

        /// Always false.
        static func isConnecting(_ candidates: [Candidate], to peers: [ConnectionPeer]) -> Bool {
            false
        }
    }
#endif
