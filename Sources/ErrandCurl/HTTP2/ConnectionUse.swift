#if os(Linux)
    import Glibc

    /// The connections that libcurl opens and chooses for one transfer.
    struct ConnectionUse {
        /// The sockets that were opened for the transfer.
        private(set) var openedSockets: [Int32] = []
        /// Whether the system had no file descriptor or no memory for a socket.
        private(set) var lacksResources = false
        /// OpenSSL's object of the connection on which the request was last sent; `nil` without
        /// TLS.
        private(set) var tls: UnsafeMutableRawPointer?
        /// Whether HTTP/2 was negotiated for the connection, whatever the response states.
        private(set) var speaksHTTP2 = false
        /// The hook that observes the end of the connection, for a body that ends with it.
        var endHook: ConnectionHook?

        init() {}

        /// Prepares for another transfer.
        mutating func reset() {
            if !openedSockets.isEmpty { openedSockets.removeAll(keepingCapacity: true) }
            lacksResources = false
            tls = nil
            speaksHTTP2 = false
            endHook = nil
        }

        /// Records that a socket was opened; a negative one is a failure with this error number.
        ///
        /// After a failure another address may still work; the end of the transfer decides which
        /// error this is.
        mutating func opened(_ socket: Int32, error: Int32) {
            guard socket < 0 else { return openedSockets.append(socket) }
            if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error) { lacksResources = true }
        }

        /// Records the connection that libcurl has chosen.
        mutating func chose(_ tls: UnsafeMutableRawPointer?) { self.tls = tls }

        /// Records that the request is sent on the chosen connection.
        mutating func willSend(speaksHTTP2: Bool) { self.speaksHTTP2 = speaksHTTP2 }
    }
#endif
