// Performance annotations: decision 17.

#if os(Linux)
    import ErrandTransport
    import HTTPTypes

    /// A request and its response, whatever protocol carries them.
    ///
    /// ``TransferState`` decides about the end and the receiver; the connection decides how the request
    /// is sent and what its input means.
    final class Exchange: TransferOwner {
        unowned(unsafe) let engine: Engine
        let transfer: CurlTransfer
        /// The number among the engine's exchanges.
        let number: UInt64
        /// The options of the request, with its proxy.
        let options: TransportOptions
        private(set) var key: ConnectionKey
        /// The trust in the server, which is checked before each request if it has pins; indirect, because it is large
        /// and rare then.
        private indirect enum Trust { case standard, own(PeerTrust) }

        private let trust: Trust
        /// The index among the engine's active exchanges.
        @exclusivity(unchecked) var activeIndex = 0
        /// The number in the line of waiting requests.
        @exclusivity(unchecked) var ticket: UInt64? {
            didSet { if ticket != nil { hasWaited = true } }
        }
        /// Whether the request has waited for its connection.
        private var hasWaited = false
        @exclusivity(unchecked) var deadlines = Deadlines()

        let receiver: (any TransferReceiver)?
        /// The receiver, if it takes over the stream of an extended CONNECT.
        private(set) var streamOwner: (any ConnectionOwner)?
        @exclusivity(unchecked) var connection: OpenConnection?
        /// The stream on a shared connection; `nil` if it has ended.
        @exclusivity(unchecked) var stream: StreamKey?
        /// The body as frames of the stream.
        @exclusivity(unchecked) var frames = RequestBodyFrames(nil)
        /// The head for HTTP/2, until it is written.
        @exclusivity(unchecked) private var head: RequestHead?
        /// Whether the head for HTTP/1.1 was written, which happens again if other heads are sent before it.
        @exclusivity(unchecked) private var wasHeadWritten = false
        @exclusivity(unchecked) var state = TransferState()
        @exclusivity(unchecked) var body = BodyReader()
        @exclusivity(unchecked) var upload: Upload?
        /// Whether the body source has no bytes at present.
        @exclusivity(unchecked) var isSourceEmpty = false
        /// Whether the receiver has taken the connection, or its stream, over.
        @exclusivity(unchecked) var isHandedOver = false
        /// Content of a stream that the receiver has not accepted yet.
        @exclusivity(unchecked) var unread = UnreadContent()
        /// Whether the receiver has not accepted all content of a stream; the decoder may hold a part of it.
        var holdsContent: Bool { !unread.isEmpty || state.isPaused && body.isDecoding }
        /// The receiver, if it passes large content of a stream to a reader that is notified of its begin and its end;
        /// `nil` until such content has arrived.
        @exclusivity(unchecked) private var reader: (any StreamReceiver)?
        /// Whether the reader is notified of the end of this content later.
        @exclusivity(unchecked) private var isReading = false
        /// The end of a stream whose content the receiver has not accepted yet.
        @exclusivity(unchecked) var streamEnd: StreamEnd?
        /// Whether the server has ended its direction of a stream that was handed over.
        @exclusivity(unchecked) var isInputEnded = false
        let mayReplay: Bool
        /// Whether the request was sent again because its connection was lost.
        @exclusivity(unchecked) var hasReplayed = false
        /// How often the request was sent.
        @exclusivity(unchecked) private(set) var sendCount = 0
        /// Whether the request was sent before the server's limits were known.
        @exclusivity(unchecked) var wasSentEarly = false
        /// The number of these sends that do not count, at most one.
        private var uncountedSends = 0
        @exclusivity(unchecked) var failure: RequestError?
        @exclusivity(unchecked) var trailers = HTTPFields()
        /// Whether a part of the response has arrived.
        @exclusivity(unchecked) var hasResponseBegun = false
        /// Whether the connection had carried another request before.
        @exclusivity(unchecked) private(set) var isConnectionReused = false
        /// The time at which the body is sent without 100 (Continue).
        @exclusivity(unchecked) var continueAt = MonotonicTime.never
        @exclusivity(unchecked) private var reportedBytes: Int64 = 0
        @exclusivity(unchecked) var times = ExchangeTimes()

        /// The end of a stream.
        enum StreamEnd {
            case complete
            case failed(RequestError)
        }

        var loop: EventLoop { engine.loop }

        init(_ transfer: CurlTransfer, number: UInt64, engine: Engine) {
            let request = transfer.request
            self.transfer = transfer
            self.number = number
            self.engine = engine
            receiver = transfer.receiver
            options = request.options.resolvingProxy(for: request.url, .process)
            if request.isSecure, let security = request.options.sharedSecurity, security.hasPins {
                let own = PeerTrust(request.options, host: request.host ?? "")
                trust = .own(own)
                key = ConnectionKey(
                    request, options: options,
                    requiresValidChain: own.rules?.requiresValidChain ?? true)
            } else {
                trust = .standard
                let security = request.isSecure ? request.options.sharedSecurity : nil
                key = engine.key(
                    of: request, options,
                    requiresValidChain: security?.policy.allowInvalidCertificates != true)
            }
            mayReplay =
                request.options.mayReplay && request.method.isIdempotent
                && request.body?.isReplayable != false
            body.reset(request.options)
            if key.mayBeShared { chooseVersion() }
        }

        /// Decides about a request that may use HTTP/2.
        private func chooseVersion() {
            let owner = connectionOwner
            if owner?.extendedProtocol != nil { streamOwner = owner }
            guard key.version == .automatic else { return }
            // Without OpenSSL no list of protocols can be offered. 101 is a response of HTTP/1.1, and whether a new
            // connection allows an extended CONNECT would be known only after HTTP/2 is negotiated.
            let usesHTTP11 =
                TLSLibrary.loaded == nil || engine.requiresHTTP11(transfer.request)
                || owner != nil && (streamOwner == nil || !engine.allowsExtendedConnect(key))
            guard usesHTTP11 else { return }
            key = engine.keyForHTTP11(key)
            streamOwner = nil
        }

        // MARK: - Start

        /// Starts the exchange.
        func begin() {
            guard state.begin() == .begin else { return }
            times.started = loop.now
            do throws(RequestError) {
                if let source = transfer.source { upload = Upload(try source.get()) }
                if let length = upload?.length, length < 0 { throw Self.hasNegativeLength }
                if key.version == .http2, TLSLibrary.loaded == nil {
                    throw CurlFailure.noHTTP2(wasSent: false)
                }
                // A request that must not be sent fails before a connection is opened.
                if key.mayBeShared { head = try makeHead() } else { try writeHead() }
            } catch {
                return fail(error)
            }
            startDeadlines()
            engine.acquire(for: self)
        }

        private static let hasNegativeLength = RequestError(
            .invalidBody, stage: .build,
            "The length of the request body is negative. Correct the length of its source.")

        private func startDeadlines() {
            deadlines = Deadlines(transfer.request.timeouts, startingAt: loop.now)
            loop.scheduleSweep(by: deadlines.first)
        }

        /// The connection is ready for the request; returns false if the exchange has ended instead.
        func willUseConnection() -> Bool {
            guard !transfer.signals().contains(.cancel) else {
                stop(.cancelled)
                return false
            }
            deadlines.connected(at: loop.now)
            loop.scheduleSweep(by: deadlines.first)
            return true
        }

        /// The request is about to be written on a connection.
        func willSend(on connection: OpenConnection, isReused: Bool) {
            sendCount += 1
            isSourceEmpty = false
            hasResponseBegun = false
            isConnectionReused = isReused
            // The wait for the connection of another request is one in a queue.
            if hasWaited, isReused { times.started = EventLoop.readClock() }
            self.connection = connection
            receiver?.willSend(over: connection.description, isReused: isReused)
            times.use(connection.facts, isReused: isReused, created: transfer.created)
        }

        /// Checks a connection over TLS against the pins of the request's host; returns whether the
        /// receiver was notified of a mismatch.
        func reportsPins(of connection: OpenConnection) throws(RequestError) -> Bool {
            guard case .own(let trust) = trust, let handle = connection.connector?.handle else {
                return false
            }
            let mismatches = try trust.checkPins(of: handle)
            for mismatch in mismatches { receiver?.didNotice(mismatch) }
            if !mismatches.isEmpty { loop.idleCheck.expire() }
            return !mismatches.isEmpty
        }

        /// Whether the body waits for 100 (Continue), RFC 9110 §10.1.1.
        var expectsContinue: Bool {
            transfer.request.headers[.expect]?.lowercasedASCII() == "100-continue"
        }

        /// Sends the body in a second, if the server has not asked for it by then.
        func awaitContinue() {
            continueAt = loop.now.advanced(milliseconds: 1000)
            loop.scheduleSweep(by: continueAt)
        }

        /// Sends the body if the server has not responded to `Expect: 100-continue` in time; returns
        /// the time of the next check.
        func checkContinue(at now: MonotonicTime) -> MonotonicTime {
            guard continueAt <= now else { return continueAt }
            continueAt = .never
            connection?.continueBody(self)
            return .never
        }

        // MARK: - Heads

        /// The length of the body for HTTP/1.1.
        var bodyLength: RequestWriter.BodyLength {
            guard let upload else { return .none }
            return RequestWriter.BodyLength(
                upload.length, trailers: transfer.request.body?.trailerNames ?? [])
        }

        /// Writes the head for HTTP/1.1 into the engine's output buffer, unless it is there.
        func writeHead() throws(RequestError) {
            guard engine.headOwner != number else { return }
            engine.headOwner = 0
            engine.output.removeAll()
            let target: RequestWriter.Target =
                key.route == .absoluteForm
                ? .absolute(proxyAuthorization: ProxyRoute.credentials(options)) : .origin
            try RequestWriter.write(
                transfer.request, body: bodyLength, target: target, isRepeated: wasHeadWritten,
                into: engine.output)
            wasHeadWritten = true
            engine.headOwner = number
        }

        /// The body as the head for HTTP/2 announces it.
        var announcedBody: RequestHead.Body? {
            upload.map {
                RequestHead.Body(
                    length: $0.length, trailers: transfer.request.body?.trailerNames ?? [])
            }
        }

        /// Takes the head for HTTP/2.
        func takeHead() throws(RequestError) -> RequestHead {
            if let head {
                self.head = nil
                return head
            }
            return try makeHead()
        }

        private func makeHead() throws(RequestError) -> RequestHead {
            try RequestHead(
                transfer.request, body: announcedBody, codings: ContentCoding.announcementField,
                protocolName: streamOwner?.extendedProtocol)
        }

        // MARK: - Signals

        /// Acts on signals from other threads.
        func attend(_ signals: CurlTransfer.Signals) {
            if signals.contains(.cancel) { return stop(.cancelled) }
            if signals.contains(.readable) {
                isSourceEmpty = false
                connection?.bodyIsReadable(self)
            }
            if signals.contains(.resume), transfer.exchange === self { perform(state.resume()) }
        }

        func isForCaller(_ signals: CurlTransfer.Signals) -> Bool {
            // The source of a body may be a file.
            let wanted: CurlTransfer.Signals = isHandedOver ? [.resume, .readable] : .resume
            return signals.subtracting(wanted) == .posted
        }

        /// Lets the body source wake the exchange when it has more bytes.
        func awaitSource() {
            isSourceEmpty = true
            let isHandedOver = isHandedOver
            upload?.whenReadable { [weak transfer] in
                transfer?.raise(.readable, mayRunOnCaller: isHandedOver)
            }
        }

        /// Bytes of the body were taken for the connection.
        func bodyWasSent() {
            deadlines.sent(at: loop.now)
            // A repeated body starts at 0, but the reported progress never decreases.
            if let sent = upload?.bytesSent, sent > reportedBytes {
                reportedBytes = sent
                receiver?.didSend(bodyBytes: sent)
            }
        }

        // MARK: - Another attempt

        /// The connection was lost before the response was complete, or the response is malformed.
        ///
        /// The exchange has left the connection.
        ///
        /// - Parameters:
        ///   - isReused: Whether the connection had carried another request before.
        ///   - alert: The error for an alert of the server, if there was one.
        func lost(
            isReused: Bool, alert: RequestError?, error: @autoclosure () -> RequestError
        ) {
            let hasBegun = hasResponseBegun
            let decision = ReplayDecision(
                mayReplay: mayReplay, wasReused: isReused, hasResponseBegun: hasBegun,
                isConnectionLost: !hasBegun, isWanted: state.mayCallReceiver && failure == nil)
            if decision.shouldReplay, !hasReplayed, upload?.rewind() ?? true {
                hasReplayed = true
                return sendAgain()
            }
            if let alert { return fail(alert) }
            // The error of a connection that was kept says that the request was not sent again.
            let isUnrepeated = isReused && !hasBegun && !hasReplayed
            fail(isUnrepeated ? CurlFailure.lostBeforeResponse : error())
        }

        /// How often a request is sent that the server does not process.
        private static var maximumSendCount: Int { 3 }

        /// The server has not processed the request (RFC 9113 §8.7), so any method may be repeated.
        ///
        /// The exchange has left the connection, which is used again if it has a place.
        ///
        /// - Parameter wasEarly: Whether the server may have refused it because it did not know the server's limits.
        func wasUnprocessed(_ error: RequestError, wasEarly: Bool) {
            if wasEarly { uncountedSends = 1 }
            guard sendCount - uncountedSends < Self.maximumSendCount, state.mayCallReceiver,
                failure == nil,
                upload?.rewind() ?? true
            else { return fail(error) }
            sendAgain(isNew: false)
        }

        /// The server requires HTTP/1.1 for the request (RFC 9113 §7).
        ///
        /// The exchange has left the connection.
        ///
        /// - Parameter isUnprocessed: Whether the server has not processed it, so that any method may be repeated.
        func needsHTTP11(isUnprocessed: Bool = false) {
            if transfer.request.options.httpVersion == .automatic {
                engine.noteHTTP11(transfer.request)
            }
            guard key.version == .automatic, mayReplay || isUnprocessed, state.mayCallReceiver,
                failure == nil,
                upload?.rewind() ?? true
            else { return fail(CurlFailure.needsHTTP11(transfer.request)) }
            key = engine.keyForHTTP11(key)
            sendAgain()
        }

        /// Sends the request again; the time spent on the former connection counts as queued.
        ///
        /// - Parameter isNew: See ``Engine/acquire(for:isNew:)``.
        private func sendAgain(isNew: Bool = true) {
            if transfer.signals().contains(.cancel) { return stop(.cancelled) }
            times.started = loop.now
            continueAt = .never
            startDeadlines()
            engine.acquire(for: self, isNew: isNew)
        }

        /// The server does not accept the extended CONNECT of the request (RFC 8441 §3), which HTTP/1.1 can replace.
        func useHTTP11() {
            guard key.version == .automatic else {
                return fail(CurlFailure.noExtendedConnect(transfer.request))
            }
            key = engine.keyForHTTP11(key)
            engine.acquire(for: self)
        }

        /// The connection for the exchange could not be opened.
        func connectFailed(_ error: RequestError) {
            ticket = nil
            fail(error)
        }

        // MARK: - End

        /// Moves an expired idle deadline if the receiver has not been waiting for the whole limit;
        /// returns the time of the next check, or `nil` if the deadline has expired.
        func postponeIdle(at now: MonotonicTime) -> MonotonicTime? {
            guard let receiver else { return nil }
            return deadlines.postponeIdle(waitingTime: receiver.waitingTime, at: now)
        }

        /// Called when a deadline has passed.
        func expire(_ kind: RequestError.TimeoutKind) {
            if kind == .idle, connection?.endsAtIdleLimit(self) == true { return }
            stop(.timedOut(kind))
        }

        func fail(_ error: RequestError) {
            if failure == nil { failure = error }
            stop(.failed)
        }

        /// Ends the exchange at once.
        func stop(_ ending: TransferState.Ending) { perform(state.stop(ending)) }

        /// The response is complete, and the exchange has left its connection.
        func complete() { perform(state.finished(complete: true)) }

        private func perform(_ action: TransferState.Action) {
            switch action {
            case .nothing, .begin: break
            case .detachAndEnd(let ending):
                engine.cancelWait(of: self)
                connection?.leave(self, ending)
                connection = nil
                reportEnd(ending)
            case .end(let ending): reportEnd(ending)
            case .unpause:
                deadlines.resume(at: loop.now)
                loop.scheduleSweep(by: deadlines.first)
                deliver(nil)
                if !state.isPaused { connection?.resume(self) }
            case .drain:
                deliver(nil)
                if state.mayCallReceiver, failure == nil { failure = body.errorAtEnd() }
                perform(state.drained(complete: failure == nil))
            }
        }

        private func reportEnd(_ ending: TransferState.Ending) {
            let end = makeEnd(ending)
            release()
            if let receiver { loop.queueEnd(receiver, end) }
        }

        private func makeEnd(_ ending: TransferState.Ending) -> TransferEnd {
            let error: RequestError? =
                switch ending {
                case .complete: nil
                case .cancelled: .cancelled
                case .shutDown: CurlFailure.shutDown
                case .timedOut(let kind):
                    CurlFailure.timedOut(kind, limits: transfer.request.timeouts)
                case .failed: failure ?? CurlFailure.unknown
                }
            let isComplete = error == nil
            if isComplete { loop.noteOrigin(of: transfer.request) }
            return TransferEnd(
                error: error, timings: timings(), trailers: isComplete ? trailers : HTTPFields())
        }

        private func timings() -> AttemptTimings {
            var timings = times.timings(created: transfer.created)
            timings.bytesSent = times.headBytesSent + (upload?.bytesSent ?? 0)
            timings.bytesReceived = body.bytesReceived
            return timings
        }

        private func release() {
            if let upload {
                upload.close()
            } else if case .success(let source) = transfer.source {
                source.close()
            }
            upload = nil
            unread = UnreadContent()
            body.releaseDecoders()
            engine.ended(self)
            transfer.ended()
            transfer.exchange = nil
            transfer.receiver = nil
            transfer.source = nil
        }
    }

    // The reader of a stream.
    extension Exchange {
        /// The size of content from which on a reader is notified of its begin and its end.
        private static let largeRead = 4 << 10

        /// Content is delivered; returns whether ``endRead()`` is to be called after the last one of this turn.
        func beginRead(_ count: Int) -> Bool {
            guard !isReading, count >= Self.largeRead || reader != nil else { return false }
            if reader == nil { reader = receiver as? any StreamReceiver }
            guard let reader else { return false }
            isReading = true
            reader.beginRead()
            return true
        }

        /// Wakes the reader, and pauses the response while the reader is busy.
        func endRead() {
            guard isReading, let reader else { return }
            isReading = false
            guard reader.endRead() == .pause, !state.isPaused, state.mayCallReceiver else { return }
            state.pause()
            deadlines.suspend()
        }
    }

    // The response.
    extension Exchange {
        /// Delivers an interim response.
        func receive(interim head: HeadParser.Head) {
            receiver?.didReceive(informational: responseHead(head, hasBody: false))
        }

        /// Delivers the head of the final response; returns whether a body follows.
        func prepare(for head: HeadParser.Head) -> (hasBody: Bool, fault: RequestError?) {
            let hasBody =
                transfer.request.method != .head && head.status.code != 204
                && head.status.code != 304
            guard hasBody else {
                body.beginEmpty()
                return (false, nil)
            }
            return (true, body.begin(head.framing))
        }

        func responseHead(_ head: HeadParser.Head, hasBody: Bool) -> ResponseHead {
            let isPlain = hasBody && !head.framing.isChunked && !body.isDecoding
            var result = ResponseHead(
                status: head.status, headers: head.fields, httpVersion: head.version,
                remoteAddress: connection?.facts.peer,
                contentLength: isPlain ? head.framing.contentLength : nil)
            result.isDecoded = hasBody && body.isDecoding
            return result
        }

        /// Decodes bytes, or those that remained from an earlier pause, and delivers them.
        func deliver(_ bytes: UnsafeRawBufferPointer?) {
            guard let receiver else { return }
            deliver(bytes) { receiver.didReceive(bytes: $0) }
        }

        /// Decodes bytes and passes them on.
        @inline(__always)
        func deliver(
            _ bytes: UnsafeRawBufferPointer?, by pass: (UnsafeRawBufferPointer) -> Demand
        ) {
            let fault = body.deliver(bytes, by: loop.scratch.decoded) { bytes in
                switch pass(bytes) {
                case .more: break
                case .pause:
                    state.pause()
                    deadlines.suspend()
                case .stop: state.abort(.cancelled)
                }
                if transfer.signals().contains(.cancel) { state.abort(.cancelled) }
                return state.mayCallReceiver
            }
            if state.isAborting { return stop(.failed) }
            if let fault { fail(fault) }
        }
    }
#endif
