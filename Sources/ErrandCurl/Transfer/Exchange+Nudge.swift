#if os(Linux)
    import CLibcurl
    import ErrandCore

    // NB: libcurl 7.88 may learn within a write that an HTTP/2 stream is over, and then waits for a socket event
    // that does not come; with `curl_multi_socket_action` nothing else wakes it. So whoever is answered before the
    // request was out, and whoever cannot send, is made to look again.
    extension Exchange {
        /// How long an upload may rest before it is made to look.
        private static let patience = Duration.seconds(1)
        /// How long a refusal without a length may rest before it counts as complete.
        private static let patienceForMore = Duration.seconds(3)

        /// The request's head goes out.
        func expectStall() {
            guard upload != nil, let transfer, Self.sharesConnections(transfer.request) else {
                return
            }
            nextNudge = loop.now.advanced(by: Self.patience)
            loop.expectSweep(by: nextNudge)
        }

        /// A refusal has come, or some of its body; libcurl stops sending then.
        func noteRefusal() {
            guard upload != nil, !isAwaitingNudge else { return }
            isAwaitingNudge = true
            loop.expectNudge(of: self)
        }

        /// Looks after an exchange with an early refusal, outside of libcurl.
        func nudgeAnswered() {
            guard isAwaitingNudge else { return }
            isAwaitingNudge = false
            guard isRefused else { return }
            // Nobody waits for the source any more.
            isSendingPaused = false
            nudge()
        }

        /// Makes an upload look that has not moved for a while; returns when to look again.
        func nudgeIfStalled() -> MonotonicTime {
            guard nextNudge <= loop.now else { return nextNudge }
            nextNudge = loop.now.advanced(by: Self.patience)
            // A source that has nothing to send is a rest of its own. And over HTTP/1 a nudge would only put some more into
            // the system's buffer, which then looks like progress.
            if !isSendingPaused, mayBeHTTP2 { nudge() }
            return nextNudge
        }

        /// Whether a server that has refused over HTTP/2 has nothing more to say.
        ///
        /// NB: where the body has no length, its end is the stream's. libcurl 7.88 does not see that while the rest of
        /// the request waits for room at the server, so silence has to do.
        var hasSpoken: Bool {
            isRefused && isHTTP2 && !body.isAnnounced && !state.isPaused
                && deadlines.isSilent(for: Self.patienceForMore, at: loop.now) && isUploadUnfinished
        }

        /// Whether some of the request's body has not gone out.
        private var isUploadUnfinished: Bool {
            guard let upload else { return false }
            var sent: curl_off_t = 0
            errand_get_offset(handle, CURLINFO_SIZE_UPLOAD_T, &sent)
            return !upload.isComplete || Int64(sent) < upload.bytesSent
        }

        private func nudge() {
            guard transfer != nil, !state.isAborting, let handle else { return }
            let mask: Int32 = isReceivingPaused ? CURLPAUSE_RECV : 0
            // Taking back a pause is what makes libcurl read and write whatever the sockets say.
            curl_easy_pause(handle, mask | CURLPAUSE_SEND)
            curl_easy_pause(handle, mask)
        }
    }
#endif
