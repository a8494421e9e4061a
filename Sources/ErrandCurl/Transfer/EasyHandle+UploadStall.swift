#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // libcurl 7.88 may learn during a write that an HTTP/2 stream has ended, and then wait for a
    // socket event that does not come; with `curl_multi_socket_action` nothing else wakes it. So
    // libcurl is made to read and write again in two cases: for an upload without progress, and for
    // a refusal, which is a response with status 300 or higher before the upload is complete.
    extension EasyHandle {
        /// The time without progress after which an upload is resumed.
        private static let stallCheckInterval = Duration.seconds(1)
        /// The silence after which a refusal without a length counts as complete.
        private static let refusalSilence = Duration.seconds(3)

        /// Schedules the first check of an upload, when its request head is sent.
        func scheduleUploadCheck() {
            guard upload != nil, let transfer, Self.sharesConnections(transfer.request) else {
                return
            }
            nextUploadCheck = loop.now.advanced(by: Self.stallCheckInterval)
            loop.scheduleSweep(by: nextUploadCheck)
        }

        /// Records that a refusal, or a part of its body, arrived during an upload; libcurl then
        /// stops sending.
        func handleRefusal() {
            guard upload != nil, !isUploadCheckQueued else { return }
            isUploadCheckQueued = true
            loop.queueRefusedUpload(of: self)
        }

        /// Resumes an upload after a refusal.
        ///
        /// Must not be called from inside a callback of libcurl.
        func resumeRefusedUpload() {
            guard isUploadCheckQueued else { return }
            isUploadCheckQueued = false
            guard hasRefusalStatus else { return }
            if isHTTP2, hasEarlyResponse, isUploadUnfinished { return takeResponse() }
            // The source is no longer needed.
            isSendingPaused = false
            forceReadAndWrite()
        }

        /// Resumes an upload without progress; returns the time of the next check.
        func checkUploadStall() -> MonotonicTime {
            guard nextUploadCheck <= loop.now else { return nextUploadCheck }
            nextUploadCheck = loop.now.advanced(by: Self.stallCheckInterval)
            // An upload whose source has no bytes is not stalled. Over HTTP/1, resuming would only
            // fill the system's buffer further, which would look like progress.
            if !isSendingPaused, mayBeHTTP2 { forceReadAndWrite() }
            return nextUploadCheck
        }

        /// Whether an HTTP/2 server that refused the request has finished its response.
        ///
        /// A body without a length ends with its stream. libcurl 7.88 does not notice that while
        /// the rest of the request waits for flow control, so silence decides.
        var isRefusalComplete: Bool {
            hasRefusalStatus && isHTTP2 && !body.isAnnounced && !state.isPaused
                && deadlines.isIdle(for: Self.refusalSilence, at: loop.now) && isUploadUnfinished
        }

        /// Whether a part of the request body was not sent.
        private var isUploadUnfinished: Bool {
            guard let upload else { return false }
            var sent: curl_off_t = 0
            errand_get_offset(handle, CURLINFO_SIZE_UPLOAD_T, &sent)
            return !upload.isComplete || Int64(sent) < upload.bytesSent
        }

        private func forceReadAndWrite() {
            guard transfer != nil, !state.isAborting, let handle else { return }
            let mask: Int32 = isReceivingPaused ? CURLPAUSE_RECV : 0
            // Clearing a pause makes libcurl read and write regardless of socket events.
            curl_easy_pause(handle, mask | CURLPAUSE_SEND)
            curl_easy_pause(handle, mask)
        }
    }
#endif
