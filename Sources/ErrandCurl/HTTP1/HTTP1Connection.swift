// Performance annotations: decision 17.

#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import Glibc

    /// A connection that carries HTTP/1.1 requests one after another.
    ///
    /// ``ConnectionState`` and ``ResponseParser`` decide; this class reads and writes: a socket, or
    /// libcurl's handle if TLS protects the connection.
    final class HTTP1Connection {
        /// The result of a write.
        enum WriteResult { case complete, partial, failed }

        /// The result of a read.
        enum ReadResult: Equatable { case bytes(Int), nothing, end, failed }

        let socket: Int32
        let key: ConnectionKey
        let facts: Connector.Facts
        private let poll: Int32
        private unowned(unsafe) let loop: EventLoop
        /// The connection, as events describe it.
        let description: Response.Connection
        /// The connector whose handle carries the bytes; `nil` if the socket does.
        let connector: Connector?
        /// Whether input may remain that no event of the socket announces.
        let buffersInput: Bool
        /// OpenSSL's object of the connection; `nil` without TLS.
        private var tls: UnsafeMutableRawPointer?
        /// The ports of a connection that libcurl has used; `nil` for others.
        var adoptedPorts: ConnectionUse.Ports?
        /// Whether OpenSSL must read before it can write, as in a renegotiation of TLS 1.2.
        @exclusivity(unchecked) private(set) var waitsForInput = false
        /// The hook that observes the end of the TLS connection.
        private var endHook: ConnectionHook?
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
        /// Whether input is read without use: it follows a complete response whose request is not completely sent.
        @exclusivity(unchecked) var discardsInput = false
        /// Whether a write has failed because the server has reset the connection; without TLS, the next reads find
        /// the rest of the input and an end, as if the server had ended its direction.
        private(set) var isReset = false
        /// The time for which the server keeps the idle connection, in nanoseconds; `nil` if it is
        /// unknown.
        @exclusivity(unchecked) var idleLifetime: UInt64?
        /// The number of the loop's idle checks when the connection became idle.
        @exclusivity(unchecked) var idleSince = UInt64.max
        /// Whether the client's direction ends: the rest of the output goes to the socket, because it is
        /// the encrypted end of TLS.
        private var isFinishing = false
        /// Whether more can be sent although nothing is left over.
        @exclusivity(unchecked) var hasMoreToSend = false

        /// Takes over the connection that a connector has established.
        init(_ connector: Connector, poll: Int32) throws(RequestError) {
            key = connector.key
            self.poll = poll
            loop = connector.loop
            buffersInput = key.usesTLS
            socket = buffersInput ? connector.keepHandle() : connector.takeSocket()
            facts = connector.facts
            // libcurl may have carried requests on the connection.
            let known = loop.connectionTable.connection(on: socket)
            description =
                known
                ?? Response.Connection(
                    host: key.host.name, port: key.host.port, remoteAddress: facts.peer,
                    isSecure: key.isSecure && key.route != .absoluteForm, httpVersion: .http11)
            self.connector = buffersInput ? connector : nil
            // The server has closed the connection, so libcurl has removed it.
            guard socket >= 0 else { throw ResponseFault.noResponse.error(host: key.host.name) }
            if known == nil { loop.opened(description, on: socket) }
            state.connected()
            if buffersInput { attach() }
            guard updateEvents() else {
                close()
                throw CurlFailure.cannotStart
            }
        }

        /// Attaches libcurl's handle to its connection; otherwise libcurl closes the connection when
        /// another transfer starts.
        ///
        /// Session tickets are read here. Other early input is kept for the first exchange; an
        /// error occurs again when that exchange reads.
        private func attach() {
            guard let connector else { return }
            var early = [UInt8](repeating: 0, count: 1024)
            if case .bytes(let count) = early.withUnsafeMutableBytes({ read(into: $0) }) {
                unread = Array(early[..<count])
            }
            guard let library = TLSLibrary.loaded, let tls = errand_get_tls(connector.handle)
            else { return }
            self.tls = tls
            library.allowMovedWrites(on: tls)
            // A failed write needs no special treatment here: the exchange reads on.
            ConnectionHook.remove(from: tls)
        }

        /// Whether an idle connection has neither input nor an end.
        ///
        /// The loop closes idle connections that have input, but the input may arrive later in the
        /// turn.
        var isQuiet: Bool { reasonToClose == nil }

        /// The reason to close an idle connection, because it has input or an end; `nil` if it has neither.
        var reasonToClose: Response.Connection.CloseReason? {
            var byte: UInt8 = 0
            if buffersInput {
                switch withUnsafeMutableBytes(of: &byte, { read(into: $0) }) {
                case .nothing: return unread.isEmpty ? nil : .unsolicitedData
                case .bytes: return .unsolicitedData
                case .end, .failed: return unread.isEmpty ? .serverClosed : .unsolicitedData
                }
            }
            let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
            if count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) { return nil }
            return count > 0 ? .unsolicitedData : .serverClosed
        }

        /// Whether OpenSSL, or libcurl, may hold input that no event of the socket announces.
        var holdsInput: Bool {
            guard buffersInput else { return false }
            guard let tls, let library = TLSLibrary.loaded, unread.isEmpty else { return true }
            // A tunnel may lie within a TLS connection to its proxy, which holds input of its own.
            guard key.route != .tunnel else { return true }
            return CurlLibrary.linked.buffersBelowTLS || library.hasInput(tls)
        }

        /// Ends the client's direction: TLS with close_notify, then TCP.
        ///
        /// The result is partial if the socket does not accept the alert yet.
        func finishSending() -> WriteResult {
            if !isFinishing {
                isFinishing = true
                let record = closeNotify()
                if !record.isEmpty, record.withUnsafeBytes({ write($0) }) == .failed {
                    return .failed
                }
            }
            guard !hasUnsent else { return .partial }
            shutdown(socket, Int32(SHUT_WR))
            return .complete
        }

        /// The record that ends TLS; empty without TLS, and within TLS to a proxy, whose records only
        /// libcurl can write.
        private func closeNotify() -> [UInt8] {
            guard let tls, !key.mayLieWithinTLS else { return [] }
            return CloseNotify.loaded?.record(of: tls) ?? []
        }

        func close() {
            if let connector { return connector.cancel() }
            loop.connections.closed()
            loop.connectionTable.closed(socket)
            Glibc.close(socket)
        }

        /// Starts to observe whether the server ends TLS with close_notify, for a body that ends
        /// with its connection (RFC 9112 §9.8).
        func observeEnd() {
            endHook = connector.flatMap { errand_get_tls($0.handle) }
                .flatMap { ConnectionHook.of($0) }
        }

        /// Whether the observed connection has ended without close_notify.
        var lacksCloseNotify: Bool { endHook?.hasEnded == true }

        // MARK: - Events

        /// Watches the events that are needed now; returns false if the kernel lacks resources.
        @discardableResult
        func updateEvents() -> Bool {
            var wanted: UInt32 = 0
            if readsInput { wanted |= errand_epoll_in }
            if hasUnsent || hasMoreToSend, !waitsForInput { wanted |= errand_epoll_out }
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
            if let connector, !isFinishing {
                var count = 0
                let result = curl_easy_send(
                    connector.handle, bytes.baseAddress, bytes.count, &count)
                waitsForInput =
                    result == CURLE_AGAIN
                    && tls.flatMap { TLSLibrary.loaded?.wantsInput($0) } == true
                if result == CURLE_AGAIN { return 0 }
                return result == CURLE_OK ? count : -1
            }
            while true {
                let count = Glibc.send(
                    socket, bytes.baseAddress, bytes.count,
                    Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                if count >= 0 { return count }
                if errno == EINTR { continue }
                if errno == EAGAIN || errno == EWOULDBLOCK { return 0 }
                // After the end of the server's direction, a reset is reported as EPIPE.
                if errno != EPIPE { isReset = true }
                return -1
            }
        }

        // MARK: - Input

        func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
            if let connector {
                var count = 0
                let result = curl_easy_recv(
                    connector.handle, buffer.baseAddress, buffer.count, &count)
                if result == CURLE_AGAIN { return .nothing }
                guard result == CURLE_OK else { return .failed }
                return count > 0 ? .bytes(count) : .end
            }
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

    /// The times and the sizes of a transfer.
    struct HTTP1Times {
        var started = MonotonicTime.never
        var headBytesSent: Int64 = 0
        var headBytesReceived: Int64 = 0
        private var nameLookedUp: Duration?
        private var connected: Duration?
        private var secured: Duration?
        private var isReused: Bool?
        private var firstByte = MonotonicTime.never

        /// Records the connection of the request.
        mutating func use(_ connection: HTTP1Connection, created: MonotonicTime) {
            isReused = connection.state.isReused
            (nameLookedUp, connected, secured) = (nil, nil, nil)
            guard !connection.state.isReused else { return }
            // The connect may have begun before the transfer was created.
            let queued = started.since(created)
            func moment(_ duration: Duration?) -> Duration? {
                duration.map {
                    max(queued, connection.facts.started.advanced(by: $0).since(created))
                }
            }
            nameLookedUp = moment(connection.facts.nameLookedUp)
            connected = moment(connection.facts.connected)
            secured = moment(connection.facts.secured)
            if let name = nameLookedUp, let connected { nameLookedUp = min(name, connected) }
        }

        mutating func receivedInput() {
            if firstByte == .never { firstByte = EventLoop.readClock() }
        }

        func timings(created: MonotonicTime) -> AttemptTimings {
            var timings = AttemptTimings()
            if started != .never { timings.queued = started.since(created) }
            timings.finished = EventLoop.readClock().since(created)
            timings.nameLookedUp = nameLookedUp
            timings.connected = connected
            timings.secured = secured
            if firstByte != .never { timings.firstByte = firstByte.since(created) }
            timings.reusedConnection = isReused
            timings.headBytesReceived = headBytesReceived
            return timings
        }
    }
#endif
