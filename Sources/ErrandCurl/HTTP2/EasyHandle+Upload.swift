#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // Uploads that stall or are refused; see ``UploadWatch``.
    extension EasyHandle {
        /// Schedules the first check of an upload, when its request head is sent.
        func scheduleUploadCheck() {
            guard upload != nil, let transfer, Self.sharesConnections(transfer.request) else {
                return
            }
            uploadWatch.requestSent(at: loop.now)
            loop.scheduleSweep(by: uploadWatch.nextCheck)
        }

        /// Resumes an upload without progress; returns the time of the next check.
        func checkUploadStall() -> MonotonicTime {
            // An upload whose source has no bytes is not stalled. Over HTTP/1, resuming would only
            // fill the system's buffer further, which would look like progress.
            if uploadWatch.isCheckDue(at: loop.now), !paused.contains(.sending), mayBeHTTP2 {
                forceReadAndWrite()
            }
            return uploadWatch.nextCheck
        }

        /// Records that a refusal, or a part of its body, arrived during an upload; libcurl then
        /// stops sending.
        func handleRefusal() {
            guard upload != nil, uploadWatch.refused() else { return }
            loop.queueRefusedUpload(of: self)
        }

        /// Resumes an upload after a refusal.
        ///
        /// Must not be called from inside a callback of libcurl.
        func resumeRefusedUpload() {
            guard uploadWatch.takeRefusal(), response.isRefusal else { return }
            if response.isHTTP2, hasEarlyResponse, isUploadUnfinished { return takeResponse() }
            // The source is no longer needed.
            paused.remove(.sending)
            forceReadAndWrite()
        }

        /// Whether an HTTP/2 server that refused the request has finished its response.
        var isRefusalComplete: Bool {
            response.isRefusalWithoutLength && !state.isPaused
                && deadlines.isIdle(for: UploadWatch.refusalSilence, at: loop.now)
                && isUploadUnfinished
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
            let mask = paused.intersection(.receiving)
            // Clearing a pause makes libcurl read and write regardless of socket events.
            curl_easy_pause(handle, mask.union(.sending).rawValue)
            curl_easy_pause(handle, mask.rawValue)
        }
    }
#endif
