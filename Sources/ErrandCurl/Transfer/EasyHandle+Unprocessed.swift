#if os(Linux)
    import CLibcurl
    import ErrandTransport

    // A server can state that it has not processed a request: with the stream error REFUSED_STREAM,
    // or with a GOAWAY whose last stream is lower. Then any request may be repeated (RFC 9113
    // §8.7), and libcurl does so. But libcurl also repeats a request whose kept connection was
    // dead, which is safe only for requests that may be replayed, and it does not report which
    // reason applies. For other requests, `CURL_RTSPREQ_RECEIVE` is set: it has no effect in HTTP
    // except that libcurl repeats no request after a dead connection. libcurl then repeats only
    // refused requests, and requests for which the server requires HTTP/1.1; for the latter it
    // writes an error text.
    //
    // If a GOAWAY leaves no stream on the connection, libcurl 7.88 does not process the streams'
    // results. But it reports the frame, and the number of each stream, to its debug function.
    extension EasyHandle {
        /// The maximum number of times that a request that may not be replayed is sent.
        private static let maximumSendCount = 3

        /// Makes libcurl repeat a request that may not be replayed only if the server has not
        /// processed it.
        func applyRepeatPolicy(_ request: TransportRequest) {
            let wants =
                !mayReplay
                && (Self.sharesConnections(request)
                    || request.options.httpVersion == .http2PriorKnowledge)
            guard wants != repeatsUnprocessedOnly else { return }
            let kind = Int(wants ? CURL_RTSPREQ_RECEIVE : CURL_RTSPREQ_OPTIONS)
            // A libcurl without RTSP rejects the option. Then a repetition does not show that the
            // request was not processed.
            let code = errand_set_long(handle, CURLOPT_RTSP_REQUEST, kind)
            if code == CURLE_OK { repeatsUnprocessedOnly = wants }
        }

        /// Whether libcurl is about to repeat the request because the server has not processed it.
        var isUnprocessed: Bool {
            repeatsUnprocessedOnly && speaksHTTP2 && sendCount > 0 && !head.hasBegun
                && (errorText[0] == 0 || isBeyondGoAway)
        }

        /// Whether the request may be sent again.
        var maySendAgain: Bool { mayReplay || isUnprocessed && sendCount < Self.maximumSendCount }

        /// The reason why the request is not sent again; `nil` if it is.
        var repetitionError: RequestError? {
            guard mustUseHTTP11, let request = transfer?.request else {
                return maySendAgain ? nil : replayError
            }
            if head.hasBegun {
                return transferError(after: CURLE_HTTP2_STREAM)
            }
            let isAllowed = mayReplay && request.options.httpVersion == .automatic
            return isAllowed ? nil : CurlFailure.needsHTTP11(request)
        }

        /// Whether libcurl repeats the request over HTTP/1.1, because the server requires that with
        /// the stream error HTTP_1_1_REQUIRED (RFC 9113 §7).
        var mustUseHTTP11: Bool {
            guard speaksHTTP2, errorText[0] != 0 else { return false }
            let text = String(cString: errorText)
            // On a new connection, libcurl replaces the first text by the second one, which it
            // writes for no other repetition.
            return CurlFailure.http2Error(in: text) == "HTTP_1_1_REQUIRED"
                || text.hasPrefix("Empty reply")
        }

        /// The error for a request that is not sent again.
        var replayError: RequestError {
            isUnprocessed ? CurlFailure.unprocessed : CurlFailure.lostBeforeResponse
        }

        /// Starts to observe the stream and GOAWAY frames, before the request head is sent.
        func observeGoAway() {
            stream = 0
            lastStream = nil
            if let connection, opensConnection { loop.lastStreams[connection] = nil }
            guard repeatsUnprocessedOnly, speaksHTTP2, !watchesGoAway else { return }
            watchesGoAway = true
            applyVerbosity()
        }

        /// Parses a debug text of libcurl.
        func parse(debugText text: UnsafeRawBufferPointer) {
            guard watchesGoAway, let event = StreamErrorText(text) else { return }
            switch event {
            case .opened(let number): stream = number
            case .goAway(let last):
                lastStream = last
                // Most entries belong to connections that no request uses any more.
                if loop.lastStreams.count > 64 { loop.lastStreams.removeAll() }
                if let connection { loop.lastStreams[connection] = last }
            }
        }

        /// Whether the server closed the connection without processing this request.
        var isBeyondGoAway: Bool {
            guard repeatsUnprocessedOnly, watchesGoAway, stream > 0, !head.hasBegun,
                let last = lastStream ?? connection.flatMap({ loop.lastStreams[$0] })
            else { return false }
            return stream > last
        }

        /// Marks the handle for replacement after an HTTP/2 stream error.
        ///
        /// If the stream was refused, libcurl may keep this fact in its handle, and repeat the next
        /// request of the handle because of it.
        func replaceAfterStreamError() { if speaksHTTP2 { needsReplacement = true } }
    }
#endif
