#if os(Linux)
    import CLibcurl
    import ErrandCore

    // NB: a server that refuses an upload and closes at once resets the connection. Linux keeps what had come before that
    // for reading, but writing fails at once, and libcurl gives the connection up with the answer unread. Over TLS, where
    // a piece of a body goes out in several writes, that is what usually happens. So a write that fails while there is
    // something to read is reported as one that has to wait: libcurl reads first, and fails later if that was no answer.
    extension Exchange {
        /// The request's head goes out on a connection of its own.
        func listenForLastWords() {
            guard upload != nil, !speaksHTTP2, let handle, let connection = errand_get_tls(handle),
                let hook = ConnectionHook.of(connection), hook.writes == nil,
                let ends = ConnectionEnds(of: handle),
                let socket = loop.sockets.socket(between: ends)
            else { return }
            hook.writes = FailedWrites(on: socket)
        }
    }

    /// The failed writes of one connection.
    struct FailedWrites {
        private let socket: Int32
        /// How much the socket had to read when a write failed last.
        private var unread: Int32 = 0

        init(on socket: Int32) { self.socket = socket }

        /// A write has failed; whether libcurl is to read before that counts.
        mutating func postpone() -> Bool {
            let unread = errand_unread(socket)
            // What is as much as at the last failure is not being read: the receiver pauses.
            guard unread > 0, unread != self.unread else { return false }
            self.unread = unread
            return true
        }
    }
#endif
