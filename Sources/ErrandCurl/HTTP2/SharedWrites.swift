#if os(Linux)
    import CLibcurl
    import ErrandOpenSSL
    import Glibc

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
        writer.flatMap { LibcurlOpenSSL.streams?.BIO_get_data($0) }.map { Unmanaged.fromOpaque($0) }
    }

    let onWriterWrite: OpenSSL.StreamKinds.Write = { writer, bytes, count in
        guard let writer, let writes = writes(of: writer), let streams = LibcurlOpenSSL.streams
        else { return -1 }
        streams.BIO_clear_flags(writer, TLSWriters.retryFlags)
        let accepted = writes._withUnsafeGuaranteedRef {
            $0.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        }
        if accepted < 0 { streams.BIO_set_flags(writer, TLSWriters.retryFlags) }
        return Int32(accepted)
    }

    let onWriterControl: OpenSSL.StreamKinds.Control = { writer, command, _, _ in
        // `BIO_CTRL_FLUSH`: after handshake messages and alerts.
        guard command == 11, let writes = writes(of: writer) else { return 0 }
        writes._withUnsafeGuaranteedRef { _ = $0.flush() }
        return 1
    }

    let onWriterFree: OpenSSL.StreamKinds.Destroy = { writer in
        guard let writes = writes(of: writer) else { return 1 }
        writes._withUnsafeGuaranteedRef { $0.connectionWasFreed() }
        writes.release()
        return 1
    }

    /// Creates BIOs through which TLS connections write to a ``SharedWrites``.
    struct TLSWriters: Sendable {
        /// `BIO_TYPE_SOURCE_SINK`.
        private static let sinkKind: Int32 = 0x0400
        /// `BIO_FLAGS_WRITE` and `BIO_FLAGS_SHOULD_RETRY`.
        static let retryFlags: Int32 = 0x0A

        // OpenSSL never changes a method after its creation.
        private nonisolated(unsafe) let method: UnsafeMutableRawPointer
        private let streams: OpenSSL.Streams
        private let connections: OpenSSL.Connections

        /// Creates the kind of BIO; `nil` if memory is short.
        init?(
            _ kinds: OpenSSL.StreamKinds, _ streams: OpenSSL.Streams,
            _ connections: OpenSSL.Connections
        ) {
            let kind = kinds.BIO_get_new_index()
            guard kind >= 0,
                let method = kinds.BIO_meth_new(kind | Self.sinkKind, "collected writes"),
                kinds.BIO_meth_set_write(method, onWriterWrite) == 1,
                kinds.BIO_meth_set_ctrl(method, onWriterControl) == 1,
                kinds.BIO_meth_set_destroy(method, onWriterFree) == 1
            else { return nil }
            self.method = method
            self.streams = streams
            self.connections = connections
        }

        /// Makes a connection write to this object, which it then owns; returns false on failure.
        func insert(_ writes: SharedWrites, in connection: UnsafeMutableRawPointer) -> Bool {
            guard let writer = writer(to: writes) else { return false }
            // Releases the former writer, which the connection still uses for reading.
            connections.SSL_set0_wbio(connection, writer)
            return true
        }

        /// Creates a BIO that writes to this object and owns it; `nil` on failure.
        func writer(to writes: SharedWrites) -> UnsafeMutableRawPointer? {
            guard let writer = streams.BIO_new(method) else { return nil }
            streams.BIO_set_data(writer, Unmanaged.passRetained(writes).toOpaque())
            return writer
        }
    }
#endif
