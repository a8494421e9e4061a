// Performance annotations: decision 17.

#if os(Linux)
    import CLibcurl
    import ErrandSystem
    import ErrandTransport

    /// A connection that carries HTTP/1.1 requests one after another.
    ///
    /// ``ConnectionState`` and ``ResponseParser`` decide; this class reads and writes.
    final class HTTP1Connection: OpenConnection {
        /// The result of a write.
        enum WriteResult { case complete, partial, failed }

        /// The hook that observes the end of the TLS connection.
        private var endHook: ConnectionHook?
        @exclusivity(unchecked) var state = ConnectionState()
        @exclusivity(unchecked) var parser = ResponseParser()
        /// The exchange that the connection carries.
        @exclusivity(unchecked) private(set) var exchange: Exchange?
        @exclusivity(unchecked) var writer = RequestBodyWriter(.none)
        /// The receiver of large reads, if it passes them to a reader.
        @exclusivity(unchecked) var stream: (any StreamReceiver)?
        /// The buffer of the current read, if a chunk may take it, and whether one has taken it.
        @exclusivity(unchecked) var chunkBuffer: (buffer: ReadBuffers.Buffer, isPassedOn: Bool)?
        /// Input that the receiver has not accepted yet.
        @exclusivity(unchecked) var unread: [UInt8]
        /// Bytes that the socket has not accepted yet, and the number of those sent since.
        @exclusivity(unchecked) private var unsent: [UInt8] = []
        @exclusivity(unchecked) private var sent = 0
        /// Whether input is read without use: it follows a complete response whose request is not completely sent.
        @exclusivity(unchecked) var discardsInput = false
        /// Whether the client's direction ends: the rest of the output goes to the socket, because it is
        /// the encrypted end of TLS.
        private var isFinishing = false
        /// Whether more can be sent although nothing is left over.
        @exclusivity(unchecked) var hasMoreToSend = false

        init(_ opened: Connector.Opened, engine: Engine) throws(RequestError) {
            // The first exchange takes early input.
            unread = opened.early
            try super.init(opened, .http11, engine: engine)
            state.connected()
        }

        // MARK: - Idle connections

        override var reasonToClose: Response.Connection.CloseReason? {
            if loop.idleCheck.isKnownIdle(since: idleSince), !holdsInput { return nil }
            return currentReasonToClose
        }

        /// The loop closes idle connections that have input, but the input may arrive later in the
        /// turn.
        override var currentReasonToClose: Response.Connection.CloseReason? {
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

        override func prepareForNext() -> Bool {
            guard state.isIdle else { return false }
            readsInput = true
            updateEvents()
            return true
        }

        /// Whether OpenSSL, or libcurl, may hold input that no event of the socket announces.
        private var holdsInput: Bool {
            guard buffersInput else { return false }
            guard let tls, let library = TLSLibrary.loaded, unread.isEmpty else { return true }
            // A tunnel may lie within a TLS connection to its proxy, which holds input of its own.
            guard key.route != .tunnel else { return true }
            return CurlLibrary.linked.buffersBelowTLS || library.hasInput(tls)
        }

        // MARK: - The end of TLS

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

        /// Starts to observe whether the server ends TLS with close_notify, for a body that ends
        /// with its connection (RFC 9112 §9.8).
        func observeEnd() {
            endHook = connector.flatMap { $0.curl.tls($0.handle) }
                .flatMap { ConnectionHook.of($0) }
        }

        /// Whether the observed connection has ended without close_notify.
        var lacksCloseNotify: Bool { endHook?.hasEnded == true }

        // MARK: - Output

        var hasUnsent: Bool { sent < unsent.count }

        /// Watches the events that are needed now; returns false if the kernel lacks resources.
        @discardableResult
        func updateEvents() -> Bool { updateEvents(wantsOutput: hasUnsent || hasMoreToSend) }

        /// Sends bytes, and keeps those that the socket does not accept.
        func write(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
            guard !hasUnsent else {
                unsent.append(contentsOf: bytes)
                return .partial
            }
            let count = send(bytes, isRaw: isFinishing)
            guard count >= 0 else { return .failed }
            guard count < bytes.count else { return .complete }
            sent = 0
            unsent.removeAll(keepingCapacity: true)
            unsent.append(contentsOf: bytes[count...])
            return .partial
        }

        /// Sends what is left over.
        func flushUnsent() -> WriteResult {
            guard hasUnsent else { return .complete }
            let count = unsent.withUnsafeBytes {
                send(UnsafeRawBufferPointer(rebasing: $0[sent...]), isRaw: isFinishing)
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

        // MARK: - Events

        override func serve(_ flags: UInt32) {
            guard let exchange else {
                // The end of an idle connection, or unsolicited data (RFC 9112 §9.2).
                // An event of an earlier socket with this number changes nothing.
                if let reason = currentReasonToClose, state.unsolicitedInput() == .close {
                    engine.closeIdle(self, reason)
                }
                return
            }
            if flags & errand_epoll_out != 0 { writable() }
            if flags & ~errand_epoll_out != 0, self.exchange === exchange { readAgain() }
        }

        override func readAgain() {
            guard let exchange else { return }
            readable(engine.inputBuffer(for: exchange))
            if waitsForInput, self.exchange === exchange { writable() }
        }

        // MARK: - Exchanges

        override func carry(_ exchange: Exchange) {
            guard exchange.willUseConnection() else {
                return engine.release(self, keepsConnection: true)
            }
            do throws(RequestError) {
                try exchange.writeHead()
            } catch {
                engine.release(self, keepsConnection: true)
                return exchange.fail(error)
            }
            do throws(RequestError) {
                // The receiver may have taken any time, in which the server may have sent data.
                if try exchange.reportsPins(of: self), state.isReused,
                    let reason = currentReasonToClose
                {
                    engine.discard(self, reason)
                    return engine.acquire(for: exchange)
                }
            } catch {
                engine.discard(self, .failed)
                return exchange.fail(error)
            }
            begin(exchange)
        }

        private func begin(_ exchange: Exchange) {
            let request = exchange.transfer.request
            writer = RequestBodyWriter(exchange.bodyLength)
            let expects = exchange.expectsContinue
            let isReused = state.isReused
            let isStarted = state.begin(
                hasBody: !writer.isComplete, expectsContinue: expects,
                closes: Self.closesConnection(request))
            guard isStarted else {
                engine.discard(self, .unknown)
                return exchange.fail(CurlFailure.unknown)
            }
            self.exchange = exchange
            exchange.willSend(on: self, isReused: isReused)
            // `switchProtocols(_:)` decides whether 101 is a valid response.
            parser.begin(
                isHead: request.method == .head, acceptsUpgrade: true,
                limit: request.options.maximumHeadBytes)
            exchange.times.headBytesSent += Int64(engine.output.count)
            engine.headOwner = 0
            if exchange.upload != nil, !expects {
                // The first part of the body follows in the same system call.
                guard writeBody(of: exchange) != nil else { return }
                loop.scheduleSweep(by: exchange.deadlines.first)
            }
            send()
            pump()
            readEarlyInput(for: exchange)
        }

        /// Whether the connection is not used after this request.
        private static func closesConnection(_ request: TransportRequest) -> Bool {
            guard request.hasConnectionField else { return false }
            var options = ConnectionOptions()
            for field in request.headers[fields: .connection] { options.add(field) }
            return options.hasClose
        }

        /// Takes the input that arrived before the request was sent on a new connection.
        private func readEarlyInput(for exchange: Exchange) {
            guard self.exchange === exchange, buffersInput, !unread.isEmpty else { return }
            let input = unread
            unread = []
            input.withUnsafeBytes { received($0, for: exchange) }
            // OpenSSL may hold more.
            if self.exchange != nil { engine.readLater(self) }
        }

        override func bodyIsReadable(_ exchange: Exchange) { pump() }

        override func continueBody(_ exchange: Exchange) { sendBody(of: exchange) }

        override func resume(_ exchange: Exchange) {
            if self.exchange === exchange { readOn(for: exchange) }
        }

        override func leave(_ exchange: Exchange, _ ending: TransferState.Ending) {
            guard self.exchange === exchange else { return }
            _ = state.failed()
            detach(exchange)
            engine.discard(self, ending.closeReason)
        }

        /// Separates the exchange from the connection.
        func detach(_ exchange: Exchange) {
            exchange.times.headBytesReceived = parser.headBytes
            exchange.hasResponseBegun = parser.hasBegun
            exchange.connection = nil
            self.exchange = nil
            stream = nil
            unread = []
        }

        override func endsAtIdleLimit(_ exchange: Exchange) -> Bool {
            guard state.exchange?.receiving == .done else { return false }
            perform(state.idleLimitReached())
            return true
        }

        func perform(_ action: ConnectionState.Action) {
            switch action {
            case .none, .sendBody, .close: break
            case .stopSending:
                dropUnsent()
                updateEvents()
            case .end(let keepsConnection):
                guard let exchange else { return }
                detach(exchange)
                engine.release(self, keepsConnection: keepsConnection)
                exchange.complete()
            case .fail: exchangeFailed(.lostInBody)
            }
        }

        /// The response is malformed, or the connection was lost.
        func exchangeFailed(_ fault: ResponseFault) {
            guard let exchange else { return }
            let isReused = state.isReused
            let request = exchange.transfer.request
            let alert = connector?.alertError(for: request, exchange.options)
            _ = state.failed()
            detach(exchange)
            // The server has closed it while it was idle, or refuses the request.
            engine.discard(self, exchange.hasResponseBegun ? .failed : .serverClosed)
            exchange.lost(
                isReused: isReused, alert: alert,
                error: fault.error(host: request.host ?? exchange.key.host.name))
        }
    }
#endif
