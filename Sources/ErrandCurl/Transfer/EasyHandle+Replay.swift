#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // Replay of a request that was sent on a dead connection, if libcurl does not replay it itself;
    // see ``ReplayDecision``.
    extension EasyHandle {
        /// Replays the request on a new connection if ``ReplayDecision`` allows it; returns whether
        /// it does.
        ///
        /// Called after libcurl has finished with the handle. A request is replayed at most once. A
        /// request that shared its connection requests admission again: other requests have lost
        /// the connection too, and one new connection is enough for all of them.
        func replays(after result: CURLcode) -> Bool {
            // If a GOAWAY left no stream on the connection, libcurl may report success.
            let wasNotProcessed = needsReadmission || isBeyondGoAway || needsOtherConnection
            guard result != CURLE_OK || wasNotProcessed, !hasReplayed, let transfer,
                wasNotProcessed ? isWanted : decision(after: result).shouldReplay
            else { return false }
            guard upload?.rewind() ?? true else {
                if needsReadmission { failure = replayError }
                return false
            }
            hasReplayed = true
            needsOtherConnection = false
            errorText[0] = 0
            head.reset(limit: transfer.request.options.maximumHeadBytes)
            resetForReplay(transfer.request.timeouts)
            if usedSharedConnection, !loop.requestReadmission(self) { return true }
            return reattach()
        }

        /// Adds the handle to libcurl again, with a new connection unless a probe has opened one.
        func reattach() -> Bool {
            guard renewAfterTrailers() else { return false }
            if !usedSharedConnection || admissionSlot?.isProbe == true {
                needsReset = true
                specialOptions = nil
                guard errand_set_long(handle, CURLOPT_FRESH_CONNECT, 1) == CURLE_OK else {
                    return false
                }
            }
            return loop.attach(self)
        }

        private var isWanted: Bool { state.mayCallReceiver && failure == nil }

        private func decision(after result: CURLcode) -> ReplayDecision {
            var connections = 0
            errand_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
            // A stream on a shared connection gets one of the last two codes if it has received
            // nothing.
            let losses = [
                CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE,
                CURLE_HTTP2,
            ]
            return ReplayDecision(
                mayReplay: mayReplay, wasReused: sendCount > 0 && connections == 0,
                hasResponseBegun: head.hasBegun, isConnectionLost: losses.contains(result),
                isWanted: isWanted)
        }
    }
#endif
