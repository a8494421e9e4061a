import ErrandTransport

/// Watches an upload for progress and for a refusal.
///
/// libcurl 7.88 may learn during a write that an HTTP/2 stream has ended, and then wait for a socket
/// event that does not come; with `curl_multi_socket_action` nothing else wakes it. So libcurl is
/// made to read and write again in two cases: for an upload without progress, and for a refusal,
/// which is a response with status 300 or higher before the upload is complete.
struct UploadWatch {
    /// The time without progress after which an upload is resumed.
    static let stallInterval = Duration.seconds(1)
    /// The silence after which a refusal without a length counts as complete.
    static let refusalSilence = Duration.seconds(3)

    /// The time of the next check; ``MonotonicTime/never`` if there is no upload.
    private(set) var nextCheck = MonotonicTime.never
    /// Whether the loop will resume the upload because of a refusal.
    private var isQueued = false
    /// The progress that was last reported to the receiver.
    private var reported: Int64 = 0

    /// Schedules the first check, when the request head is sent.
    mutating func requestSent(at now: MonotonicTime) {
        nextCheck = now.advanced(by: Self.stallInterval)
    }

    /// Ends the checks until the request head is sent again.
    mutating func restart() { nextCheck = .never }

    /// Records that the body's bytes up to this number were sent; returns whether to report it.
    ///
    /// A repeated body starts at 0, but the reported progress never decreases.
    mutating func sent(_ bytes: Int64) -> Bool {
        guard bytes > reported else { return false }
        reported = bytes
        return true
    }

    /// Whether a check is due; then the next one is scheduled.
    mutating func isCheckDue(at now: MonotonicTime) -> Bool {
        guard nextCheck <= now else { return false }
        nextCheck = now.advanced(by: Self.stallInterval)
        return true
    }

    /// Records a refusal or a part of its body; returns whether to queue the upload.
    mutating func refused() -> Bool {
        guard !isQueued else { return false }
        isQueued = true
        return true
    }

    /// Takes the upload out of the queue; returns whether it was queued.
    mutating func takeRefusal() -> Bool {
        defer { isQueued = false }
        return isQueued
    }
}

/// Whether the handle's request has trailers, and whether libcurl has begun to send them.
struct TrailerState {
    /// Whether libcurl asks for trailers.
    private(set) var areSent = false
    /// Whether libcurl has read the end of the body that the trailers follow.
    private(set) var haveBegun = false

    init(areSent: Bool = false) { self.areSent = areSent }

    /// Records that libcurl has read the end of the body.
    mutating func bodyEnded() { haveBegun = areSent }
}

#if os(Linux)
    import CLibcurl
    import HTTPTypes

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

    // Trailers after the request body, which libcurl sends in the chunked coding only: over HTTP/2 it
    // ends the stream without them.
    //
    // libcurl 7.88 keeps the state of sent trailers in its handle. The next chunked body of the handle,
    // also of the same request if libcurl repeats it, would be sent without trailers, and libcurl would
    // write before the start of its buffer. So a handle sends trailers only once.
    extension EasyHandle {
        /// Lets libcurl ask for trailers if there are any.
        func applyTrailers(of request: TransportRequest) throws(RequestError) {
            try request.checkTrailerVersion()
            let names = request.body?.trailerNames ?? []
            guard trailers.areSent == names.isEmpty else { return }
            trailers = TrailerState(areSent: !names.isEmpty)
            if trailers.areSent { applied.taint() }
            try expect(
                errand_set_trailer_callback(handle, trailers.areSent ? onTrailers : nil))
        }

        /// Leaves a repetition by libcurl to ``replays(after:)``, which uses a new handle.
        func preventRepetitionOfTrailers() -> Bool {
            guard trailers.haveBegun, replay.wasSent else { return false }
            if !replay.needsAnotherHandle() { _ = abort(with: CurlFailure.lostBeforeResponse) }
            return true
        }

        /// Replaces the handle before a replay if it has begun to send trailers; returns false if the
        /// options of the request cannot be set.
        func renewAfterTrailers() -> Bool {
            guard trailers.haveBegun, let request = transfer?.request else { return true }
            renewHandle()
            do throws(RequestError) {
                try apply(request)
                return true
            } catch {
                failure = error
                return false
            }
        }

        /// The trailers as a list that libcurl frees; `nil` if there is no memory for it.
        fileprivate func trailerList() -> Result<UnsafeMutablePointer<curl_slist>?, NoMemory> {
            var list: UnsafeMutablePointer<curl_slist>?
            for field in upload?.trailers ?? [:] {
                let line = "\(field.name.rawName): \(field.value)"
                guard let longer = curl_slist_append(list, line) else {
                    curl_slist_free_all(list)
                    return .failure(NoMemory())
                }
                list = longer
            }
            return .success(list)
        }
    }

    private struct NoMemory: Error {}

    private let onTrailers: errand_trailer_callback = { list, context in
        guard let list, let context else { return CURL_TRAILERFUNC_ABORT }
        let result = Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.trailerList()
        }
        guard case .success(let trailers) = result else { return CURL_TRAILERFUNC_ABORT }
        list.pointee = trailers
        return CURL_TRAILERFUNC_OK
    }
#endif
