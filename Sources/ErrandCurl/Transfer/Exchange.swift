#if os(Linux)
    import CLibcurl
    import ErrandCore
    import HTTPTypes

    /// One easy handle and the transfer it serves at the moment.
    ///
    /// Belongs to the loop and is used again.
    ///
    /// What happens when is ``TransferState``'s to say; this class carries it out.
    final class Exchange {
        private(set) var handle: UnsafeMutableRawPointer?
        unowned(unsafe) let loop: EventLoop
        let workbench: Workbench
        /// Its place among the loop's active exchanges.
        var activeIndex = 0

        /// Its place at an origin whose connections are shared.
        @exclusivity(unchecked) var place: EventLoop.GatePlace?
        private var ticket: UInt64?

        // What the callbacks work with; see Exchange+Callbacks.swift. Checking each access at run time cost a
        // tenth of a small request: whoever has the turn uses these, and no callback is entered while one is under way.
        @exclusivity(unchecked) var transfer: CurlTransfer?
        @exclusivity(unchecked) var receiver: (any TransferReceiver)?
        @exclusivity(unchecked) var state = TransferState()
        @exclusivity(unchecked) var deadlines = Deadlines()
        @exclusivity(unchecked) var head = HeadReader()
        @exclusivity(unchecked) var body = BodyReader()
        @exclusivity(unchecked) var upload: Upload?
        var mayReplay = false
        /// The progress of the body that the receiver knows.
        var reportedBytes: Int64 = 0
        /// How many times the request's head went out.
        @exclusivity(unchecked) var sendings = 0
        /// It may be replayed, and the connection it went out on serves others at the same time.
        @exclusivity(unchecked) var hasShared = false
        /// It has lost that, and may have another together with them; see Exchange+Replay.swift.
        @exclusivity(unchecked) var isRejoining = false
        var hasBegunAgain = false
        /// Why the transfer fails, once somebody knows.
        @exclusivity(unchecked) var failure: RequestError?
        /// What the request's policy means for its host, and the pins that its connection is held to.
        @exclusivity(unchecked) var rules: TrustRules?
        @exclusivity(unchecked) var pins: PeerPins?
        /// libcurl was told to stop receiving, or sending.
        @exclusivity(unchecked) var isReceivingPaused = false
        var isSendingPaused = false
        /// When to look after an upload, and whether to do so now; see Exchange+Nudge.swift.
        @exclusivity(unchecked) var nextNudge = MonotonicTime.never
        @exclusivity(unchecked) var isAwaitingNudge = false
        @exclusivity(unchecked) var isRefused = false
        /// Whether the answer is there, and what libcurl does further is not wanted.
        @exclusivity(unchecked) var isAnswered = false
        @exclusivity(unchecked) var isHTTP2 = false
        /// What was agreed upon for the connection, whatever the answer says.
        @exclusivity(unchecked) var speaksHTTP2 = false
        /// What becomes of the line behind a status line; see Exchange+FirstLine.swift.
        @exclusivity(unchecked) var watchesFirstLine = false
        @exclusivity(unchecked) var beginsFolded = false

        // What the options work with; see Exchange+Options.swift.
        let headers = HeaderList()
        lazy var connectTo = HeaderList()
        lazy var resolve = HeaderList()
        let url = TextBuffer(capacity: 256)
        /// Options were set that the next request must not inherit.
        var needsReset = true
        /// The options that were set, where a request with the same ones may inherit them.
        var specialOptions: TransportOptions?
        /// Where the handle's TLS sessions are kept.
        var sessionShare: UnsafeMutableRawPointer?
        /// The size of the handle's buffer, where it is known.
        var bufferBytes = 0
        /// The handle keeps a buffer of an unusual size.
        var hasOwnBuffer = false
        /// libcurl remembers of this transfer what would harm the next: that a body is to be sent again.
        var isWornOut = false
        /// Plain requests are held to HTTP/1.1, see ``applyVersion(_:)``.
        @exclusivity(unchecked) var isHeldToHTTP11 = false
        /// Whether libcurl repeats only what a server has refused unprocessed; see Exchange+Unprocessed.swift.
        var repeatsRefusedOnly = false
        /// What is known of the request's stream, and of the last one that the server has looked at.
        @exclusivity(unchecked) var watchesGoAway = false
        @exclusivity(unchecked) var stream: UInt32 = 0
        @exclusivity(unchecked) var lastStream: UInt32?
        @exclusivity(unchecked) var connection: UnsafeMutableRawPointer?
        /// Whether libcurl was told to wait for a connection that can be shared.
        var waitsForSharing = false
        /// What saw how the connection ended, where the answer's end is the connection's; see Exchange+Between.swift.
        @exclusivity(unchecked) var endHook: ConnectionHook?
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

        private(set) var takenUp = MonotonicTime.never
        private(set) var wasAttached = false

        init(loop: EventLoop) {
            self.loop = loop
            workbench = loop.workbench
            handle = curl_easy_init()
        }

        deinit {
            if let handle { curl_easy_cleanup(handle) }
            errorText.deallocate()
        }

        // MARK: - Life

        /// Serves a transfer from now on.
        func take(_ transfer: CurlTransfer) {
            let request = transfer.request
            self.transfer = transfer
            receiver = transfer.receiver
            state = TransferState()
            head.reset(limit: request.options.maximumHeadBytes)
            body.reset(request.options)
            // A processor may have made another method of it since the agent decided.
            mayReplay = request.options.mayReplay && request.method.isIdempotent
            reportedBytes = 0
            sendings = 0
            hasShared = false
            speaksHTTP2 = false
            isRejoining = false
            hasBegunAgain = false
            failure = nil
            isReceivingPaused = false
            isSendingPaused = false
            nextNudge = .never
            isAwaitingNudge = false
            isRefused = false
            isAnswered = false
            takenUp = loop.now
            wasAttached = false
            errorText[0] = 0
            forgetFirstLine()
        }

        /// Waits for a place; the limit of connecting counts meanwhile.
        func hold(ticket: UInt64) {
            self.ticket = ticket
            deadlines = Deadlines(transfer?.request.timeouts ?? Timeouts(), startingAt: loop.now)
            loop.expectSweep(by: deadlines.first)
        }

        /// Whether it still waits for what this ticket was given for.
        func isHeld(_ ticket: UInt64) -> Bool { self.ticket == ticket }

        /// Gives the transfer to libcurl.
        func begin() {
            let hasWaited = ticket != nil
            ticket = nil
            if hasBegunAgain { return reattach() ? () : fail(CurlFailure.cannotBegin) }
            guard let transfer, state.begin() == .begin else { return }
            do throws(RequestError) {
                if let source = transfer.source { upload = Upload(try source.get()) }
                try apply(transfer.request)
            } catch {
                return fail(error)
            }
            if !hasWaited {
                deadlines = Deadlines(transfer.request.timeouts, startingAt: loop.now)
                loop.expectSweep(by: deadlines.first)
            }
            wasAttached = loop.attach(self)
            if !wasAttached { fail(CurlFailure.cannotBegin) }
        }

        /// Ends the transfer at once.
        ///
        /// Not from inside a callback of libcurl.
        func stop(_ ending: TransferState.Ending) { perform(state.stop(ending)) }

        /// Ends the transfer with an error.
        ///
        /// Not from inside a callback of libcurl.
        private func fail(_ error: RequestError) {
            if failure == nil { failure = error }
            stop(.failed)
        }

        /// libcurl is done with the handle.
        func libcurlFinished(_ result: CURLcode) {
            if result == CURLE_OK { noteSilence() }
            loop.detach(self)
            if beginsAgain(after: result) { return }
            if result != CURLE_OK { forgetRefusal() }
            if failure == nil, !isAnsweredEarly, !isAnswered {
                failure =
                    isBeyondGoAway ? CurlFailure.unprocessed : problem(after: result)
            }
            perform(state.finished(complete: failure == nil))
        }

        /// Counts anew for another connection; what was lost with the one before counts as waiting.
        func restart(_ timeouts: Timeouts) {
            isReceivingPaused = false
            isSendingPaused = false
            nextNudge = .never
            takenUp = loop.now
            deadlines = Deadlines(timeouts, startingAt: loop.now)
            loop.expectSweep(by: deadlines.first)
        }

        /// A limit has run out.
        func expire(_ kind: RequestError.TimeoutKind) {
            guard isAnsweredEarly else { return stop(.timedOut(kind)) }
            takeAnswer()
        }

        /// Ends with the answer as it is, whatever becomes of the request's body.
        ///
        /// Not from inside a callback of libcurl.
        func takeAnswer() {
            loop.detach(self)
            perform(state.finished(complete: true))
        }

        /// Whether the whole answer came before the whole request went out: a server that reads no further has
        /// spoken all the same (RFC 9113 §8.1).
        private var isAnsweredEarly: Bool {
            failure == nil && (upload != nil || body.isWholeByCount) && head.isComplete
                && body.isWhole
        }

        /// Whether the receiver pauses, and what comes is for it.
        func isAtRest(on socket: Int32) -> Bool {
            guard isReceivingPaused else { return false }
            var mine: curl_socket_t = -1
            errand_get_socket(handle, &mine)
            return mine == socket || mine < 0
        }

        /// The receiver wants more.
        func resume() { perform(state.resume()) }

        /// The body's source has more.
        func bodyIsReadable() {
            guard isSendingPaused else { return }
            isSendingPaused = false
            applyPause()
        }

        private func perform(_ action: TransferState.Action) {
            switch action {
            case .nothing, .begin: break
            case .detachAndEnd(let ending):
                detachAndDoubt(ending)
                tellEnd(ending)
            case .end(let ending): tellEnd(ending)
            case .unpause: unpause()
            case .drain:
                deliverBody(nil)
                if state.isLive, failure == nil { failure = body.faultAtEnd() }
                perform(state.drained(complete: failure == nil))
            }
        }

        private func unpause() {
            deadlines.resume(at: loop.now)
            loop.expectSweep(by: deadlines.first)
            deliverBody(nil)
            if state.isAborting { return stop(.failed) }
            guard isReceivingPaused, !state.isPaused else { return }
            isReceivingPaused = false
            applyPause()
        }

        /// Tells libcurl which directions rest.
        ///
        /// It may hand over bytes before it returns.
        private func applyPause() {
            var mask: Int32 = 0
            if isReceivingPaused { mask |= CURLPAUSE_RECV }
            if isSendingPaused { mask |= CURLPAUSE_SEND }
            let result = curl_easy_pause(handle, mask)
            if state.isAborting || result != CURLE_OK {
                fail(problem(after: result) ?? CurlFailure.cannotBegin)
            }
        }

        // MARK: - The end

        private func tellEnd(_ ending: TransferState.Ending) {
            var end = TransferEnd(timings: timings())
            switch ending {
            case .complete:
                if let transfer { loop.heard(from: transfer.request) }
                do {
                    end.trailers = try head.trailers(cache: &workbench.fields)
                } catch {
                    end.error = CurlFailure.badResponse(error)
                }
            case .cancelled: end.error = .cancelled
            case .shutDown: end.error = CurlFailure.shutDown
            case .timedOut(let kind):
                end.error = CurlFailure.timedOut(kind, limits: transfer?.request.timeouts)
            case .failed: end.error = failure ?? CurlFailure.unknown
            }
            let receiver = receiver
            letGo()
            loop.recycle(self)
            if let receiver { loop.ended(receiver, end) }
        }

        private func letGo() {
            if let upload {
                upload.close()
            } else if case .success(let source) = transfer?.source {
                source.close()
            }
            upload = nil
            body.letGo()
            transfer?.ended()
            transfer?.exchange = nil
            transfer?.receiver = nil
            transfer?.source = nil
            transfer = nil
            receiver = nil
            failure = nil
            rules = nil
            pins = nil
            endHook = nil
            ticket = nil
            nextNudge = .never
            isAwaitingNudge = false
            if hasOwnBuffer || isWornOut { renewHandle() }
        }

        /// libcurl keeps a handle's buffer, and what it means to do again, as long as the handle.
        func renewHandle() {
            if let handle { curl_easy_cleanup(handle) }
            handle = curl_easy_init()
            (hasOwnBuffer, isWornOut, watchesFirstLine) = (false, false, false)
            watchesGoAway = false
            needsReset = true
            specialOptions = nil
            repeatsRefusedOnly = false
            bufferBytes = 0
        }
    }
#endif
