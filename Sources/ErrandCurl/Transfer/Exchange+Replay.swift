#if os(Linux)
    import CLibcurl
    import ErrandCore

    // A request that met a dead connection, and libcurl's own attempts with it; see ``ReplayDecision``.
    extension Exchange {
        /// Begins again on a new connection where that is right; libcurl is done with the handle, and gets it back.
        ///
        /// At most once. One that shared its connection goes back to the gate: others have lost it, too, and one
        /// new connection is enough for all of them.
        func beginsAgain(after result: CURLcode) -> Bool {
            // Of a connection that nobody is left on, libcurl may say that all is well.
            let isRefused = isRejoining || isBeyondGoAway
            guard result != CURLE_OK || isRefused, !hasBegunAgain, let transfer,
                isRefused ? isWanted : decision(after: result).beginsAgain
            else { return false }
            guard upload?.rewind() ?? true else {
                if isRejoining { failure = refusalToRepeat }
                return false
            }
            hasBegunAgain = true
            errorText[0] = 0
            head.reset(limit: transfer.request.options.maximumHeadBytes)
            restart(transfer.request.timeouts)
            if hasShared, !loop.reentersGate(self) { return true }
            return reattach()
        }

        /// Goes to libcurl for the second time: on a connection that nobody has used, unless it follows one that has
        /// opened that.
        func reattach() -> Bool {
            if !hasShared || place?.isAhead == true {
                needsReset = true
                specialOptions = nil
                guard errand_set_long(handle, CURLOPT_FRESH_CONNECT, 1) == CURLE_OK else {
                    return false
                }
            }
            return loop.attach(self)
        }

        private var isWanted: Bool { state.isLive && failure == nil }

        private func decision(after result: CURLcode) -> ReplayDecision {
            var connections = 0
            errand_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
            // The last two are what one of those who share a connection gets, before any of its answer.
            let losses = [
                CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE,
                CURLE_HTTP2,
            ]
            return ReplayDecision(
                mayReplay: mayReplay, wasReused: sendings > 0 && connections == 0,
                hasAnswerBegun: head.hasBegun, isConnectionLost: losses.contains(result),
                isWanted: isWanted)
        }
    }
#endif
