#if os(Linux)
    import CLibcurl
    import ErrandCore

    /// The TLS sessions that all easy handles of a loop resume.
    ///
    /// libcurl keeps sessions with the handle that has made them, up to 8.11 at least; a handle that meets a server for
    /// the first time would go through a full handshake. A share object keeps eight of them, so there are several,
    /// chosen by host. Only the loop's thread uses them: they need no lock. libcurl compares host, port and the
    /// whole TLS configuration (authorities, client certificate, checks, versions) before it resumes a session.
    final class SessionShelf {
        /// Two hundred servers find a place, more or less.
        private static let count = 32

        /// Whether sessions are kept at all.
        let isEnabled: Bool

        private var shares: [UnsafeMutableRawPointer?]

        /// Makes none yet; with `isEnabled` off there never are any.
        init(isEnabled: Bool) {
            self.isEnabled = isEnabled
            shares = isEnabled ? Array(repeating: nil, count: Self.count) : []
        }

        /// Where a host's sessions are; `nil` where none are kept, or there is no memory for them.
        func share(for host: String?) -> UnsafeMutableRawPointer? {
            guard !shares.isEmpty else { return nil }
            // Other bits than those that have chosen the loop.
            let index = Int(LoopChoice.hash(of: host) >> 16) % Self.count
            if let share = shares[index] { return share }
            shares[index] = errand_share_sessions()
            return shares[index]
        }

        /// Gives the sessions back; no handle may use them any more.
        func close() {
            for share in shares { curl_share_cleanup(share) }
            shares = []
        }
    }
#endif
