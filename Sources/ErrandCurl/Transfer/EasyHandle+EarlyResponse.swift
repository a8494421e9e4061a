#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // A server that refuses an upload and closes at once resets the connection. Linux keeps earlier
    // input readable, but writing fails at once, and libcurl gives up with the response unread.
    // Over TLS this is the usual case, because a piece of a body takes several writes. So a write
    // that fails while the socket has input is reported as "would block": libcurl reads first, and
    // the next write fails if that input was no response.
    //
    // With TLS 1.3, a server that rejects the client's certificate sends its alert after the
    // handshake, so the first request may be written after the server has reset the connection. So
    // until the peer responds, failed writes on a new connection are reported as successful:
    // libcurl then reads the alert, or finds the reset. "Would block" would not do, because libcurl
    // 7.88 does not expect it when it writes the preface of HTTP/2.
    extension EasyHandle {
        /// Hooks the writes of an upload over HTTP/1 and TLS, when its request head is sent.
        func awaitEarlyResponse(on socket: Int32?) {
            guard upload != nil, !speaksHTTP2, let socket, let connection,
                let hook = ConnectionHook.of(connection)
            else { return }
            trust.observer?.awaitsResponse = false
            hook.ignoresFailedWrites = false
            if hook.writes == nil { hook.writes = FailedWrites(on: socket) }
        }

        /// Ends the special treatment of a new connection when the peer has responded.
        func stopAwaitingResponse() {
            guard let peer = trust.observer, peer.awaitsResponse else { return }
            peer.awaitsResponse = false
            if let connection { ConnectionHook.stopIgnoringFailedWrites(of: connection) }
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
