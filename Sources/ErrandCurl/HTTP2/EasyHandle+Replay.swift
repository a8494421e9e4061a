#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // Requests that are sent again; see ``ReplayState``.
    //
    // A server can state that it has not processed a request: with the stream error REFUSED_STREAM,
    // or with a GOAWAY whose last stream is lower. Then any request may be repeated (RFC 9113
    // §8.7), and libcurl does so. But libcurl also repeats a request whose kept connection was
    // dead, which is safe only for requests that may be replayed, and it does not report which
    // reason applies. For other requests, `CURL_RTSPREQ_RECEIVE` is set: it has no effect in HTTP
    // except that libcurl repeats no request after a dead connection. libcurl then repeats only
    // refused requests, and requests for which the server requires HTTP/1.1; for the latter it
    // writes an error text.
    extension EasyHandle {
        // MARK: - Repetition by libcurl

        /// Makes libcurl repeat a request that may not be replayed only if the server has not
        /// processed it.
        func applyRepeatPolicy(_ request: TransportRequest) {
            let wants =
                !replay.mayReplay
                && (Self.sharesConnections(request)
                    || request.options.httpVersion == .http2PriorKnowledge)
            guard wants != applied.repeatsUnprocessedOnly else { return }
            let kind = Int(wants ? CURL_RTSPREQ_RECEIVE : CURL_RTSPREQ_OPTIONS)
            // A libcurl without RTSP rejects the option. Then a repetition does not show that the
            // request was not processed.
            let code = errand_set_long(handle, CURLOPT_RTSP_REQUEST, kind)
            if code == CURLE_OK { applied.repeatsUnprocessedOnly = wants }
        }

        /// Whether libcurl is about to repeat the request because the server has not processed it.
        var isUnprocessed: Bool {
            applied.repeatsUnprocessedOnly && connection.speaksHTTP2 && replay.wasSent
                && !response.head.hasBegun && (memory.errorText[0] == 0 || isBeyondGoAway)
        }

        /// The facts about a request that libcurl wants to repeat.
        var repetition: ReplayState.Repetition {
            ReplayState.Repetition(
                isUnprocessed: isUnprocessed, requiresHTTP11: requiresHTTP11,
                allowsHTTP11: transfer?.request.options.httpVersion == .automatic,
                hasResponseBegun: response.head.hasBegun)
        }

        /// The error of a request that is not sent again.
        func error(for refusal: ReplayState.Refusal) -> RequestError {
            switch refusal {
            case .lost: return CurlFailure.lostBeforeResponse
            case .unprocessed: return CurlFailure.unprocessed
            case .responseBegun:
                return transferError(after: CURLE_HTTP2_STREAM) ?? CurlFailure.unknown
            case .needsHTTP11:
                return transfer.map { CurlFailure.needsHTTP11($0.request) } ?? CurlFailure.unknown
            }
        }

        /// Whether libcurl repeats the request over HTTP/1.1, because the server requires that with
        /// the stream error HTTP_1_1_REQUIRED (RFC 9113 §7).
        private var requiresHTTP11: Bool {
            guard connection.speaksHTTP2, memory.errorText[0] != 0 else { return false }
            let text = String(cString: memory.errorText)
            // On a new connection, libcurl replaces the first text by the second one, which it
            // writes for no other repetition.
            return CurlFailure.http2Error(in: text) == "HTTP_1_1_REQUIRED"
                || text.hasPrefix("Empty reply")
        }

        /// Marks the handle for replacement after an HTTP/2 stream error.
        ///
        /// If the stream was refused, libcurl may keep this fact in its handle, and repeat the next
        /// request of the handle because of it.
        func replaceAfterStreamError() { if connection.speaksHTTP2 { applied.taint() } }

        // MARK: - Replay by the transport

        /// Replays the request on a new connection if ``ReplayState`` allows it; returns whether it
        /// does.
        ///
        /// Called after libcurl has finished with the handle. A request is replayed at most once. A
        /// request that shared its connection requests admission again: other requests have lost
        /// the connection too, and one new connection is enough for all of them.
        func replays(after result: CURLcode) -> Bool {
            let isBeyondGoAway = isBeyondGoAway
            // If a GOAWAY left no stream on the connection, libcurl may report success.
            guard result != CURLE_OK || isBeyondGoAway || replay.isReplayPending, let transfer,
                replay.replays(after: finish(result, isUnprocessed: isBeyondGoAway))
            else { return false }
            guard upload?.rewind() ?? true else {
                if replay.needsReadmission {
                    failure = error(for: isUnprocessed ? .unprocessed : .lost)
                }
                return false
            }
            replay.replayed()
            memory.errorText[0] = 0
            response.head.reset(limit: transfer.request.options.maximumHeadBytes)
            resetForReplay(transfer.request.timeouts)
            if replay.usedSharedConnection, !loop.requestReadmission(self) { return true }
            return reattach()
        }

        private func finish(_ result: CURLcode, isUnprocessed: Bool) -> ReplayState.Finish {
            // A stream on a shared connection gets one of the last two codes if it has received
            // nothing.
            let losses = [
                CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE,
                CURLE_HTTP2,
            ]
            return ReplayState.Finish(
                hasFailed: result != CURLE_OK, isUnprocessed: isUnprocessed,
                isConnectionKept: !opensConnection, isConnectionLost: losses.contains(result),
                hasResponseBegun: response.head.hasBegun,
                isWanted: state.mayCallReceiver && failure == nil)
        }

        /// Adds the handle to libcurl again, with a new connection unless a probe has opened one.
        func reattach() -> Bool {
            if !replay.usedSharedConnection || admission.isProbe {
                applied.addedUnique()
                guard errand_set_long(handle, CURLOPT_FRESH_CONNECT, 1) == CURLE_OK else {
                    return false
                }
            }
            return loop.attach(self)
        }

        // MARK: - GOAWAY

        /// Whether the server closed the connection without processing this request.
        var isBeyondGoAway: Bool {
            guard applied.repeatsUnprocessedOnly, !response.head.hasBegun else { return false }
            let tls = connection.tls
            return debugOutput.streams.isBeyondGoAway(
                reported: tls.flatMap { loop.lastStreams[$0] })
        }

        /// Starts to observe the stream and GOAWAY frames, before the request head is sent.
        func observeGoAway() {
            if let tls = connection.tls, opensConnection { loop.lastStreams[tls] = nil }
            let isWatched = applied.repeatsUnprocessedOnly && connection.speaksHTTP2
            if debugOutput.streams.requestStarts(isWatched: isWatched) { applyVerbosity() }
        }

        fileprivate func parse(debugText text: UnsafeRawBufferPointer) {
            guard debugOutput.streams.isActive, let event = StreamEvent(text),
                let last = debugOutput.streams.record(event)
            else { return }
            // Most entries belong to connections that no request uses any more.
            if loop.lastStreams.count > 64 { loop.lastStreams.removeAll() }
            if let tls = connection.tls { loop.lastStreams[tls] = last }
        }

        // MARK: - Debug function

        /// Inspects the line after a status line.
        func watchFirstLine() {
            let hasChanged = debugOutput.firstLine.expectLine(
                isFirst: response.head.isAtStart, isHTTP2: connection.speaksHTTP2)
            if hasChanged { applyVerbosity() }
        }

        /// Ends the observation of the last transfer, which may have ended within a head.
        func resetDebugOutput() {
            let wasNeeded = debugOutput.isNeeded
            debugOutput = DebugOutput()
            if wasNeeded { applyVerbosity() }
        }

        private func applyVerbosity() {
            errand_set_long(handle, CURLOPT_VERBOSE, debugOutput.isNeeded ? 1 : 0)
        }
    }

    let onDebug: errand_debug_callback = { _, type, bytes, count, context in
        guard type == CURLINFO_HEADER_IN || type == CURLINFO_TEXT, let context else { return 0 }
        let text = UnsafeMutableRawBufferPointer(start: bytes, count: count)
        Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { easyHandle in
            if type == CURLINFO_TEXT {
                easyHandle.parse(debugText: UnsafeRawBufferPointer(text))
            } else {
                easyHandle.debugOutput.firstLine.inspect(text)
            }
        }
        return 0
    }
#endif
