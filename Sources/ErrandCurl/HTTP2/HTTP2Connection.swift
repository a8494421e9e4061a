// Performance annotations: decision 17.

#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import HTTPTypes

    /// A connection that carries HTTP/2 requests, many at once.
    ///
    /// ``SessionState`` decides about frames, streams and windows, ``HealthCheck`` about silence; this
    /// class reads and writes. The frames of a turn of the loop are sent at its end.
    final class HTTP2Connection: OpenConnection {
        /// The number of bytes that wait to be sent from which on no content is added.
        private static let outputLimit = 64 << 10
        /// The number of bytes that a receiver gets at once after a pause.
        private static let unreadPart = 64 << 10
        /// The number of bytes that wait to be sent from which on nothing is read, because the server
        /// does not read.
        private static let backlogLimit = 1 << 20
        /// The number of times that output is filled and sent, or input is read, in one turn, so that other
        /// connections proceed.
        private static let roundsAtOnce = 16

        @exclusivity(unchecked) var session: SessionState
        /// The frames that were not sent; the first `sent` bytes were.
        let output = TextBuffer(capacity: 4 << 10)
        @exclusivity(unchecked) private var sent = 0
        /// The exchanges by the slots of their streams.
        @exclusivity(unchecked) private var exchanges: [Exchange?] = []
        /// The exchanges whose bodies may be sent now, in the order of their turns.
        @exclusivity(unchecked) private var senders: [Exchange] = []
        /// The exchanges whose readers are notified at the end of these reads.
        @exclusivity(unchecked) private var reading: [Exchange] = []
        /// The exchanges that wait for SETTINGS, which say whether an extended CONNECT is allowed.
        private var tunnels: [Exchange] = []
        @exclusivity(unchecked) private var health: HealthCheck
        private var pings: UInt64 = 0
        /// Whether the connection sends at the end of this turn, or of the next one.
        @exclusivity(unchecked) private var isQueued = false
        /// Whether the socket accepts no bytes.
        @exclusivity(unchecked) private var isBlocked = false
        /// Whether a write has failed; what the server has sent before is still read.
        private var isBroken = false
        /// Whether a request has timed out and nothing has arrived since.
        private var isSuspect = false
        private var isClosed = false
        /// Whether the pool offers the connection to requests.
        private var isOffered = true
        /// Whether the connection has carried a request.
        private var wasUsed = false
        /// The last limit of requests at once that the engine knows.
        private var streamLimit: Int?

        /// Takes over a connection.
        ///
        /// - Parameter assumedStreams: The number of requests that are sent before the server names its limit.
        init(
            _ opened: Connector.Opened, assumedStreams: Int, engine: Engine
        ) throws(RequestError) {
            health = HealthCheck(at: engine.loop.now)
            var limits = SessionState.Limits()
            limits.assumedStreams = assumedStreams
            session = SessionState(limits)
            try super.init(opened, .http2, engine: engine)
        }

        /// Starts the session, with the input that has arrived already.
        override func begin(_ early: [UInt8]) {
            session.start(into: output)
            if !early.isEmpty {
                session.inputArrived(at: loop.now)
                early.withUnsafeBytes { process($0) }
            }
            guard !isClosed else { return }
            // OpenSSL may hold more.
            if buffersInput { engine.readLater(self) }
            flushLater()
            engine.givePlaces(of: self)
        }

        // MARK: - Requests

        override var hasPlace: Bool {
            isOffered && !isSuspect && !isBroken && session.places > 0
        }

        override var allowsExtendedConnect: Bool { session.peer.allowsConnectProtocol }

        override func carry(_ exchange: Exchange) {
            guard exchange.willUseConnection() else { return becomeIdleIfUnused() }
            if exchange.streamOwner != nil, !allowsExtendedConnect {
                return awaitSettings(exchange)
            }
            do throws(RequestError) {
                let head = try exchange.takeHead()
                if let limit = session.peer.maximumHeaderList, head.listSize > limit {
                    throw Self.tooLarge(head, limit, exchange.transfer.request)
                }
                _ = try exchange.reportsPins(of: self)
                // The receiver may have taken any time, but input of this connection is read only by events.
                try open(head, for: exchange)
            } catch {
                exchange.fail(error)
                // Waiting requests may have other pins.
                if error.code == .pinMismatch, session.streamCount == 0, tunnels.isEmpty,
                    !engine.offerPlaces(of: self)
                {
                    return close(.failed)
                }
                becomeIdleIfUnused()
            }
        }

        /// Lets an extended CONNECT wait for the server's SETTINGS (RFC 8441 §3), unless they have refused it.
        private func awaitSettings(_ exchange: Exchange) {
            guard !session.peer.isKnown else {
                exchange.useHTTP11()
                return becomeIdleIfUnused()
            }
            exchange.connection = self
            tunnels.append(exchange)
        }

        /// Goes on with the exchanges that have waited for SETTINGS.
        private func settingsArrived() {
            guard !tunnels.isEmpty, session.peer.isKnown else { return }
            let waiting = tunnels
            tunnels = []
            for exchange in waiting {
                exchange.connection = nil
                // SETTINGS have named the limit of streams, and the connection may count as idle.
                engine.acquire(for: exchange)
            }
            streamEnded()
        }

        /// The head is larger than the server accepts; nothing was sent.
        private static func tooLarge(
            _ head: RequestHead, _ limit: Int, _ request: TransportRequest
        ) -> RequestError {
            RequestError(
                .invalidHeader, stage: .transport,
                "The request's head has \(head.listSize) bytes, and \(request.host ?? "the server") accepts only "
                    + "\(limit) (SETTINGS_MAX_HEADER_LIST_SIZE). Nothing was sent. Send fewer or shorter headers."
            )
        }

        private func open(_ head: RequestHead, for exchange: Exchange) throws(RequestError) {
            // PING precedes the request: the connection may be dead.
            if health.isDueBeforeUse(at: loop.now) { ping() }
            health.requestBegan(at: loop.now, isFirst: !isWaiting)
            let start = output.count
            exchange.wasSentEarly = session.phase == .opening
            let scratch = engine.scratch
            let key = session.open(head.stream, into: output) { encoder, output in
                head.write(with: &encoder, scratch: scratch, into: output)
            }
            // The pool asks for places before.
            guard let key else { throw CurlFailure.unknown }
            exchange.times.headBytesSent += Int64(output.count - start)
            while exchanges.count <= key.slot { exchanges.append(nil) }
            exchanges[key.slot] = exchange
            exchange.stream = key
            exchange.unread = UnreadContent()
            exchange.streamEnd = nil
            exchange.isInputEnded = false
            exchange.trailers = HTTPFields()
            flushLater()
            exchange.willSend(on: self, isReused: wasUsed)
            wasUsed = true
            exchange.frames = RequestBodyFrames(exchange.announcedBody)
            if !exchange.frames.isComplete {
                if exchange.expectsContinue { exchange.awaitContinue() } else { queue(exchange) }
            }
            scheduleCheck()
        }

        override func bodyIsReadable(_ exchange: Exchange) { queue(exchange) }

        override func continueBody(_ exchange: Exchange) {
            exchange.continueAt = .never
            queue(exchange)
        }

        /// Lets an exchange send its body as the windows allow.
        private func queue(_ exchange: Exchange) {
            guard let key = exchange.stream, session.isSending(key), !exchange.frames.isComplete,
                exchange.continueAt == .never, !exchange.isSourceEmpty,
                !senders.contains(where: { $0 === exchange })
            else { return }
            senders.append(exchange)
            flushLater()
        }

        override func leave(_ exchange: Exchange, _ ending: TransferState.Ending) {
            let wasSilent = !exchange.hasResponseBegun
            if let index = tunnels.firstIndex(where: { $0 === exchange }) {
                tunnels.remove(at: index)
                guard !isClosed else { return }
            } else {
                guard let key = exchange.stream, carried(on: key) === exchange else { return }
                remove(exchange, key)
                guard !isClosed else { return }
                session.reset(key, into: output)
            }
            if case .timedOut = ending {
                if health.isDueAtTimeout { ping() }
                // Others may depend on the connection; the PING decides whether it is dead. Until then, no
                // further request does.
                isSuspect = true
            } else if ending == .cancelled, wasSilent, health.isDueAtTimeout {
                ping()
            }
            scheduleCheck()
            flushLater()
            streamEnded()
        }

        override func endsAtIdleLimit(_ exchange: Exchange) -> Bool {
            // The response is complete, and the server does not take the rest of the request.
            guard let key = exchange.stream, !session.isReceiving(key) else { return false }
            session.reset(key, into: output)
            end(exchange, key, .complete)
            return true
        }

        // MARK: - Streams

        private func carried(on key: StreamKey) -> Exchange? {
            guard key.slot < exchanges.count, let exchange = exchanges[key.slot],
                exchange.stream == key
            else { return nil }
            return exchange
        }

        /// Separates an exchange from its stream.
        private func remove(_ exchange: Exchange, _ key: StreamKey) {
            exchanges[key.slot] = nil
            exchange.stream = nil
            if let index = senders.firstIndex(where: { $0 === exchange }) {
                senders.remove(at: index)
            }
        }

        /// A stream has ended: another request may take its place.
        private func streamEnded() {
            guard !isClosed, !isOffered || isSuspect || !engine.offerPlaces(of: self) else {
                return
            }
            becomeIdleIfUnused()
        }

        override func becomeIdleIfUnused() {
            guard !isClosed, session.streamCount == 0, tunnels.isEmpty else { return }
            if session.phase == .draining || session.isExhausted {
                let failure = StreamFailure.unprocessed(session.goAwayCode ?? .noError)
                return close(
                    .serverClosed, error: failure.error(host: key.host.name, hasHead: false))
            }
            engine.becameIdle(self)
        }

        /// Ends an exchange whose stream has ended, when its receiver has accepted all content.
        private func end(_ exchange: Exchange, _ key: StreamKey, _ end: Exchange.StreamEnd) {
            remove(exchange, key)
            if exchange.holdsContent {
                exchange.streamEnd = end
                if case .failed = end { exchange.loseOutput() }
            } else {
                finish(exchange, end)
            }
            streamEnded()
        }

        private func finish(_ exchange: Exchange, _ end: Exchange.StreamEnd) {
            exchange.streamEnd = nil
            switch end {
            case .complete:
                exchange.connection = nil
                exchange.complete()
            case .failed(let error): exchange.fail(error)
            }
        }

        // MARK: - Output

        private var pending: Int { output.count - sent }

        private func flushLater() {
            guard !isQueued, !isClosed else { return }
            isQueued = true
            engine.flushLater(self)
        }

        override func flush() {
            isQueued = false
            for _ in 0..<Self.roundsAtOnce where !isBlocked {
                if !senders.isEmpty { fill() }
                guard !isClosed, pending > 0, !isBroken else { break }
                write()
                if senders.isEmpty || isClosed { break }
            }
            guard !isClosed else { return }
            if !readsInput, pending < Self.backlogLimit { engine.readLater(self) }
            readsInput = pending < Self.backlogLimit
            // More is sent in the next turn, when the socket accepts it.
            updateEvents(wantsOutput: !isBroken && (pending > 0 || !senders.isEmpty))
        }

        private func write() {
            let count = send(UnsafeRawBufferPointer(rebasing: output.contents[sent...]))
            guard count >= 0 else { return sendFailed() }
            // An upload fills the buffer before each write, so it may never be empty.
            sent = output.remove(sent: sent + count, limit: Self.outputLimit)
            isBlocked = pending > 0
        }

        /// Adds content of the bodies, a frame of each in turn.
        private func fill() {
            // The sources and the receivers may take any time.
            loop.idleCheck.expire()
            while pending < Self.outputLimit, !senders.isEmpty, !isClosed {
                let exchange = senders.removeFirst()
                if exchange.transfer.signals().contains(.cancel) {
                    exchange.stop(.cancelled)
                } else if sendFrame(of: exchange) {
                    senders.append(exchange)
                }
            }
        }

        /// Writes the next frame of a body; returns whether another one may follow now.
        private func sendFrame(of exchange: Exchange) -> Bool {
            guard let key = exchange.stream, var upload = exchange.upload else { return false }
            // The property is empty meanwhile, so that the bytes it holds back are not copied.
            exchange.upload = nil
            let step = exchange.frames.write(
                from: &upload, on: key, of: &session, limit: Frame.defaultMaximum, into: output)
            exchange.upload = upload
            switch step {
            case .frame:
                exchange.bodyWasSent()
                return exchange.stream == key
            case .complete(let endsStream):
                exchange.bodyWasSent()
                if endsStream, exchange.stream == key { end(exchange, key, .complete) }
            case .wait: exchange.awaitSource()
            case .blocked, .stopped: break
            case .failed(let error): exchange.fail(error)
            }
            return false
        }

        /// The server has closed the connection; it may have said why.
        private func sendFailed() {
            isBroken = true
            sent = 0
            output.removeAll()
            senders.removeAll()
            engine.drain(self)
            isOffered = false
            engine.readLater(self)
        }

        override func sayGoodbye() {
            isClosed = true
            guard !isBroken else { return }
            session.close(.noError, into: output)
            if pending > 0, !isBlocked {
                _ = send(UnsafeRawBufferPointer(rebasing: output.contents[sent...]))
            }
        }

        /// Closes the connection; no exchange is left.
        ///
        /// - Parameter error: The error of requests that wait for a connection, if this one has carried none: others
        ///   would probably carry none either.
        private func close(
            _ reason: Response.Connection.CloseReason, error: RequestError? = nil
        ) {
            guard !isClosed else { return }
            guard let error, !wasUsed else { return engine.discard(self, reason) }
            engine.discardUnused(self, reason, error)
        }

        // MARK: - Health

        private func ping() {
            pings += 1
            session.ping(pings, into: output)
            health.sent(at: loop.now, acknowledged: SendQueue(of: socket)?.acknowledged)
            flushLater()
        }

        private func scheduleCheck() {
            guard case .wait(let moment) = health.check(at: loop.now, isWaiting: isWaiting) else {
                return loop.scheduleSweep(by: loop.now)
            }
            loop.scheduleSweep(by: moment)
        }

        private var isWaiting: Bool { session.streamCount > 0 }

        override func check(at now: MonotonicTime) -> MonotonicTime {
            switch health.check(at: now, isWaiting: isWaiting) {
            case .wait(let moment): return moment
            case .ping:
                ping()
                return check(at: now)
            case .close:
                // The loop may have been busy meanwhile.
                readAgain()
                guard !isClosed else { return .never }
                let isAlive = SendQueue(of: socket).map { health.goesOn($0, at: now) } ?? false
                if isAlive || !health.isPending { return check(at: loop.now) }
                lost(.timedOut, isReset: true)
                return .never
            }
        }

        // MARK: - Input

        override func serve(_ flags: UInt32) {
            if flags & errand_epoll_out != 0 {
                isBlocked = false
                flushLater()
            }
            guard flags & ~errand_epoll_out != 0 else { return }
            readAgain()
            if waitsForInput {
                isBlocked = false
                flushLater()
            }
        }

        override func readAgain() {
            readInput()
            while let exchange = reading.popLast() { exchange.endRead() }
        }

        private func readInput() {
            let buffer = engine.inputBuffer
            for _ in 0..<Self.roundsAtOnce {
                guard !isClosed, readsInput else { return }
                switch read(into: buffer) {
                case .bytes(let count):
                    health.received(at: loop.now)
                    if isSuspect {
                        isSuspect = false
                        _ = engine.offerPlaces(of: self)
                    }
                    session.inputArrived(at: loop.now)
                    process(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    if !buffersInput, count < buffer.count { return }
                case .nothing:
                    // After a failed write nothing more arrives.
                    if isBroken { connectionEnded(isReset: true) }
                    return
                case .end: return connectionEnded(isReset: false)
                case .failed: return connectionEnded(isReset: true)
                }
            }
            if !isClosed { engine.readLater(self) }
        }

        private func connectionEnded(isReset: Bool) {
            lost(session.streamCount > 0 ? .failed : .serverClosed, isReset: isReset)
        }

        /// The connection was lost: all its exchanges fail, or are sent again.
        private func lost(_ reason: Response.Connection.CloseReason, isReset: Bool) {
            guard !isClosed else { return }
            let left = exchanges.compactMap { $0 }
            let alerts = left.map {
                connector?.alertError(for: $0.transfer.request, $0.options)
            }
            isBroken = true
            let waiting = tunnels
            tunnels = []
            let fault = isReset ? ResponseFault.lostBeforeHead : .noResponse
            close(reason, error: fault.error(host: key.host.name))
            for exchange in waiting {
                exchange.connection = nil
                exchange.lost(
                    isReused: wasUsed, alert: nil,
                    error: ResponseFault.lostBeforeHead.error(
                        host: exchange.transfer.request.host ?? ""))
            }
            for (exchange, alert) in zip(left, alerts) {
                guard let key = exchange.stream, carried(on: key) === exchange else {
                    continue
                }
                guard session.isReceiving(key) else {
                    // §8.1: the response is complete without the rest of the request.
                    end(exchange, key, .complete)
                    continue
                }
                remove(exchange, key)
                let host = exchange.transfer.request.host ?? ""
                let fault: ResponseFault =
                    if exchange.hasResponseBegun {
                        isReset ? .lostInBody : .truncatedBody
                    } else {
                        isReset ? .lostBeforeHead : .noResponse
                    }
                // GOAWAY says why the connection has ended, unless an alert does.
                var reason = alert
                if reason == nil, let code = session.goAwayCode, code != .noError {
                    let failure = StreamFailure.reset(code)
                    reason = failure.error(host: host, hasHead: exchange.hasResponseBegun)
                }
                let error = reason ?? fault.error(host: host)
                guard !exchange.holdsContent else {
                    exchange.streamEnd = .failed(error)
                    exchange.loseOutput()
                    continue
                }
                exchange.connection = nil
                if session.goAwayCode == .http11Required, !exchange.hasResponseBegun {
                    exchange.needsHTTP11()
                    continue
                }
                exchange.lost(
                    isReused: exchange.isConnectionReused, alert: reason, error: error)
            }
        }

        /// Reads the events of the session.
        private func process(_ bytes: UnsafeRawBufferPointer) {
            var input = bytes
            while !isClosed {
                switch session.next(&input, into: output) {
                case .needsInput:
                    if output.count > 0 { flushLater() }
                    return
                case .interim(let key, let head): receive(interim: head, on: key)
                case .head(let key, let head, let continuation):
                    receive(head, on: key, continuation)
                case .content(let key, let bytes, let continuation):
                    receive(content: bytes, on: key, continuation)
                case .trailers(let key, let fields, let continuation):
                    guard let exchange = carried(on: key) else { continue }
                    exchange.deadlines.active(at: loop.now)
                    exchange.trailers = fields
                    proceed(exchange, key, continuation)
                case .ended(let key, let failure): receive(failure, on: key)
                case .sendable(let key):
                    if let exchange = carried(on: key) { queue(exchange) }
                case .changed:
                    settingsArrived()
                    for exchange in exchanges { if let exchange { queue(exchange) } }
                    noteLimit()
                    if isOffered { _ = engine.offerPlaces(of: self) }
                case .draining: drain()
                case .pingAcknowledged(let number):
                    if number == pings { health.pingAcknowledged() }
                case .failed(let fault): fail(fault)
                }
            }
        }

        /// Notifies the engine of the server's limit of requests at once.
        private func noteLimit() {
            let limit = session.peer.maximumStreams
            guard session.peer.isKnown, limit != streamLimit else { return }
            streamLimit = limit
            engine.noteLimit(limit, of: self)
        }

        /// The connection accepts no further requests.
        private func drain() {
            session.drain()
            isOffered = false
            engine.drain(self)
            becomeIdleIfUnused()
            if !isClosed { engine.startConnects() }
        }

        /// The server has broken the protocol: GOAWAY is in the output, and all exchanges fail.
        private func fail(_ fault: SessionFault) {
            if !isBroken, !isBlocked, pending > 0 {
                _ = send(UnsafeRawBufferPointer(rebasing: output.contents[sent...]))
            }
            let left = exchanges.compactMap { $0 }
            let waiting = tunnels
            tunnels = []
            isBroken = true
            close(.failed, error: fault.error(host: key.host.name))
            for exchange in waiting {
                exchange.connection = nil
                exchange.fail(fault.error(host: exchange.transfer.request.host ?? ""))
            }
            for exchange in left {
                guard let key = exchange.stream, carried(on: key) === exchange else {
                    continue
                }
                // §8.1: the response may be complete without the rest of the request.
                let error = fault.error(host: exchange.transfer.request.host ?? "")
                end(exchange, key, session.isReceiving(key) ? .failed(error) : .complete)
            }
        }

        private func receive(interim head: HeadParser.Head, on key: StreamKey) {
            guard let exchange = carried(on: key) else { return }
            exchange.deadlines.active(at: loop.now)
            exchange.times.receivedInput()
            exchange.hasResponseBegun = true
            exchange.receive(interim: head)
            if head.status.code == 100, exchange.continueAt != .never { continueBody(exchange) }
        }

        private func receive(
            _ head: HeadParser.Head, on key: StreamKey,
            _ continuation: SessionState.Continuation
        ) {
            guard let exchange = carried(on: key) else { return }
            exchange.deadlines.active(at: loop.now)
            exchange.times.receivedInput()
            exchange.times.headBytesReceived += Int64(head.size - 32 * (head.fields.count + 1))
            exchange.hasResponseBegun = true
            if let owner = exchange.streamOwner, head.status.code < 300 {
                exchange.handOver(to: owner, head)
                // The source decides about the end.
                exchange.frames = RequestBodyFrames(RequestHead.Body())
                queue(exchange)
                return proceed(exchange, key, continuation)
            }
            let (hasBody, fault) = exchange.prepare(for: head)
            var continuation = continuation
            // A response instead of 100 (Continue) suppresses the body.
            if exchange.continueAt != .never {
                exchange.continueAt = .never
                if session.stopSending(key, into: output) { continuation = .ended }
            }
            exchange.receiver?.didReceive(head: exchange.responseHead(head, hasBody: hasBody))
            if let fault { return exchange.fail(fault) }
            if exchange.transfer.signals().contains(.cancel) { return exchange.stop(.cancelled) }
            proceed(exchange, key, continuation)
        }

        private func receive(
            content bytes: UnsafeRawBufferPointer, on key: StreamKey,
            _ continuation: SessionState.Continuation
        ) {
            guard let exchange = carried(on: key) else { return }
            exchange.deadlines.active(at: loop.now)
            if exchange.state.isPaused {
                exchange.unread.append(contentsOf: bytes)
            } else {
                if exchange.beginRead(bytes.count) { reading.append(exchange) }
                exchange.deliver(bytes)
                guard exchange.stream == key else { return }
                session.accept(bytes.count, of: key, into: output)
            }
            proceed(exchange, key, continuation)
        }

        /// Ends an exchange whose response is complete.
        private func proceed(
            _ exchange: Exchange, _ key: StreamKey, _ continuation: SessionState.Continuation
        ) {
            guard continuation != .receiving, exchange.stream == key else { return }
            if exchange.streamOwner != nil {
                exchange.isInputEnded = true
                reportInputEnd(of: exchange)
            }
            if continuation == .ended, exchange.stream == key { end(exchange, key, .complete) }
        }

        /// Notifies the owner of a stream that the server has ended its direction, after all content.
        private func reportInputEnd(of exchange: Exchange) {
            guard exchange.isInputEnded, exchange.unread.isEmpty else { return }
            exchange.isInputEnded = false
            exchange.streamOwner?.didReceiveEnd()
        }

        private func receive(_ failure: StreamFailure, on key: StreamKey) {
            guard let exchange = carried(on: key) else { return }
            let request = exchange.transfer.request
            let error = failure.error(
                host: request.host ?? "", hasHead: exchange.hasResponseBegun)
            guard let error else { return end(exchange, key, .complete) }
            switch failure {
            case .unprocessed(let code):
                remove(exchange, key)
                exchange.connection = nil
                if code == .http11Required {
                    exchange.needsHTTP11(isUnprocessed: true)
                } else {
                    let wasEarly = isOffered && exchange.wasSentEarly
                    // Without a reason that passes, the server is about to close the connection, or overloaded.
                    if isOffered, !wasEarly, session.places > 0 { drain() }
                    exchange.wasUnprocessed(error, wasEarly: wasEarly)
                }
                streamEnded()
            case .requiresHTTP11:
                remove(exchange, key)
                exchange.connection = nil
                exchange.needsHTTP11()
                streamEnded()
            default: end(exchange, key, .failed(error))
            }
        }

        // MARK: - Pauses

        /// The receiver accepts bytes again; the decoder has delivered what it held.
        override func resume(_ exchange: Exchange) {
            var unread = exchange.unread
            exchange.unread = UnreadContent()
            if !unread.isEmpty { _ = exchange.beginRead(unread.storageCount) }
            let delivered = unread.accept { bytes in
                var delivered = 0
                while delivered < bytes.count, exchange.connection === self,
                    !exchange.state.isPaused
                {
                    let count = min(bytes.count - delivered, Self.unreadPart)
                    exchange.deliver(
                        UnsafeRawBufferPointer(rebasing: bytes[delivered..<delivered + count]))
                    delivered += count
                }
                return delivered
            }
            guard exchange.connection === self else { return exchange.endRead() }
            exchange.unread = unread
            exchange.endRead()
            reportInputEnd(of: exchange)
            if let key = exchange.stream {
                session.accept(delivered, of: key, into: output)
                flushLater()
            } else if exchange.unread.isEmpty, let end = exchange.streamEnd {
                finish(exchange, end)
            }
        }
    }
#endif
