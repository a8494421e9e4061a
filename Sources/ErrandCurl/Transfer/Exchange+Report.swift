#if os(Linux)
    import CLibcurl
    import ErrandCore

    // What libcurl knows of a transfer that has ended.
    extension Exchange {
        func problem(after result: CURLcode) -> RequestError? {
            if result == CURLE_OK {
                guard head.isComplete else { return CurlFailure.headCutOff }
                return isEndUnsaid ? CurlFailure.endedUnsaid : nil
            }
            guard let handle else { return CurlFailure.unknown }
            var proxyAnswer = 0
            errand_get_long(handle, CURLINFO_HTTP_CONNECTCODE, &proxyAnswer)
            var proxyVerification = 0
            errand_get_long(handle, CURLINFO_PROXY_SSL_VERIFYRESULT, &proxyVerification)
            return CurlFailure.error(
                result,
                context: CurlFailure.Context(
                    text: String(cString: errorText), host: transfer?.request.host ?? "",
                    isConnected: sendings > 0, isHeadComplete: head.isComplete,
                    hasHeadBegun: head.hasBegun, proxyAnswer: proxyAnswer,
                    proxyVerification: proxyVerification,
                    proxy: transfer.flatMap { ProxyRoute($0.request.options.proxy) },
                    unixSocket: transfer?.request.options.unixSocketPath,
                    limits: transfer?.request.timeouts))
        }

        func timings() -> AttemptTimings {
            var timings = AttemptTimings()
            guard let handle, let transfer else { return timings }
            // The turn may have begun before the transfer was made: only a look at the clock tells when it ended.
            let queued = takenUp.since(transfer.created)
            timings.queued = queued
            timings.finished = EventLoop.readClock().since(transfer.created)
            guard wasAttached else { return timings }
            var connections = 0
            errand_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
            func moment(_ info: CURLINFO) -> Duration? {
                var microseconds: curl_off_t = 0
                errand_get_offset(handle, info, &microseconds)
                return microseconds > 0 ? queued + .microseconds(microseconds) : nil
            }
            if connections > 0 {
                timings.nameLookedUp = moment(CURLINFO_NAMELOOKUP_TIME_T)
                timings.connected = moment(CURLINFO_CONNECT_TIME_T)
                timings.secured = moment(CURLINFO_APPCONNECT_TIME_T)
                // After a second try the name's time may be that of the second, and the connection's of the first.
                if let name = timings.nameLookedUp, let connected = timings.connected {
                    timings.nameLookedUp = min(name, connected)
                }
            }
            if sendings > 0 { timings.reusedConnection = connections == 0 }
            if head.hasBegun { timings.firstByte = moment(CURLINFO_STARTTRANSFER_TIME_T) }
            var headBytes = 0
            errand_get_long(handle, CURLINFO_REQUEST_SIZE, &headBytes)
            timings.bytesSent = Int64(headBytes) + (upload?.bytesSent ?? 0)
            timings.bytesReceived = body.bytesReceived
            return timings
        }
    }
#endif
