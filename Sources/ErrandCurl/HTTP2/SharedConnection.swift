#if os(Linux)
    import CLibcurl
    import Glibc

    /// The reads of one shared connection.
    ///
    /// Over HTTP/2, libcurl 7.88 continues to read within one call until a frame contains something
    /// for the transfer. A server that sends endless frames without content, such as empty DATA,
    /// would block the loop and every deadline. So the reads of a connection are counted within a
    /// call. Beyond a limit the next read reports "would block": libcurl returns, and is called
    /// again at once, because the socket still has input.
    ///
    /// For the same reason libcurl may read the end of the connection before it has processed the
    /// end of an earlier stream, and confuse the two: a response that RST_STREAM truncated is
    /// accepted as complete, and a complete response is reported as truncated. So the end is read
    /// in a separate call.
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

    /// The TLS records of one shared connection that are not written to its socket yet.
    ///
    /// Over HTTP/2, libcurl writes each frame to the socket at once. When many requests start in
    /// one turn of the loop, each costs a system call, a TCP segment, and a wake-up of the server.
    /// So the records are collected, and written at the end of the turn. libcurl learns of a failed
    /// write when it reads: the socket then has an error or an end.
    ///
    /// A custom BIO of OpenSSL owns the object, and releases it when the connection is freed.
    final class SharedWrites {
        /// Records that do not fit are written at once.
        private static let capacity = 16_384

        // The loop closes its connections before it is released.
        private unowned let loop: EventLoop
        private let socket: Int32
        private let buffer = UnsafeMutableRawPointer.allocate(
            byteCount: SharedWrites.capacity, alignment: 16)
        private var count = 0
        /// Whether the loop will write the records at the end of this turn.
        private var isQueued = false
        private var hasFailed = false

        init(on socket: Int32, _ loop: EventLoop) {
            self.socket = socket
            self.loop = loop
        }

        deinit { buffer.deallocate() }

        /// Accepts bytes and returns their number; -1 if they must be written again later.
        func write(_ bytes: UnsafeRawBufferPointer) -> Int {
            if !hasFailed, count + bytes.count > Self.capacity {
                guard flush() else { return -1 }
                if !hasFailed, bytes.count > Self.capacity { return send(bytes) }
            }
            guard !hasFailed, let start = bytes.baseAddress else { return bytes.count }
            (buffer + count).copyMemory(from: start, byteCount: bytes.count)
            count += bytes.count
            if !isQueued {
                isQueued = true
                loop.queueFlush(of: self)
            }
            return bytes.count
        }

        /// Writes the collected records at the end of a turn.
        func endTurn() {
            isQueued = false
            flush()
        }

        /// Writes the collected records; false if some must wait until the socket is writable.
        @discardableResult
        func flush() -> Bool {
            while count > 0 {
                let sent = send(UnsafeRawBufferPointer(start: buffer, count: count))
                if sent < 0 { break }
                count -= sent
                if count > 0 { memmove(buffer, buffer + sent, count) }
            }
            loop.sockets.setFlushing(count > 0 ? self : nil, of: socket)
            return count == 0
        }

        /// Writes to the socket; -1 if it is not writable.
        private func send(_ bytes: UnsafeRawBufferPointer) -> Int {
            while true {
                let sent = Glibc.send(
                    socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                if sent >= 0 { return sent }
                if errno == EINTR { continue }
                if errno == EAGAIN || errno == EWOULDBLOCK { return -1 }
                hasFailed = true
                return bytes.count
            }
        }

        /// Forgets what was not written.
        func connectionWasFreed() {
            loop.sockets.setFlushing(nil, of: socket)
            if isQueued { loop.removeFlush(of: self) }
        }
    }

    /// Returns the object that a custom BIO owns.
    private func writes(of writer: UnsafeMutableRawPointer?) -> Unmanaged<SharedWrites>? {
        writer.flatMap { TLSLibrary.loaded?.writers?.data($0) }.map { Unmanaged.fromOpaque($0) }
    }

    let onWriterWrite: errand_tls_on_write = { writer, bytes, count in
        guard let writer, let writes = writes(of: writer), let writers = TLSLibrary.loaded?.writers
        else { return -1 }
        writers.clearFlags(writer, TLSWriters.retryFlags)
        let accepted = writes._withUnsafeGuaranteedRef {
            $0.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        }
        if accepted < 0 { writers.setFlags(writer, TLSWriters.retryFlags) }
        return Int32(accepted)
    }

    let onWriterControl: errand_tls_on_control = { writer, command, _, _ in
        // `BIO_CTRL_FLUSH`: after handshake messages and alerts.
        guard command == 11, let writes = writes(of: writer) else { return 0 }
        writes._withUnsafeGuaranteedRef { _ = $0.flush() }
        return 1
    }

    let onWriterFree: errand_tls_on_free = { writer in
        guard let writes = writes(of: writer) else { return 1 }
        writes._withUnsafeGuaranteedRef { $0.connectionWasFreed() }
        writes.release()
        return 1
    }
#endif
