#if os(Linux)
    import CLibcurl
    import ErrandCore

    // NB: over HTTP/2 libcurl 7.88 reads on within one call until a frame has something for the transfer. A server that
    // sends frames without end that have nothing, such as empty DATA, would hold the loop, and with it every deadline.
    // So a connection's reads are counted within a call, and beyond some number the next one has to wait: libcurl
    // returns, and is called again at once, because the socket still has something.
    //
    // For the same reason it may read the end of the connection before it has looked at the end of a stream that came
    // before, and then it takes the one for the other: an answer that was cut off by RST_STREAM passes for whole, and one that
    // is whole for cut off. So the end is read in a call of its own.
    extension Exchange {
        /// The request's head goes out on a connection that may be shared.
        func limitReads() {
            guard speaksHTTP2, let handle, let connection = errand_get_tls(handle),
                let hook = ConnectionHook.of(connection), hook.reads == nil
            else { return }
            hook.reads = SharedReads(of: loop)
        }
    }

    /// The reads of one shared connection.
    final class SharedReads {
        /// Some hundred records: much more than libcurl reads at a time where it hands something over.
        private static let mostInCall = 1000

        // Connections are closed before the loop is gone.
        private unowned let loop: EventLoop
        /// What is about to be read may say that the connection ends.
        private var isAtAlert = false
        /// The call of libcurl that came to the end first.
        private var endingCall: UInt64?

        init(of loop: EventLoop) { self.loop = loop }

        /// Whether something may be read now.
        func mayBegin() -> Bool {
            loop.readsInCall += 1
            guard loop.readsInCall <= Self.mostInCall else { return false }
            guard isAtAlert else { return true }
            if postponesEnd() { return false }
            isAtAlert = false
            return true
        }

        /// Looks for the head of a record that holds an alert: since TLS 1.3 only its size tells (RFC 8446 §5.2).
        func hasRead(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count == 5 else { return }
            let isSmall = bytes[3] == 0 && bytes[4] == 19
            isAtAlert = bytes[0] == 21 || bytes[0] == 23 && isSmall
            if isAtAlert { endingCall = nil }
        }

        /// The connection has ended; whether that is left for the next call, when all who share it have looked at what
        /// came before.
        func postponesEnd() -> Bool {
            let call = endingCall ?? loop.callNumber
            endingCall = call
            return call == loop.callNumber
        }
    }
#endif
