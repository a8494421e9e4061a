#if os(Linux)
    import CLibcurl
    import ErrandTransport

    /// The TLS sessions that all easy handles of a loop share.
    ///
    /// Up to version 8.11, libcurl keeps sessions in the easy handle that created them, so a handle
    /// that connects to a server for the first time would need a full handshake. A share object
    /// holds eight sessions, so there are several share objects, selected by host. Only the thread
    /// that runs the loop's turn uses them, so they need no lock. Before libcurl resumes a session,
    /// it compares host, port and the complete TLS configuration (authorities, client certificate,
    /// checks, versions).
    final class TLSSessionCache {
        /// Enough for about two hundred servers.
        private static let count = 32

        /// Whether sessions are cached.
        let isEnabled: Bool

        private var shares: [UnsafeMutableRawPointer?]

        /// Creates an empty cache; it stays empty if `isEnabled` is false.
        init(isEnabled: Bool) {
            self.isEnabled = isEnabled
            shares = isEnabled ? Array(repeating: nil, count: Self.count) : []
        }

        /// The share object for a host; `nil` if sessions are not cached or memory is short.
        func share(for host: String?) -> UnsafeMutableRawPointer? {
            guard !shares.isEmpty else { return nil }
            // The low bits of the hash have selected the loop.
            let index = Int(LoopChoice.hash(of: host) >> 16) % Self.count
            if let share = shares[index] { return share }
            shares[index] = errand_share_sessions()
            return shares[index]
        }

        /// Frees the sessions; no handle may use them any more.
        func close() {
            for share in shares { curl_share_cleanup(share) }
            shares = []
        }
    }
#endif
