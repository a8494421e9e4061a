// Performance annotations: decision 17.

#if os(Linux)
    import CLibcurl
    import Glibc

    /// A socket that carries HTTP/1.1 requests one after another.
    ///
    /// ``ConnectionState`` and ``ResponseParser`` decide; this class reads and writes.
    final class HTTP1Connection: Equatable {
        /// The result of a write.
        enum WriteResult { case complete, partial, failed }

        /// The result of a read.
        enum ReadResult { case bytes(Int), nothing, end, failed }

        let socket: Int32
        let key: ConnectionKey
        let facts: SocketConnector.Facts
        private let poll: Int32
        @exclusivity(unchecked) var state = ConnectionState()
        @exclusivity(unchecked) var parser = ResponseParser()
        /// The transfer whose request the connection carries.
        @exclusivity(unchecked) var transfer: HTTP1Transfer?
        /// Input that the receiver has not accepted yet.
        @exclusivity(unchecked) var unread: [UInt8] = []
        /// Bytes that the socket has not accepted yet, and the number of those sent since.
        @exclusivity(unchecked) private var unsent: [UInt8] = []
        @exclusivity(unchecked) private var sent = 0
        @exclusivity(unchecked) private var watched: UInt32 = 0
        /// Whether input is watched; not while the receiver pauses.
        @exclusivity(unchecked) var readsInput = true
        /// Whether more can be sent although nothing is left over.
        @exclusivity(unchecked) var hasMoreToSend = false

        /// Takes a socket over; closes it and returns `nil` if its events cannot be watched.
        init?(_ socket: Int32, _ key: ConnectionKey, _ facts: SocketConnector.Facts, poll: Int32) {
            self.socket = socket
            self.key = key
            self.facts = facts
            self.poll = poll
            state.connected()
            guard updateEvents() else {
                close()
                return nil
            }
        }

        static func == (one: HTTP1Connection, other: HTTP1Connection) -> Bool { one === other }

        /// Whether an idle connection has neither input nor an end.
        ///
        /// The loop closes idle connections that have input, but the input may arrive later in the
        /// turn.
        var isQuiet: Bool {
            var byte: UInt8 = 0
            let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
            return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
        }

        func close() { Glibc.close(socket) }

        // MARK: - Events

        /// Watches the events that are needed now; returns false if the kernel lacks resources.
        @discardableResult
        func updateEvents() -> Bool {
            var wanted: UInt32 = 0
            if readsInput { wanted |= errand_epoll_in }
            if hasUnsent || hasMoreToSend { wanted |= errand_epoll_out }
            guard wanted != watched else { return true }
            let result =
                if watched == 0 {
                    errand_epoll_add(poll, socket, wanted)
                } else if wanted == 0 {
                    errand_epoll_remove(poll, socket)
                } else {
                    errand_epoll_modify(poll, socket, wanted)
                }
            guard result == 0 else { return false }
            watched = wanted
            return true
        }

        // MARK: - Output

        var hasUnsent: Bool { sent < unsent.count }

        /// Sends bytes, and keeps those that the socket does not accept.
        func write(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
            guard !hasUnsent else {
                unsent.append(contentsOf: bytes)
                return .partial
            }
            let count = send(bytes)
            guard count >= 0 else { return .failed }
            guard count < bytes.count else { return .complete }
            sent = 0
            unsent.removeAll(keepingCapacity: true)
            unsent.append(contentsOf: bytes[count...])
            return .partial
        }

        /// Sends what is left over.
        func flush() -> WriteResult {
            guard hasUnsent else { return .complete }
            let count = unsent.withUnsafeBytes {
                send(UnsafeRawBufferPointer(rebasing: $0[sent...]))
            }
            guard count >= 0 else { return .failed }
            sent += count
            guard !hasUnsent else { return .partial }
            dropUnsent()
            return .complete
        }

        /// Discards what is left over.
        func dropUnsent() {
            unsent = []
            sent = 0
            hasMoreToSend = false
        }

        /// The number of bytes that were sent; -1 if the connection is broken.
        private func send(_ bytes: UnsafeRawBufferPointer) -> Int {
            while true {
                let count = Glibc.send(
                    socket, bytes.baseAddress, bytes.count,
                    Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                if count >= 0 { return count }
                if errno == EINTR { continue }
                return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1
            }
        }

        // MARK: - Input

        func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
            while true {
                let count = recv(
                    socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                if count > 0 { return .bytes(count) }
                if count == 0 { return .end }
                if errno == EINTR { continue }
                return errno == EAGAIN || errno == EWOULDBLOCK ? .nothing : .failed
            }
        }
    }
#endif
