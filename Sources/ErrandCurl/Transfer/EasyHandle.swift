// Performance annotations: decision 17.

#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import HTTPTypes

    /// A libcurl easy handle and its current transfer.
    ///
    /// It belongs to the loop and is reused. ``TransferState`` decides what happens; this class
    /// executes it.
    final class EasyHandle {
        private(set) var handle: UnsafeMutableRawPointer?
        unowned(unsafe) let loop: EventLoop
        let scratch: LoopScratch
        /// The index among the loop's active handles.
        var activeIndex = 0

        /// The admission at an origin with shared connections.
        var admissionSlot: EventLoop.AdmissionSlot?
        private var ticket: UInt64?

        // State for the callbacks; see EasyHandle+Callbacks.swift. The unchecked variables are used
        // most often (decision 17). Only the thread that runs the turn uses this state, and
        // callbacks do not overlap.
        var transfer: CurlTransfer?
        var receiver: (any TransferReceiver)?
        var state = TransferState()
        var deadlines = Deadlines()
        @exclusivity(unchecked) var head = HeadReader()
        @exclusivity(unchecked) var body = BodyReader()
        @exclusivity(unchecked) var upload: Upload?
        var mayReplay = false
        /// The upload progress that was last reported to the receiver.
        var reportedBytes: Int64 = 0
        /// The number of times that the request head was sent.
        var sendCount = 0
        /// Whether the request may be repeated and was sent on a shared connection.
        var usedSharedConnection = false
        /// Whether the request lost its shared connection and requests admission again; see
        /// EasyHandle+Replay.swift.
        var needsReadmission = false
        var hasReplayed = false
        /// Whether the chosen connection cannot be used; see EasyHandle+Between.swift.
        var needsOtherConnection = false
        /// The error of the transfer, once known.
        var failure: RequestError?
        /// The security policy for the request's host, and the pins for its connection.
        var rules: TrustRules?
        var pins: PeerPins?
        /// The observer of the last TLS handshake, or of the connection that is used.
        var peer: PeerObserver?
        /// The sockets that were opened for the transfer, and the port to which the last one
        /// connects; 0 after its first TLS handshake has begun.
        var openedSockets: [Int32] = []
        var nextHandshakePort: Int32 = 0
        /// Whether libcurl's receiving or sending is paused.
        var isReceivingPaused = false
        var isSendingPaused = false
        /// The time of the next upload check, and whether a check is queued; see
        /// EasyHandle+UploadStall.swift.
        var nextUploadCheck = MonotonicTime.never
        var isUploadCheckQueued = false
        var hasRefusalStatus = false
        /// Whether the response is complete although libcurl would repeat the request.
        var ignoresLibcurlRepeat = false
        var isHTTP2 = false
        /// Whether HTTP/2 was negotiated for the connection, whatever the response states.
        var speaksHTTP2 = false
        /// The check of the line after a status line; see EasyHandle+FirstLine.swift.
        var watchesFirstLine = false
        var beginsFolded = false

        // State for the options; see EasyHandle+Options.swift.
        let headers = HeaderList()
        lazy var connectTo = HeaderList()
        lazy var resolve = HeaderList()
        let url = TextBuffer(capacity: 256)
        /// Whether options were set that the next request must not inherit.
        var needsReset = true
        /// The special options that are set, which a request with equal options may inherit.
        var specialOptions: TransportOptions?
        /// The share object for the handle's TLS sessions.
        var sessionShare: UnsafeMutableRawPointer?
        /// The size of the handle's receive buffer; 0 if unknown.
        var bufferBytes = 0
        /// Whether the handle has a receive buffer of a custom size.
        var hasCustomBuffer = false
        /// Whether the handle must be replaced, because it keeps state that would harm the next
        /// transfer, such as a pending repetition.
        var needsReplacement = false
        /// Whether the system had no file descriptor or no memory for a socket.
        var lacksResources = false
        /// Whether the handle is limited to HTTP/1.1; see ``applyVersion(_:)``.
        var isLimitedToHTTP11 = false
        /// Whether libcurl repeats only requests that a server has not processed; see
        /// EasyHandle+Unprocessed.swift.
        var repeatsUnprocessedOnly = false
        /// Whether GOAWAY frames are observed; then the request's stream, and the last stream that
        /// the server has processed.
        var watchesGoAway = false
        var stream: UInt32 = 0
        var lastStream: UInt32?
        /// OpenSSL's object of the connection on which the request was last sent; `nil` without TLS.
        var connection: UnsafeMutableRawPointer?
        /// Whether libcurl waits for a connection that can be shared.
        var waitsForSharing = false
        /// The hook that observes the end of the connection, for a body that ends with it; see
        /// EasyHandle+Between.swift.
        var endHook: ConnectionHook?
        /// Whether libcurl asks for trailers; see EasyHandle+Trailers.swift.
        var sendsTrailers = false
        /// Whether libcurl has read the end of a body that trailers follow.
        var hasBegunTrailers = false
        let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

        private(set) var startedAt = MonotonicTime.never
        private(set) var wasAttached = false

        init(loop: EventLoop) {
            self.loop = loop
            scratch = loop.scratch
            handle = curl_easy_init()
        }

        deinit {
            if let handle { curl_easy_cleanup(handle) }
            errorText.deallocate()
        }

        // MARK: - Lifecycle

        /// Assigns a transfer to the handle.
        func assign(_ transfer: CurlTransfer) {
            let request = transfer.request
            self.transfer = transfer
            receiver = transfer.receiver
            state = TransferState()
            head.reset(limit: request.options.maximumHeadBytes)
            body.reset(request.options)
            // A request processor may have changed the method since the agent decided.
            mayReplay =
                request.options.mayReplay && request.method.isIdempotent
                && request.body?.isReplayable != false
            reportedBytes = 0
            sendCount = 0
            usedSharedConnection = false
            speaksHTTP2 = false
            needsReadmission = false
            hasReplayed = false
            needsOtherConnection = false
            if !openedSockets.isEmpty { openedSockets.removeAll(keepingCapacity: true) }
            failure = nil
            lacksResources = false
            isReceivingPaused = false
            isSendingPaused = false
            nextUploadCheck = .never
            isUploadCheckQueued = false
            hasRefusalStatus = false
            ignoresLibcurlRepeat = false
            startedAt = loop.now
            wasAttached = false
            errorText[0] = 0
            forgetFirstLine()
        }

        /// Waits for admission; the connect limit includes this wait.
        func awaitAdmission(ticket: UInt64) {
            self.ticket = ticket
            deadlines = Deadlines(transfer?.request.timeouts ?? Timeouts(), startingAt: loop.now)
            loop.scheduleSweep(by: deadlines.first)
        }

        /// Whether the handle still waits for the admission with this number.
        func isAwaitingAdmission(_ ticket: UInt64) -> Bool { self.ticket == ticket }

        /// Gives the transfer to libcurl.
        func begin() {
            let hasWaited = ticket != nil
            ticket = nil
            // libcurl's timings start here.
            if hasWaited { startedAt = EventLoop.readClock() }
            if hasReplayed { return reattach() ? () : fail(CurlFailure.cannotStart) }
            guard let transfer, state.begin() == .begin else { return }
            do throws(RequestError) {
                if let source = transfer.source { upload = Upload(try source.get()) }
                try apply(transfer.request)
            } catch {
                return fail(error)
            }
            if !hasWaited {
                deadlines = Deadlines(transfer.request.timeouts, startingAt: loop.now)
                loop.scheduleSweep(by: deadlines.first)
            }
            wasAttached = loop.attach(self)
            if !wasAttached { fail(CurlFailure.cannotStart) }
        }

        /// Ends the transfer at once.
        ///
        /// Must not be called from inside a callback of libcurl.
        func stop(_ ending: TransferState.Ending) { perform(state.stop(ending)) }

        /// Ends the transfer with an error.
        ///
        /// Must not be called from inside a callback of libcurl.
        private func fail(_ error: RequestError) {
            if failure == nil { failure = error }
            stop(.failed)
        }

        /// Called after libcurl has finished with the handle.
        func libcurlFinished(_ result: CURLcode) {
            if result == CURLE_OK { markHTTP1Connection() }
            loop.detach(self)
            if replays(after: result) { return }
            if result != CURLE_OK { replaceAfterStreamError() }
            if failure == nil, !hasEarlyResponse, !ignoresLibcurlRepeat {
                failure =
                    isBeyondGoAway ? CurlFailure.unprocessed : transferError(after: result)
            }
            perform(state.finished(complete: failure == nil))
        }

        /// Resets pauses and deadlines for a replay; the time spent on the lost connection counts
        /// as queued.
        func resetForReplay(_ timeouts: Timeouts) {
            isReceivingPaused = false
            isSendingPaused = false
            nextUploadCheck = .never
            startedAt = loop.now
            deadlines = Deadlines(timeouts, startingAt: loop.now)
            loop.scheduleSweep(by: deadlines.first)
        }

        /// Called when a deadline has passed.
        func expire(_ kind: RequestError.TimeoutKind) {
            guard hasEarlyResponse else { return stop(.timedOut(kind)) }
            takeResponse()
        }

        /// Ends the transfer with the available response, even if the request body is not fully
        /// sent.
        ///
        /// Must not be called from inside a callback of libcurl.
        func takeResponse() {
            loop.detach(self)
            perform(state.finished(complete: true))
        }

        /// Whether the response was complete before the request was completely sent; a server may
        /// then ignore the rest of the request (RFC 9113 §8.1).
        var hasEarlyResponse: Bool {
            failure == nil && (upload != nil || body.isCompleteByLength) && head.isComplete
                && body.isComplete
        }

        /// Whether the receiver pauses, so that input on this socket is for this transfer.
        func isPaused(on socket: Int32) -> Bool {
            guard isReceivingPaused else { return false }
            var ownSocket: curl_socket_t = -1
            errand_get_socket(handle, &ownSocket)
            return ownSocket == socket || ownSocket < 0
        }

        /// Resumes receiving.
        func resume() { perform(state.resume()) }

        /// Resumes sending, because the body source has more bytes.
        func bodyIsReadable() {
            guard isSendingPaused else { return }
            isSendingPaused = false
            applyPause()
        }

        private func perform(_ action: TransferState.Action) {
            switch action {
            case .nothing, .begin: break
            case .detachAndEnd(let ending):
                detachAndMarkSuspect(ending)
                reportEnd(ending)
            case .end(let ending): reportEnd(ending)
            case .unpause: unpause()
            case .drain:
                deliverBody(nil)
                if state.mayCallReceiver, failure == nil { failure = body.errorAtEnd() }
                perform(state.drained(complete: failure == nil))
            }
        }

        private func unpause() {
            deadlines.resume(at: loop.now)
            loop.scheduleSweep(by: deadlines.first)
            deliverBody(nil)
            if state.isAborting { return stop(.failed) }
            guard isReceivingPaused, !state.isPaused else { return }
            isReceivingPaused = false
            applyPause()
        }

        /// Sets the paused directions in libcurl.
        ///
        /// libcurl may deliver bytes before this call returns.
        private func applyPause() {
            var mask: Int32 = 0
            if isReceivingPaused { mask |= CURLPAUSE_RECV }
            if isSendingPaused { mask |= CURLPAUSE_SEND }
            let result = curl_easy_pause(handle, mask)
            if state.isAborting || result != CURLE_OK {
                // This call may have delivered the last bytes of the response.
                if !state.isAborting, hasEarlyResponse { return takeResponse() }
                // The transfer has left its connection: its result is about to be collected.
                if !state.isAborting, result == CURLE_BAD_FUNCTION_ARGUMENT { return }
                fail(transferError(after: result) ?? CurlFailure.cannotStart)
            }
        }

        // MARK: - End

        private func reportEnd(_ ending: TransferState.Ending) {
            var end = TransferEnd(timings: timings())
            switch ending {
            case .complete:
                if let transfer { loop.noteOrigin(of: transfer.request) }
                do {
                    end.trailers = try head.trailers(cache: &scratch.fields)
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
            releaseTransfer()
            loop.recycle(self)
            if let receiver { loop.queueEnd(receiver, end) }
        }

        private func releaseTransfer() {
            if let upload {
                upload.close()
            } else if case .success(let source) = transfer?.source {
                source.close()
            }
            upload = nil
            body.releaseDecoders()
            transfer?.ended()
            transfer?.easyHandle = nil
            transfer?.receiver = nil
            transfer?.source = nil
            transfer = nil
            receiver = nil
            failure = nil
            rules = nil
            pins = nil
            peer = nil
            endHook = nil
            ticket = nil
            nextUploadCheck = .never
            isUploadCheckQueued = false
            if hasCustomBuffer || needsReplacement { renewHandle() }
        }

        /// Replaces the easy handle, because libcurl keeps its buffer and pending repetitions.
        func renewHandle() {
            if let handle { curl_easy_cleanup(handle) }
            handle = curl_easy_init()
            (hasCustomBuffer, needsReplacement, watchesFirstLine) = (false, false, false)
            watchesGoAway = false
            needsReset = true
            specialOptions = nil
            repeatsUnprocessedOnly = false
            bufferBytes = 0
        }
    }
#endif
