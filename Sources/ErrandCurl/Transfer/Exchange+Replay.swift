#if os(Linux)
    import CLibcurl
    import ErrandCore

    // A request that met a dead connection, and libcurl's own attempts with it; see ``ReplayDecision``.
    extension Exchange {
        /// Begins again on a new connection where that is right; libcurl is done with the handle, and gets it back.
        ///
        /// At most once: the connection of the second time is no reused one.
        func beginsAgain(after result: CURLcode) -> Bool {
            guard result != CURLE_OK, decision(after: result).beginsAgain, let transfer,
                upload?.rewind() ?? true
            else { return false }
            needsReset = true
            specialOptions = nil
            guard errand_set_long(handle, CURLOPT_FRESH_CONNECT, 1) == CURLE_OK else {
                return false
            }
            errorText[0] = 0
            head.reset(limit: transfer.request.options.maximumHeadBytes)
            restart(transfer.request.timeouts)
            return loop.attach(self)
        }

        private func decision(after result: CURLcode) -> ReplayDecision {
            var connections = 0
            errand_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
            let losses = [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING]
            return ReplayDecision(
                mayReplay: mayReplay, wasReused: sendings > 0 && connections == 0,
                hasAnswerBegun: head.hasBegun, isConnectionLost: losses.contains(result),
                isWanted: state.isLive && failure == nil)
        }
    }
#endif
