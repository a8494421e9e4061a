#if canImport(Darwin)
    /// Whether a connection is still being set up: not to be seen here.
    enum ConnectionProbe {
        /// There is none.
        struct Candidate: Sendable, Hashable {}

        /// Always empty: the limit of silence counts.
        static func connecting(toPortsOf peers: [ConnectionPeer]) -> [Candidate] { [] }

        /// Always false.
        static func leads(_ candidates: [Candidate], to peers: [ConnectionPeer]) -> Bool { false }
    }
#endif
