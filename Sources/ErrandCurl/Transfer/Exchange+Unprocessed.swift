#if os(Linux)
    import CLibcurl
    import ErrandCore

    // A server may say that it has not processed a request, by the stream error REFUSED_STREAM or by a GOAWAY with the number
    // of the last stream that it has looked at; then any request may be sent again (RFC 9113 §8.7). libcurl does so by itself
    // and does not say why: as a rule it is that a kept connection has died. But to whoever is said to receive by RTSP it
    // does not apply that rule, which means nothing else where the protocol is HTTP. What it still sends again is what was
    // refused, and what the server wants over HTTP/1.1, of which it leaves a text.
    //
    // Where a GOAWAY leaves nobody on the connection, libcurl 7.88 does not look at what became of the streams. But it tells its
    // debug function of the frame, and of the number of each stream.
    extension Exchange {
        /// How many times a request goes out that may not be sent again otherwise.
        private static let mostSendings = 3

        /// Makes sure that libcurl repeats what may not be replayed only where the server has not processed it.
        func applyRefusals(_ request: TransportRequest) {
            let wants =
                !mayReplay
                && (Self.sharesConnections(request)
                    || request.options.httpVersion == .http2PriorKnowledge)
            guard wants != repeatsRefusedOnly else { return }
            let kind = Int(wants ? CURL_RTSPREQ_RECEIVE : CURL_RTSPREQ_OPTIONS)
            // A libcurl without RTSP does not know the option: then nothing is ever proved.
            let code = errand_set_long(handle, CURLOPT_RTSP_REQUEST, kind)
            if code == CURLE_OK { repeatsRefusedOnly = wants }
        }

        /// Whether libcurl, which is about to repeat the request, does so because the server has not processed it.
        var isUnprocessed: Bool {
            repeatsRefusedOnly && speaksHTTP2 && sendings > 0 && !head.hasBegun
                && (errorText[0] == 0 || isBeyondGoAway)
        }

        /// Whether it may go out once more.
        var mayGoAgain: Bool { mayReplay || isUnprocessed && sendings < Self.mostSendings }

        /// Why it does not go out once more.
        var refusalToRepeat: RequestError {
            isUnprocessed ? CurlFailure.unprocessed : CurlFailure.lostBeforeAnswer
        }

        /// The request's head is about to go out; what is said of its stream is wanted.
        func expectGoAway() {
            stream = 0
            lastStream = nil
            connection = handle.flatMap { errand_get_tls($0) }
            if let connection, opensConnection { loop.lastStreams[connection] = nil }
            guard repeatsRefusedOnly, speaksHTTP2, !watchesGoAway else { return }
            watchesGoAway = true
            applyVerbosity()
        }

        /// What libcurl says for people.
        func hear(_ text: UnsafeRawBufferPointer) {
            guard watchesGoAway, let remark = StreamRemark(text) else { return }
            switch remark {
            case .opened(let number): stream = number
            case .goAway(let last):
                lastStream = last
                // Most connections that have gone away leave nobody who asks.
                if loop.lastStreams.count > 64 { loop.lastStreams.removeAll() }
                if let connection { loop.lastStreams[connection] = last }
            }
        }

        /// Whether the server has gone away without looking at this request.
        var isBeyondGoAway: Bool {
            guard repeatsRefusedOnly, watchesGoAway, stream > 0, !head.hasBegun,
                let last = lastStream ?? connection.flatMap({ loop.lastStreams[$0] })
            else { return false }
            return stream > last
        }

        /// An HTTP/2 stream has not come to a good end.
        ///
        /// If it was refused, libcurl may keep the mark of that with the handle, and would repeat the next request for it.
        func forgetRefusal() { if speaksHTTP2 { isWornOut = true } }
    }
#endif
