/// Counts how often libcurl sends a request, and decides whether it is sent again.
///
/// libcurl repeats a request on its own when a kept connection fails, or when the server refuses it
/// unprocessed. If it does not, the transport may replay the request once.
struct ReplayState {
    /// The facts about a request that libcurl wants to repeat.
    struct Repetition {
        /// Whether the server has not processed the request (RFC 9113 §8.7).
        var isUnprocessed: Bool
        /// Whether the server requires HTTP/1.1 for the request.
        var requiresHTTP11: Bool
        /// Whether the request may use HTTP/1.1.
        var allowsHTTP11: Bool
        /// Whether a part of a response has arrived.
        var hasResponseBegun: Bool
    }

    /// The reason why a request is not sent again.
    enum Refusal: Hashable {
        /// The server may have processed it.
        case lost
        /// The server has refused it too often.
        case unprocessed
        /// A part of a response has arrived.
        case responseBegun
        /// The server requires HTTP/1.1, which the request does not allow.
        case needsHTTP11
    }

    /// What happens when libcurl needs another socket for a request that was sent.
    enum SocketAction: Hashable {
        case open
        /// Refuse the socket: the request fails.
        case fail(Refusal)
        /// Refuse the socket: the request waits for admission again.
        case readmit
    }

    /// The facts about a transfer that libcurl has finished.
    struct Finish {
        var hasFailed: Bool
        /// Whether the server closed the connection without processing the request.
        var isUnprocessed: Bool
        /// Whether the request used a connection that had carried another request before.
        var isConnectionKept: Bool
        /// Whether the transfer failed with its connection.
        var isConnectionLost: Bool
        var hasResponseBegun: Bool
        /// Whether the transfer is still active.
        var isWanted: Bool
    }

    /// The maximum number of times that a request that may not be replayed is sent.
    static let maximumSendCount = 3

    /// Whether the request may be processed twice.
    let mayReplay: Bool
    /// The number of times that the request head was sent.
    private var sendCount = 0
    /// Whether the request may be repeated and was sent on a shared connection.
    private(set) var usedSharedConnection = false
    /// Whether the transport has replayed the request.
    private(set) var hasReplayed = false
    /// Whether the request lost its shared connection and requests admission again.
    private(set) var needsReadmission = false
    /// Whether the chosen connection cannot be used.
    private var needsOtherConnection = false

    init(mayReplay: Bool) { self.mayReplay = mayReplay }

    /// Whether the request head was sent.
    var wasSent: Bool { sendCount > 0 }

    /// Whether the transfer replays the request, if it is still wanted.
    var isReplayPending: Bool { !hasReplayed && (needsReadmission || needsOtherConnection) }

    // MARK: - Events

    /// Records that the request head is about to be sent.
    mutating func willSend() { sendCount += 1 }

    /// Records that the request is sent on a shared connection.
    ///
    /// - Parameter repeatsUnprocessed: Whether the request is repeated if it was not processed.
    mutating func sharesConnection(repeatsUnprocessed: Bool) {
        if mayReplay || repeatsUnprocessed { usedSharedConnection = true }
    }

    /// Records that the chosen connection cannot be used, before anything was sent on it; returns
    /// false if the request was already replayed.
    mutating func abandonConnection() -> Bool {
        guard !hasReplayed else { return false }
        sendCount -= 1
        needsOtherConnection = true
        return true
    }

    /// Records that libcurl must not send the request again, but a new handle may; returns false if
    /// the request was already replayed.
    mutating func needsAnotherHandle() -> Bool {
        guard !hasReplayed else { return false }
        needsOtherConnection = true
        return true
    }

    /// Decides whether libcurl may open another socket for a request that was sent.
    mutating func socketAction(_ repetition: Repetition) -> SocketAction {
        if let refusal = refusal(of: repetition) { return .fail(refusal) }
        // Other requests may have lost the same connection, and each would open a new one.
        guard usedSharedConnection, !hasReplayed, !repetition.requiresHTTP11 else { return .open }
        needsReadmission = true
        return .readmit
    }

    /// Records that the transport replays the request.
    mutating func replayed() {
        hasReplayed = true
        needsOtherConnection = false
    }

    // MARK: - Decisions

    /// The reason why libcurl must not send the request again; `nil` if it may.
    func refusal(of repetition: Repetition) -> Refusal? {
        guard repetition.requiresHTTP11 else {
            if mayReplay || repetition.isUnprocessed && sendCount < Self.maximumSendCount {
                return nil
            }
            return repetition.isUnprocessed ? .unprocessed : .lost
        }
        if repetition.hasResponseBegun { return .responseBegun }
        return mayReplay && repetition.allowsHTTP11 ? nil : .needsHTTP11
    }

    /// Whether the transport replays the request after libcurl has finished.
    func replays(after finish: Finish) -> Bool {
        guard !hasReplayed else { return false }
        // Over such a connection the request was not processed, so any method may be repeated.
        if isReplayPending || finish.isUnprocessed { return finish.isWanted }
        guard finish.hasFailed else { return false }
        let decision = ReplayDecision(
            mayReplay: mayReplay, wasReused: wasSent && finish.isConnectionKept,
            hasResponseBegun: finish.hasResponseBegun,
            isConnectionLost: finish.isConnectionLost, isWanted: finish.isWanted)
        return decision.shouldReplay
    }

    /// Whether the request could restart on another connection.
    func canMove(hasResponseBegun: Bool) -> Bool {
        mayReplay && usedSharedConnection && !hasReplayed && !hasResponseBegun
    }
}

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
                || text.starts(withBytes: "Empty reply")
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
            guard renewAfterTrailers() else { return false }
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
