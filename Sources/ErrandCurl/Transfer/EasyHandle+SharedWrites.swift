#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import Glibc

    // Over HTTP/2, libcurl writes each frame to the socket at once. When many requests start in one
    // turn of the loop, each costs a system call, a TCP segment, and a wake-up of the server. So the
    // TLS records of a shared connection are collected, and written at the end of the turn.
    //
    // libcurl learns of a failed write when it reads: the socket then has an error or an end.
    extension EasyHandle {
        /// Collects the writes of a connection that may be shared, when a request head is sent on
        /// it.
        func collectWrites(on socket: Int32?) {
            guard speaksHTTP2, let connection, let socket, let transfer,
                let hook = ConnectionHook.of(connection), !hook.collectsWrites
            else { return }
            hook.collectsWrites = true
            // Records within the TLS connection to a proxy do not go to the socket. The addresses
            // are compared, because the socket was found by its ports.
            guard !ProxyRoute.mayUseTLS(transfer.request),
                let ends = handle.flatMap({ ConnectionEndpoints(of: $0) }),
                ends == ConnectionEndpoints(of: socket)
            else { return }
            _ = TLSLibrary.loaded?.writers?.insert(SharedWrites(on: socket, loop), in: connection)
        }
    }

    /// The TLS records of one shared connection that are not written to its socket yet.
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
