// Performance annotations: decision 17.

#if os(Linux)
    import CLibcurl
    import ErrandSystem
    import ErrandTransport

    /// A connection that libcurl has opened: its bytes, its events, and what the engine needs of it.
    ///
    /// Bytes go through a socket, or through libcurl's handle if TLS protects the connection. Subclasses
    /// carry requests in the protocol that was negotiated.
    class OpenConnection {
        typealias ReadResult = Connector.ReadResult

        final let socket: Int32
        final let key: ConnectionKey
        final let facts: Connector.Facts
        private final let poll: Int32
        unowned(unsafe) final let engine: Engine
        /// The connection, as events describe it.
        final let description: Response.Connection
        /// The connector whose handle carries the bytes; `nil` if the socket does.
        final let connector: Connector?
        /// OpenSSL's object of the connection; `nil` without TLS.
        final let tls: UnsafeMutableRawPointer?
        /// Whether OpenSSL must read before it can write, as in a renegotiation of TLS 1.2.
        @exclusivity(unchecked) final private(set) var waitsForInput = false
        @exclusivity(unchecked) private final var watched: UInt32 = 0
        /// Whether input is watched.
        @exclusivity(unchecked) final var readsInput = true
        /// Whether a write has failed because the server has reset the connection; without TLS, the next reads find
        /// the rest of the input and an end, as if the server had ended its direction.
        final private(set) var isReset = false

        final var loop: EventLoop { engine.loop }

        /// Takes over the connection that a connector has established.
        init(
            _ opened: Connector.Opened, _ version: HTTPVersion, engine: Engine
        ) throws(RequestError) {
            let connector = opened.connector
            key = connector.key
            poll = engine.loop.poll
            self.engine = engine
            socket = opened.socket
            facts = connector.facts
            tls = opened.tls
            self.connector = key.usesTLS ? connector : nil
            description = Response.Connection(
                host: key.host.name, port: key.host.port, remoteAddress: facts.peer,
                isSecure: key.isSecure && key.route != .absoluteForm, httpVersion: version)
            engine.multi.opened(description, on: socket)
            guard updateEvents(wantsOutput: false) else {
                close()
                throw CurlFailure.cannotStart
            }
        }

        /// Whether input may remain that no event of the socket announces.
        final var buffersInput: Bool { connector != nil }

        final func close() {
            if let connector { return connector.cancel() }
            engine.loop.connections.closed()
            engine.multi.table.closed(socket)
            ErrandSystem.close(socket)
        }

        // MARK: - Requests

        /// Whether the connection carries many requests at once.
        final var isShared: Bool { description.httpVersion == .http2 }

        /// The number of the loop's idle checks when the connection became idle.
        @exclusivity(unchecked) final var idleSince = UInt64.max
        /// The time for which the server keeps the idle connection, in nanoseconds; `nil` if it is
        /// unknown.
        @exclusivity(unchecked) final var idleLifetime: UInt64?

        /// Uses the input that arrived before the first request.
        func begin(_ early: [UInt8]) {}

        /// Prepares for the next request after a complete response; returns false if there can be none.
        func prepareForNext() -> Bool { false }

        /// Whether another request may use the connection now.
        var hasPlace: Bool { false }

        /// Whether the server has allowed the extended CONNECT (RFC 8441 §3).
        var allowsExtendedConnect: Bool { false }

        /// The reason to close a connection that carries no request, because it has input or an end; `nil` if it has
        /// neither.
        var reasonToClose: Response.Connection.CloseReason? { nil }

        /// ``reasonToClose`` after a look at the input, whatever the loop has found.
        var currentReasonToClose: Response.Connection.CloseReason? { nil }

        /// Notifies the engine if no request uses the connection.
        func becomeIdleIfUnused() {}

        /// Sends the request of an exchange.
        func carry(_ exchange: Exchange) {}

        /// The exchange ends, or goes on without this connection.
        func leave(_ exchange: Exchange, _ ending: TransferState.Ending) {}

        /// The body source of an exchange has more bytes.
        func bodyIsReadable(_ exchange: Exchange) {}

        /// Sends the body, although the server has not asked for it (RFC 9110 §10.1.1).
        func continueBody(_ exchange: Exchange) {}

        /// The receiver of an exchange accepts bytes again.
        func resume(_ exchange: Exchange) {}

        /// The idle limit of an exchange has passed; returns whether its response is complete, so that it ends.
        func endsAtIdleLimit(_ exchange: Exchange) -> Bool { false }

        // MARK: - Events

        /// Serves the events of the socket.
        func serve(_ flags: UInt32) {}

        /// Reads, although the socket may have no event.
        func readAgain() {}

        /// Sends what was collected in this turn.
        func flush() {}

        /// Says to the server that the connection ends.
        func sayGoodbye() {}

        /// Checks whether a silent connection is alive; returns the time of the next check.
        func check(at now: MonotonicTime) -> MonotonicTime { .never }

        /// Watches the events that are needed now; returns false if the kernel lacks resources.
        @discardableResult
        final func updateEvents(wantsOutput: Bool) -> Bool {
            var wanted: UInt32 = 0
            if readsInput { wanted |= errand_epoll_in }
            if wantsOutput, !waitsForInput { wanted |= errand_epoll_out }
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

        // MARK: - Bytes

        /// Sends bytes; returns the number that was accepted, or -1 if the connection is broken.
        ///
        /// If none was accepted, the next call must begin with the same bytes and have at least as many.
        ///
        /// - Parameter isRaw: Whether the bytes are records of TLS already.
        final func send(_ bytes: UnsafeRawBufferPointer, isRaw: Bool = false) -> Int {
            if let connector, !isRaw {
                var count = 0
                let result = connector.curl.curl_easy_send(
                    connector.handle, bytes.baseAddress, bytes.count, &count)
                waitsForInput =
                    result == CURLE_AGAIN
                    && tls.flatMap { TLSLibrary.loaded?.wantsInput($0) } == true
                if result == CURLE_AGAIN { return 0 }
                return result == CURLE_OK ? count : -1
            }
            while true {
                let count = ErrandSystem.send(
                    socket, bytes.baseAddress, bytes.count,
                    SocketConstant.noSignal | Int32(MSG_DONTWAIT))
                if count >= 0 { return count }
                if errno == EINTR { continue }
                if errno == EAGAIN || errno == EWOULDBLOCK { return 0 }
                // After the end of the server's direction, a reset is reported as EPIPE.
                if errno != EPIPE { isReset = true }
                return -1
            }
        }

        final func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
            if let connector { return connector.read(into: buffer) }
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
