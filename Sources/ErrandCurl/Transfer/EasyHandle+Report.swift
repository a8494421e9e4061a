#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // The error and the timings of a transfer that has ended.
    extension EasyHandle {
        func transferError(after result: CURLcode) -> RequestError? {
            if result == CURLE_OK {
                guard head.isComplete else { return CurlFailure.truncatedHead }
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
                    text: String(cString: errorText), alert: trust.observer?.alert ?? 0,
                    host: transfer?.request.host ?? "",
                    port: transfer?.request.url.effectivePort,
                    isConnected: sendCount > 0, isHeadComplete: head.isComplete,
                    hasHeadBegun: head.hasBegun, proxyResponse: proxyResponse,
                    proxyVerification: proxyVerification,
                    proxy: transfer.flatMap { ProxyRoute($0.request) },
                    lacksResources: lacksResources,
                    hasAuthorities: transfer.map {
                        CurlFailure.namesAuthorities($0.request.options)
                    } ?? false,
                    unixSocket: transfer?.request.options.unixSocketPath,
                    limits: transfer?.request.timeouts))
        }

        func timings() -> AttemptTimings {
            if var timings = finalTimings, let transfer {
                timings.finished = EventLoop.readClock().since(transfer.created)
                return timings
            }
            var timings = AttemptTimings()
            guard let handle, let transfer else { return timings }
            // `loop.now` is the start of the turn, which may be earlier than the creation of the
            // transfer. So the clock is read again.
            let queued = startedAt.since(transfer.created)
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
                // If libcurl connected twice, it may report the end of the second name lookup and
                // of the first connect.
                if let name = timings.nameLookedUp, let connected = timings.connected {
                    timings.nameLookedUp = min(name, connected)
                }
            }
            if sendCount > 0 { timings.reusedConnection = connections == 0 }
            if head.hasBegun { timings.firstByte = moment(CURLINFO_STARTTRANSFER_TIME_T) }
            var headBytes = 0
            errand_get_long(handle, CURLINFO_REQUEST_SIZE, &headBytes)
            timings.bytesSent = Int64(headBytes) + (upload?.bytesSent ?? 0)
            timings.bytesReceived = body.bytesReceived
            var responseBytes = 0
            errand_get_long(handle, CURLINFO_HEADER_SIZE, &responseBytes)
            timings.headBytesReceived = Int64(responseBytes)
            return timings
        }
    }
#endif
