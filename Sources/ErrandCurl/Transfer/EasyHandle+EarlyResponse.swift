#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // A server that refuses an upload and closes at once resets the connection. Linux keeps earlier
    // input readable, but writing fails at once, and libcurl gives up with the response unread.
    // Over TLS this is the usual case, because a piece of a body takes several writes. So a write
    // that fails while the socket has input is reported as "would block": libcurl reads first, and
    // the next write fails if that input was no response.
    extension EasyHandle {
        /// Hooks the writes of an upload over HTTP/1 and TLS, when its request head is sent.
        func awaitEarlyResponse() {
            guard upload != nil, !speaksHTTP2, let handle, let connection = errand_get_tls(handle),
                let hook = ConnectionHook.of(connection), hook.writes == nil,
                let ends = ConnectionEndpoints(of: handle),
                let socket = loop.sockets.socket(between: ends)
            else { return }
            hook.writes = FailedWrites(on: socket)
        }
    }

    /// The failed writes of one connection.
    struct FailedWrites {
        private let socket: Int32
        /// The number of unread bytes at the last failed write.
        private var unread: Int32 = 0

        init(on socket: Int32) { self.socket = socket }

        /// Returns whether libcurl should read before the failure of a write is reported.
        mutating func postpone() -> Bool {
            let unread = errand_unread(socket)
            // If the number is unchanged, nothing is being read, because the receiver pauses.
            guard unread > 0, unread != self.unread else { return false }
            self.unread = unread
            return true
        }
    }
#endif
