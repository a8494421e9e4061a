// Performance annotations: decision 17.

#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import HTTPTypes

    /// A libcurl easy handle and its current transfer.
    ///
    /// It belongs to the loop and is reused. ``TransferState`` and the other values decide what
    /// happens; this class executes their decisions.
    final class EasyHandle {
        private(set) var handle: UnsafeMutableRawPointer?
        unowned(unsafe) let loop: EventLoop
        /// The loop's buffers.
        let scratch: LoopScratch
        /// The index among the loop's active handles.
        var activeIndex = 0
        /// The admission at an origin with shared connections.
        @exclusivity(unchecked) var admission = AdmissionState<EventLoop.AdmissionTicket>()

        // Only the thread that runs the turn uses this state, and callbacks do not overlap. The
        // unchecked variables are used most often (decision 17).
        var transfer: CurlTransfer?
        var receiver: (any TransferReceiver)?
        var state = TransferState()
        @exclusivity(unchecked) var deadlines = Deadlines()
        @exclusivity(unchecked) var response = ResponseState()
        @exclusivity(unchecked) var upload: Upload?
        @exclusivity(unchecked) var uploadWatch = UploadWatch()
        @exclusivity(unchecked) var replay = ReplayState(mayReplay: false)
        @exclusivity(unchecked) var connection = ConnectionUse()
        @exclusivity(unchecked) var paused = PausedDirections()
        @exclusivity(unchecked) var debugOutput = DebugOutput()
        var trailers = TrailerState()
        @exclusivity(unchecked) var times = TransferTimes(startingAt: .never)
        /// The error of the transfer, once known.
        var failure: RequestError?
        /// The trust in the peers of the connection.
        @exclusivity(unchecked) var trust = PeerTrust()

        /// The options that are set, and the memory that they refer to.
        @exclusivity(unchecked) var applied = AppliedOptions()
        let memory = OptionMemory()
        var headers: HeaderList { memory.headers }
        var url: TextBuffer { memory.url }

        init(loop: EventLoop) {
            self.loop = loop
            scratch = loop.scratch
            handle = curl_easy_init()
        }

        deinit {
            if let handle { curl_easy_cleanup(handle) }
            memory.free()
        }

        // MARK: - Lifecycle

        /// Assigns a transfer to the handle.
        func assign(_ transfer: CurlTransfer) {
            let request = transfer.request
            self.transfer = transfer
            receiver = transfer.receiver
            state = TransferState()
            response.reset(request.options)
            uploadWatch = UploadWatch()
            // A request processor may have changed the method since the agent decided.
            replay = ReplayState(
                mayReplay: request.options.mayReplay && request.method.isIdempotent
                    && request.body?.isReplayable != false)
            paused = []
            times = TransferTimes(startingAt: loop.now)
            memory.errorText[0] = 0
            resetDebugOutput()
        }

        /// Waits for admission; the connect limit includes this wait.
        func awaitAdmission(ticket: UInt64) {
            admission.wait(ticket)
            deadlines = Deadlines(transfer?.request.timeouts ?? Timeouts(), startingAt: loop.now)
            loop.scheduleSweep(by: deadlines.first)
        }

        /// Gives the transfer to libcurl.
        func begin() {
            let hasWaited = admission.begin()
            // libcurl's timings start here.
            if hasWaited { times.restart(at: EventLoop.readClock()) }
            if replay.hasReplayed { return reattach() ? () : fail(CurlFailure.cannotStart) }
            guard let transfer, state.begin() == .begin else { return }
            do throws(RequestError) {
                if let source = transfer.source { upload = Upload(try source.get()) }
                try apply(transfer.request)
            } catch {
                return fail(error)
            }
            let loop = loop
            if !hasWaited {
                deadlines = Deadlines(transfer.request.timeouts, startingAt: loop.now)
                loop.scheduleSweep(by: deadlines.first)
            }
            times.wasAttached = loop.attach(self)
            if !times.wasAttached { fail(CurlFailure.cannotStart) }
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
            if loop.connectionTable.hasClosed { explainClose(result) }
            if replays(after: result) { return }
            if result != CURLE_OK { replaceAfterStreamError() }
            if failure == nil, !hasEarlyResponse, !response.ignoresRepetition {
                failure =
                    isBeyondGoAway ? CurlFailure.unprocessed : transferError(after: result)
            }
            perform(state.finished(complete: failure == nil))
        }

        /// Resets pauses and deadlines for a replay; the time spent on the lost connection counts
        /// as queued.
        func resetForReplay(_ timeouts: Timeouts) {
            paused = []
            uploadWatch.restart()
            times.restart(at: loop.now)
            deadlines = Deadlines(timeouts, startingAt: loop.now)
            loop.scheduleSweep(by: deadlines.first)
        }

        /// Moves an expired idle deadline if the receiver has not been waiting for the whole limit;
        /// returns the time of the next check, or `nil` if the deadline has expired.
        func postponeIdle(at now: MonotonicTime) -> MonotonicTime? {
            guard let receiver else { return nil }
            return deadlines.postponeIdle(waitingTime: receiver.waitingTime, at: now)
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
            failure == nil && (upload != nil || response.body.isCompleteByLength)
                && response.isComplete
        }

        /// Whether the receiver pauses, so that input on this socket is for this transfer.
        func isPaused(on socket: Int32) -> Bool {
            guard paused.contains(.receiving) else { return false }
            var ownSocket: curl_socket_t = -1
            errand_get_socket(handle, &ownSocket)
            return ownSocket == socket || ownSocket < 0
        }

        /// Resumes receiving.
        func resume() { perform(state.resume()) }

        /// Resumes sending, because the body source has more bytes.
        func bodyIsReadable() {
            if paused.remove(.sending) != nil { applyPause() }
        }

        private func perform(_ action: TransferState.Action) {
            switch action {
            case .nothing, .begin: break
            case .detachAndEnd(let ending):
                noteClose(ending)
                detachAndMarkSuspect(ending)
                reportEnd(ending)
            case .end(let ending): reportEnd(ending)
            case .unpause: unpause()
            case .drain:
                deliverBody(nil)
                if state.mayCallReceiver, failure == nil { failure = response.body.errorAtEnd() }
                perform(state.drained(complete: failure == nil))
            }
        }

        private func unpause() {
            deadlines.resume(at: loop.now)
            loop.scheduleSweep(by: deadlines.first)
            deliverBody(nil)
            if state.isAborting { return stop(.failed) }
            if !state.isPaused, paused.remove(.receiving) != nil { applyPause() }
        }

        /// Sets the paused directions in libcurl.
        ///
        /// libcurl may deliver bytes before this call returns.
        private func applyPause() {
            let result = curl_easy_pause(handle, paused.rawValue)
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
            // One reference for all uses of the unowned loop.
            let loop = loop
            var end = TransferEnd(timings: timings())
            switch ending {
            case .complete:
                if let transfer { loop.noteOrigin(of: transfer.request) }
                do {
                    end.trailers = try response.head.trailers(cache: &scratch.fields)
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
            response.body.releaseDecoders()
            transfer?.ended()
            transfer?.easyHandle = nil
            transfer?.receiver = nil
            transfer?.source = nil
            transfer = nil
            receiver = nil
            failure = nil
            trust = PeerTrust()
            connection.reset()
            admission.stopWaiting()
            uploadWatch = UploadWatch()
            if applied.needsReplacement { renewHandle() }
        }

        /// Replaces the easy handle, because libcurl keeps its buffer and pending repetitions.
        func renewHandle() {
            if let handle { curl_easy_cleanup(handle) }
            replaceHandle()
        }

        /// Leaves the easy handle to its new owner and creates another one.
        func replaceHandle() {
            handle = curl_easy_init()
            applied = AppliedOptions()
            debugOutput = DebugOutput()
            trailers = TrailerState()
        }
    }

    /// The directions of a transfer that are paused in libcurl; the raw value is libcurl's mask.
    struct PausedDirections: OptionSet {
        let rawValue: Int32

        static let receiving = PausedDirections(rawValue: CURLPAUSE_RECV)
        static let sending = PausedDirections(rawValue: CURLPAUSE_SEND)
    }
#endif
