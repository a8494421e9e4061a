import ErrandTransport

/// The times of a transfer that libcurl carries.
struct TransferTimes {
    /// The values that libcurl measured, in microseconds since ``TransferTimes/started``; 0 if
    /// unknown.
    struct Measured {
        var nameLookup: Int64 = 0
        var connect: Int64 = 0
        var handshake: Int64 = 0
        var firstByte: Int64 = 0
        /// Whether the transfer opened a connection.
        var isConnectionNew = false
    }

    /// The time at which libcurl's timings start.
    private(set) var started: MonotonicTime
    /// Whether libcurl got the transfer.
    var wasAttached = false

    /// The timings that were kept; see ``keep(_:)``.
    private var kept: AttemptTimings?

    init(startingAt now: MonotonicTime) { started = now }

    /// Records that the transfer starts later; the earlier time counts as queued.
    mutating func restart(at now: MonotonicTime) { started = now }

    /// Keeps the timings of a transfer whose handle the engine takes over.
    mutating func keep(_ timings: AttemptTimings) { kept = timings }

    /// The timings that were kept, with the end of the transfer.
    func kept(created: MonotonicTime, finished: MonotonicTime) -> AttemptTimings? {
        guard var timings = kept else { return nil }
        timings.finished = finished.since(created)
        return timings
    }

    /// The timings of the transfer.
    ///
    /// - Parameter measured: libcurl's values; `nil` if libcurl did not get the transfer.
    func timings(
        created: MonotonicTime, finished: MonotonicTime, measured: Measured?, wasSent: Bool,
        hasResponseBegun: Bool
    ) -> AttemptTimings {
        var timings = AttemptTimings()
        let queued = started.since(created)
        timings.queued = queued
        timings.finished = finished.since(created)
        guard let measured else { return timings }
        func moment(_ microseconds: Int64) -> Duration? {
            microseconds > 0 ? queued + .microseconds(microseconds) : nil
        }
        if measured.isConnectionNew {
            timings.nameLookedUp = moment(measured.nameLookup)
            timings.connected = moment(measured.connect)
            timings.secured = moment(measured.handshake)
            // If libcurl connected twice, it may report the end of the second name lookup and of
            // the first connect.
            if let name = timings.nameLookedUp, let connected = timings.connected {
                timings.nameLookedUp = min(name, connected)
            }
        }
        if wasSent { timings.reusedConnection = !measured.isConnectionNew }
        if hasResponseBegun { timings.firstByte = moment(measured.firstByte) }
        return timings
    }
}

#if os(Linux)
    import CLibcurl

    // The error and the timings of a transfer that has ended.
    extension EasyHandle {
        func transferError(after result: CURLcode) -> RequestError? {
            if result == CURLE_OK {
                guard response.head.isComplete else { return CurlFailure.truncatedHead }
                return lacksCloseNotify ? CurlFailure.missingCloseNotify : nil
            }
            guard let handle else { return CurlFailure.unknown }
            if let peer = trust.observer, peer.hasRefusedName {
                return CurlFailure.unnamedHost(
                    transfer?.request.host ?? "",
                    proxy: peer.isForProxy
                        ? transfer.flatMap { ProxyRoute($0.request)?.name } ?? "" : nil, result)
            }
            var proxyResponse = 0
            errand_get_long(handle, CURLINFO_HTTP_CONNECTCODE, &proxyResponse)
            var proxyVerification = 0
            errand_get_long(handle, CURLINFO_PROXY_SSL_VERIFYRESULT, &proxyVerification)
            return CurlFailure.error(
                result,
                context: CurlFailure.Context(
                    request: transfer?.request, text: String(cString: memory.errorText),
                    alert: trust.observer?.alert ?? 0, isConnected: replay.wasSent,
                    isHeadComplete: response.head.isComplete, hasHeadBegun: response.head.hasBegun,
                    proxyResponse: proxyResponse,
                    proxyVerification: proxyVerification,
                    proxy: transfer.flatMap { ProxyRoute($0.request) },
                    lacksResources: connection.lacksResources))
        }

        func timings() -> AttemptTimings {
            guard let transfer else { return AttemptTimings() }
            // `loop.now` is the start of the turn, which may be earlier than the creation of the
            // transfer. So the clock is read again.
            let finished = EventLoop.readClock()
            if let timings = times.kept(created: transfer.created, finished: finished) {
                return timings
            }
            guard let handle else { return AttemptTimings() }
            var measured: TransferTimes.Measured?
            if times.wasAttached { measured = measure(handle) }
            var timings = times.timings(
                created: transfer.created, finished: finished, measured: measured,
                wasSent: replay.wasSent, hasResponseBegun: response.head.hasBegun)
            guard times.wasAttached else { return timings }
            var headBytes = 0
            errand_get_long(handle, CURLINFO_REQUEST_SIZE, &headBytes)
            timings.bytesSent = Int64(headBytes) + (upload?.bytesSent ?? 0)
            timings.bytesReceived = response.body.bytesReceived
            var responseBytes = 0
            errand_get_long(handle, CURLINFO_HEADER_SIZE, &responseBytes)
            timings.headBytesReceived = Int64(responseBytes)
            return timings
        }

        private func measure(_ handle: UnsafeMutableRawPointer) -> TransferTimes.Measured {
            func microseconds(_ info: CURLINFO) -> Int64 {
                var number: curl_off_t = 0
                errand_get_offset(handle, info, &number)
                return Int64(number)
            }
            var measured = TransferTimes.Measured()
            measured.isConnectionNew = opensConnection
            if measured.isConnectionNew {
                measured.nameLookup = microseconds(CURLINFO_NAMELOOKUP_TIME_T)
                measured.connect = microseconds(CURLINFO_CONNECT_TIME_T)
                measured.handshake = microseconds(CURLINFO_APPCONNECT_TIME_T)
            }
            measured.firstByte = microseconds(CURLINFO_STARTTRANSFER_TIME_T)
            return measured
        }
    }
#endif
