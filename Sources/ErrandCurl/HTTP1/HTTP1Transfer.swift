// Performance annotations: decision 17.

#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import HTTPTypes

    /// A transfer over a connection of ``HTTP1Engine``.
    ///
    /// ``TransferState`` decides about the end and the receiver, ``ConnectionState`` about the
    /// connection; this class executes both.
    final class HTTP1Transfer {
        unowned(unsafe) let engine: HTTP1Engine
        let transfer: CurlTransfer
        /// The number among the engine's transfers.
        private let number: UInt64
        let key: ConnectionKey
        /// The trust in the server; indirect, because an own one is large and rare.
        private indirect enum Trust { case standard, own(PeerTrust) }

        private let trust: Trust
        /// The index among the engine's active transfers.
        @exclusivity(unchecked) var activeIndex = 0
        /// The number in the line of waiting requests.
        @exclusivity(unchecked) var ticket: UInt64?
        @exclusivity(unchecked) var deadlines = Deadlines()

        let receiver: (any TransferReceiver)?
        /// The receiver of large reads, if it passes them to a reader.
        @exclusivity(unchecked) var stream: (any StreamReceiver)?
        /// The buffer of the current read, if a chunk may take it, and whether one has taken it.
        @exclusivity(unchecked) var chunkBuffer: (buffer: ReadBuffers.Buffer, isPassedOn: Bool)?
        @exclusivity(unchecked) var connection: HTTP1Connection?
        @exclusivity(unchecked) var state = TransferState()
        @exclusivity(unchecked) var body = BodyReader()
        @exclusivity(unchecked) var upload: Upload?
        @exclusivity(unchecked) var writer = RequestBodyWriter(.none)
        /// Whether the body source has no bytes at present.
        @exclusivity(unchecked) var isSourceEmpty = false
        let mayReplay: Bool
        @exclusivity(unchecked) var hasReplayed = false
        @exclusivity(unchecked) var failure: RequestError?
        @exclusivity(unchecked) var trailers = HTTPFields()
        /// The time at which the body is sent without 100 (Continue).
        @exclusivity(unchecked) var continueAt = MonotonicTime.never
        @exclusivity(unchecked) var reportedBytes: Int64 = 0
        @exclusivity(unchecked) var times = HTTP1Times()

        var loop: EventLoop { engine.loop }

        init(_ transfer: CurlTransfer, number: UInt64, engine: HTTP1Engine) {
            let request = transfer.request
            self.transfer = transfer
            self.number = number
            self.engine = engine
            receiver = transfer.receiver
            if request.isSecure, !request.options.hasDefaults {
                let own = PeerTrust(request.options, host: request.host ?? "")
                trust = .own(own)
                key = ConnectionKey(request, trust: own)
            } else {
                trust = .standard
                key = ConnectionKey(request, trust: nil)
            }
            mayReplay =
                request.options.mayReplay && request.method.isIdempotent
                && request.body?.isReplayable != false
            body.reset(request.options)
        }

        // MARK: - Start

        /// Starts the transfer; its deadlines may have begun before.
        func begin(_ started: Deadlines? = nil) {
            guard state.begin() == .begin else { return }
            times.started = loop.now
            do throws(RequestError) {
                if let source = transfer.source { upload = Upload(try source.get()) }
                if let length = upload?.length, length < 0 { throw Self.hasNegativeLength }
                // A request that must not be sent fails before a connection is opened.
                try writeHead()
            } catch {
                return fail(error)
            }
            if let started { deadlines = started } else { startDeadlines() }
            engine.acquire(for: self)
        }

        private static let hasNegativeLength = RequestError(
            .invalidBody, stage: .build,
            "The length of the request body is negative. Correct the length of its source.")

        func startDeadlines() {
            deadlines = Deadlines(transfer.request.timeouts, startingAt: loop.now)
            loop.scheduleSweep(by: deadlines.first)
        }

        var bodyLength: RequestWriter.BodyLength {
            guard let upload else { return .none }
            return RequestWriter.BodyLength(
                upload.length, trailers: transfer.request.body?.trailerNames ?? [])
        }

        /// Writes the request head into the engine's output buffer, unless it is there.
        func writeHead() throws(RequestError) {
            guard engine.headOwner != number else { return }
            engine.headOwner = 0
            engine.output.removeAll()
            let target: RequestWriter.Target =
                key.route == .absoluteForm
                ? .absolute(proxyAuthorization: ProxyRoute.credentials(transfer.request.options))
                : .origin
            try RequestWriter.write(
                transfer.request, body: bodyLength, target: target, into: engine.output)
            engine.headOwner = number
        }

        /// Sends the request on a connection.
        func use(_ connection: HTTP1Connection) {
            guard !transfer.signals().contains(.cancel) else {
                engine.release(connection, keepsConnection: true)
                return stop(.cancelled)
            }
            let request = transfer.request
            deadlines.connected(at: loop.now)
            loop.scheduleSweep(by: deadlines.first)
            do throws(RequestError) {
                try writeHead()
            } catch {
                engine.release(connection, keepsConnection: true)
                return fail(error)
            }
            do throws(RequestError) {
                // The receiver may have taken any time, in which the server may have sent data.
                if try reportsPins(of: connection), connection.state.isReused,
                    let reason = connection.reasonToClose
                {
                    engine.discard(connection, reason)
                    return engine.acquire(for: self)
                }
            } catch {
                engine.discard(connection, .failed)
                return fail(error)
            }
            writer = RequestBodyWriter(bodyLength)
            isSourceEmpty = false
            let expects = request.headers[.expect]?.lowercasedASCII() == "100-continue"
            let isStarted = connection.state.begin(
                hasBody: !writer.isComplete, expectsContinue: expects,
                closes: closesConnection(request))
            guard isStarted else {
                engine.discard(connection, .unknown)
                return fail(CurlFailure.unknown)
            }
            self.connection = connection
            connection.transfer = self
            receiver?.willSend(
                over: connection.description, isReused: connection.state.isReused)
            // `switchProtocols(_:)` decides whether 101 is a valid response.
            connection.parser.begin(
                isHead: request.method == .head, acceptsUpgrade: true,
                limit: request.options.maximumHeadBytes)
            times.use(connection, created: transfer.created)
            times.headBytesSent += Int64(engine.output.count)
            engine.headOwner = 0
            if upload != nil, !expects {
                // The first part of the body follows in the same system call.
                guard writeBody() != nil else { return }
                loop.scheduleSweep(by: deadlines.first)
            }
            send()
            pump()
            readEarlyInput()
        }

        /// Checks a connection over TLS against the pins of the request's host; returns whether the
        /// receiver was notified of a mismatch.
        private func reportsPins(of connection: HTTP1Connection) throws(RequestError) -> Bool {
            guard case .own(let trust) = trust, let handle = connection.connector?.handle else {
                return false
            }
            let mismatches = try trust.checkPins(of: handle)
            for mismatch in mismatches { receiver?.didNotice(mismatch) }
            if !mismatches.isEmpty { loop.sockets.expireIdleCheck() }
            return !mismatches.isEmpty
        }

        /// Takes the input that arrived before the request was sent on a new connection.
        private func readEarlyInput() {
            guard let connection, connection.buffersInput, !connection.unread.isEmpty else {
                return
            }
            let input = connection.unread
            connection.unread = []
            input.withUnsafeBytes { received($0) }
            // OpenSSL may hold more.
            if let connection = self.connection { engine.readLater(connection) }
        }

        /// Whether the connection is not used after this request.
        private func closesConnection(_ request: TransportRequest) -> Bool {
            guard request.headers[.connection] != nil else { return false }
            var options = ConnectionOptions()
            for field in request.headers[fields: .connection] { options.add(field) }
            return options.hasClose
        }

        /// Acts on signals from other threads.
        func attend(_ signals: CurlTransfer.Signals) {
            if signals.contains(.cancel) { return stop(.cancelled) }
            if signals.contains(.readable) { bodyIsReadable() }
            if signals.contains(.resume), transfer.exchange === self { resume() }
        }

        // MARK: - Pauses

        /// The receiver accepts bytes again.
        func resume() { perform(state.resume()) }

        func unpause() {
            deadlines.resume(at: loop.now)
            loop.scheduleSweep(by: deadlines.first)
            deliver(nil)
            guard let connection, !state.isPaused else { return }
            let unread = connection.unread
            connection.unread = []
            connection.readsInput = true
            unread.withUnsafeBytes { bytes in
                var input = UnsafeRawBufferPointer(rebasing: bytes[...])
                parse(&input)
                keep(input)
            }
            // The connection may carry another transfer by now.
            guard self.connection != nil, !state.isPaused else { return }
            readAfterPause()
            guard let connection = self.connection, !state.isPaused else { return }
            guard connection.updateEvents() else { return fail(CurlFailure.cannotStart) }
            if connection.waitsForInput { writable() }
        }

        // MARK: - End

        func perform(_ action: ConnectionState.Action) {
            switch action {
            case .none, .sendBody, .close: break
            case .stopSending:
                connection?.dropUnsent()
                connection?.updateEvents()
            case .end(let keepsConnection): complete(keepsConnection: keepsConnection)
            case .fail: connectionFailed(.lostInBody)
            }
        }

        /// The response is complete.
        func complete(keepsConnection: Bool) {
            guard let connection else { return }
            detach(connection)
            engine.release(connection, keepsConnection: keepsConnection)
            perform(state.finished(complete: true))
        }

        func detach(_ connection: HTTP1Connection) {
            times.headBytesReceived = connection.parser.headBytes
            self.connection = nil
            connection.transfer = nil
            connection.unread = []
        }

        /// The response is malformed, or the connection was lost.
        func connectionFailed(_ fault: ResponseFault) {
            guard let connection else { return }
            let hasBegun = connection.parser.hasBegun
            let decision = connection.state.replayDecision(
                mayReplay: mayReplay, hasResponseBegun: hasBegun, isConnectionLost: !hasBegun,
                isWanted: state.mayCallReceiver && failure == nil)
            let isReused = connection.state.isReused
            let alert = connection.connector?.alertError(for: transfer.request)
            _ = connection.state.failed()
            detach(connection)
            // The server has closed it while it was idle, or refuses the request.
            engine.discard(connection, hasBegun ? .failed : .serverClosed)
            if decision.shouldReplay, !hasReplayed, upload?.rewind() ?? true { return replay() }
            if let alert { return fail(alert) }
            let host = transfer.request.host ?? key.host.name
            // The error of a connection that was kept says that the request was not sent again.
            let isUnrepeated = isReused && !hasBegun && !hasReplayed
            fail(isUnrepeated ? CurlFailure.lostBeforeResponse : fault.error(host: host))
        }

        /// Sends the request again; the time spent on the lost connection counts as queued.
        func replay() {
            if transfer.signals().contains(.cancel) { return stop(.cancelled) }
            hasReplayed = true
            times.started = loop.now
            continueAt = .never
            startDeadlines()
            engine.acquire(for: self, isNew: true)
        }

        /// Leaves the transfer to another path; nothing was sent.
        func giveUp() {
            ticket = nil
            engine.ended(self)
            transfer.exchange = nil
        }

        /// The connection for the transfer could not be opened.
        func connectFailed(_ error: RequestError) {
            ticket = nil
            fail(error)
        }

        /// Moves an expired idle deadline if the receiver has not been waiting for the whole limit;
        /// returns the time of the next check, or `nil` if the deadline has expired.
        func postponeIdle(at now: MonotonicTime) -> MonotonicTime? {
            guard let receiver else { return nil }
            return deadlines.postponeIdle(waitingTime: receiver.waitingTime, at: now)
        }

        /// Called when a deadline has passed.
        func expire(_ kind: RequestError.TimeoutKind) {
            if kind == .idle, let connection, connection.state.exchange?.receiving == .done {
                return perform(connection.state.idleLimitReached())
            }
            stop(.timedOut(kind))
        }

        func fail(_ error: RequestError) {
            if failure == nil { failure = error }
            stop(.failed)
        }

        /// Ends the transfer at once.
        func stop(_ ending: TransferState.Ending) { perform(state.stop(ending)) }

        func perform(_ action: TransferState.Action) {
            switch action {
            case .nothing, .begin: break
            case .detachAndEnd(let ending):
                engine.cancelWait(of: self)
                if let connection {
                    _ = connection.state.failed()
                    detach(connection)
                    engine.discard(connection, ending.closeReason)
                }
                reportEnd(ending)
            case .end(let ending): reportEnd(ending)
            case .unpause: unpause()
            case .drain:
                deliver(nil)
                if state.mayCallReceiver, failure == nil { failure = body.errorAtEnd() }
                perform(state.drained(complete: failure == nil))
            }
        }

        func reportEnd(_ ending: TransferState.Ending) {
            var end = TransferEnd(timings: timings())
            switch ending {
            case .complete:
                loop.noteOrigin(of: transfer.request)
                end.trailers = trailers
            case .cancelled: end.error = .cancelled
            case .shutDown: end.error = CurlFailure.shutDown
            case .timedOut(let kind):
                end.error = CurlFailure.timedOut(kind, limits: transfer.request.timeouts)
            case .failed: end.error = failure ?? CurlFailure.unknown
            }
            release()
            if let receiver { loop.queueEnd(receiver, end) }
        }

        func timings() -> AttemptTimings {
            var timings = times.timings(created: transfer.created)
            timings.bytesSent = times.headBytesSent + (upload?.bytesSent ?? 0)
            timings.bytesReceived = body.bytesReceived
            return timings
        }

        func release() {
            if let upload {
                upload.close()
            } else if case .success(let source) = transfer.source {
                source.close()
            }
            upload = nil
            body.releaseDecoders()
            engine.ended(self)
            transfer.ended()
            transfer.exchange = nil
            transfer.receiver = nil
            transfer.source = nil
        }
    }
#endif
