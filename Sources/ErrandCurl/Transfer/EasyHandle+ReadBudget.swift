#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // Over HTTP/2, libcurl 7.88 continues to read within one call until a frame contains something
    // for the transfer. A server that sends endless frames without content, such as empty DATA,
    // would block the loop and every deadline. So the reads of a connection are counted within a
    // call. Beyond a limit the next read reports "would block": libcurl returns, and is called
    // again at once, because the socket still has input.
    //
    // For the same reason libcurl may read the end of the connection before it has processed the
    // end of an earlier stream, and confuse the two: a response that RST_STREAM truncated is
    // accepted as complete, and a complete response is reported as truncated. So the end is read in
    // a separate call.
    extension EasyHandle {
        /// Hooks the reads of a connection that may be shared, when a request head is sent on it.
        func limitReads() {
            guard speaksHTTP2, let connection, let hook = ConnectionHook.of(connection),
                hook.reads == nil
            else { return }
            hook.reads = SharedReads(of: loop)
        }
    }

    /// The reads of one shared connection.
    final class SharedReads {
        /// Enough for some hundred TLS records; libcurl returns much earlier if they have content.
        private static let maximumReads = 1000

        // The loop closes its connections before it is released.
        private unowned let loop: EventLoop
        /// Whether the next read may return an alert that ends the connection.
        private var isAtAlert = false
        /// The number of the libcurl call that first reached the end of the connection.
        private var endingCall: UInt64?

        init(of loop: EventLoop) { self.loop = loop }

        /// Returns whether a read may happen now.
        func mayRead() -> Bool {
            loop.readsInCall += 1
            guard loop.readsInCall <= Self.maximumReads else { return false }
            guard isAtAlert else { return true }
            if postponesEnd() { return false }
            isAtAlert = false
            return true
        }

        /// Detects the header of a record with an alert; since TLS 1.3 only its size identifies it
        /// (RFC 8446 §5.2).
        func hasRead(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count == 5 else { return }
            let isSmall = bytes[3] == 0 && bytes[4] == 19
            isAtAlert = bytes[0] == 21 || bytes[0] == 23 && isSmall
            if isAtAlert { endingCall = nil }
        }

        /// Returns whether the end of the connection is deferred to the next call, after all its
        /// streams have processed earlier data.
        func postponesEnd() -> Bool {
            let call = endingCall ?? loop.callNumber
            endingCall = call
            return call == loop.callNumber
        }
    }
#endif
