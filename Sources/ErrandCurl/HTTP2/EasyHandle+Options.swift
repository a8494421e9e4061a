#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import HTTPTypes

    // Translates a request into libcurl's options.
    //
    // Options that most requests leave alone are set once per handle. A request that sets more
    // options marks the handle, and it is reset before the next request.
    extension EasyHandle {
        /// Sets the options of a request.
        func apply(_ request: TransportRequest) throws(RequestError) {
            try request.method.check()
            try request.checkURL()
            let options = request.options
            var keepsOptions = applied.areInherited(by: options)
            trust = PeerTrust(options, host: request.host ?? "")
            if applied.needsReset, !keepsOptions { try resetOptions() }
            if !applyBuffer(request) {
                renewHandle()
                try resetOptions()
                _ = applyBuffer(request)
                keepsOptions = false
            }
            if request.isSecure || !options.hasDefaults
                || CurlLibrary.linked.environmentNamesProxy
            {
                try shareSessions(with: request.host)
            }
            try applyURL(request.url)
            try applyMethodAndBody(request)
            try expect(errand_set_pointer(handle, CURLOPT_HTTPHEADER, headers.chain()))
            let connect = request.timeouts.connect?.wholeMilliseconds ?? Int(Int32.max)
            try set(CURLOPT_CONNECTTIMEOUT_MS, connect)
            if !keepsOptions { try applyTransportOptions(request) }
            if CurlLibrary.linked.environmentNamesProxy, let handle {
                try ConnectOptions(handle).setEnvironmentBypass(options.proxy, url: request.url)
            }
            try applyVersion(request)
            try applyMultiplexing(request)
            applyRepeatPolicy(request)
        }

        /// Limits plain requests to HTTP/1.1.
        ///
        /// Without TLS no protocol is negotiated, and newer versions of libcurl would use any
        /// existing connection, including one that uses HTTP/2 with prior knowledge.
        private func applyVersion(_ request: TransportRequest) throws(RequestError) {
            guard CurlLibrary.linked.hasHTTP2, request.options.httpVersion == .automatic,
                applied.isLimitedToHTTP11 == request.isSecure
            else { return }
            let version = request.isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
            try set(CURLOPT_HTTP_VERSION, version)
            applied.isLimitedToHTTP11 = !request.isSecure
        }

        private func resetOptions() throws(RequestError) {
            guard let handle else { throw CurlFailure.cannotStart }
            curl_easy_reset(handle)
            applied.wereReset()
            debugOutput = DebugOutput()
            trailers = TrailerState()
            try applyPermanentOptions()
            applied.completedReset()
        }

        /// Sets the size of the receive buffer, which libcurl allocates for each transfer.
        ///
        /// Returns false if the handle still has the buffer of an earlier transfer: libcurl 7.88
        /// does not free or resize it while other transfers use its connection.
        private func applyBuffer(_ request: TransportRequest) -> Bool {
            let mayBeHTTP2 =
                Self.sharesConnections(request)
                || request.options.httpVersion == .http2PriorKnowledge
            let custom = request.options.receiveBufferBytes
            guard let bytes = applied.bufferToSet(custom: custom, mayBeHTTP2: mayBeHTTP2) else {
                return true
            }
            guard errand_set_long(handle, CURLOPT_BUFFERSIZE, bytes) == CURLE_OK else {
                return false
            }
            applied.changedBuffer(to: bytes)
            return true
        }

        private func applyPermanentOptions() throws(RequestError) {
            guard let handle else { throw CurlFailure.cannotStart }
            let context = Unmanaged.passUnretained(self).toOpaque()
            let loop = Unmanaged.passUnretained(loop).toOpaque()
            for option in [
                CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA,
                CURLOPT_SEEKDATA, CURLOPT_PREREQDATA, CURLOPT_OPENSOCKETDATA,
                CURLOPT_DEBUGDATA, CURLOPT_TRAILERDATA,
            ] {
                try expect(errand_set_pointer(handle, option, context))
            }
            try expect(errand_set_pointer(handle, CURLOPT_CLOSESOCKETDATA, loop))
            try expect(errand_set_data_callback(handle, CURLOPT_HEADERFUNCTION, onHeaderLine))
            try expect(errand_set_data_callback(handle, CURLOPT_WRITEFUNCTION, onBodyBytes))
            try expect(errand_set_data_callback(handle, CURLOPT_READFUNCTION, onSend))
            try expect(errand_set_seek_callback(handle, onSeek))
            try expect(errand_set_request_callback(handle, onRequestStart))
            try expect(errand_set_open_callback(handle, onOpen))
            try expect(errand_set_close_callback(handle, onClose))
            try expect(errand_set_debug_callback(handle, onDebug))
            if TLSLibrary.loaded != nil {
                try expect(errand_set_pointer(handle, CURLOPT_SSL_CTX_DATA, context))
                try expect(errand_set_tls_context_callback(handle, onHandshake))
            }
            try expect(errand_set_pointer(handle, CURLOPT_ERRORBUFFER, memory.errorText))
            try ConnectOptions(handle).setDefaults()
            // If a transfer was abandoned before it started, a reset clears this option but not its
            // list.
            try expect(errand_set_pointer(handle, CURLOPT_RESOLVE, nil))
            try set(CURLOPT_PATH_AS_IS, 1)
            try set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
            // The share is set at once, because libcurl 7.88 forgets the state of its last request
            // if a used handle gets its first share.
            try shareSessions(with: nil)
            if !self.loop.sessions.isEnabled { try set(CURLOPT_SSL_SESSIONID_CACHE, 0) }
            if CurlLibrary.linked.hasHTTP2 {
                try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
            }
        }

        /// Shares TLS sessions with the other handles of the loop.
        private func shareSessions(with host: String?) throws(RequestError) {
            let share = loop.sessions.share(for: host)
            guard share != applied.sessionShare else { return }
            try expect(errand_set_pointer(handle, CURLOPT_SHARE, share))
            applied.sessionShare = share
        }

        /// Lets libcurl wait for shared connections if the negotiated protocol is not visible; see
        /// ``HTTP2Admission``.
        private func applyMultiplexing(_ request: TransportRequest) throws(RequestError) {
            let waits = Self.sharesConnections(request) && !Self.needsAdmission(request)
            guard waits != applied.waitsForSharing else { return }
            try set(CURLOPT_PIPEWAIT, waits ? 1 : 0)
            applied.waitsForSharing = waits
        }

        /// Whether a request waits for the loop's admission control.
        static func needsAdmission(_ request: TransportRequest) -> Bool {
            sharesConnections(request)
                && (TLSLibrary.loaded != nil || request.options.httpVersion == .http2PriorKnowledge)
        }

        /// Whether a request may share its connection with other requests.
        static func sharesConnections(_ request: TransportRequest) -> Bool {
            switch request.options.httpVersion {
            case .automatic, .http2: request.isSecure && CurlLibrary.linked.hasHTTP2
            case .http11: false
            case .http2PriorKnowledge: CurlLibrary.linked.reusesPriorKnowledge
            }
        }

        // MARK: - Method, headers, body

        private func applyMethodAndBody(_ request: TransportRequest) throws(RequestError) {
            let method = request.method
            let length = upload?.length
            var announcesNothing = false
            try applyTrailers(of: request)
            let hasBody = upload != nil && (length != 0 || trailers.areSent)
            if hasBody {
                try set(CURLOPT_UPLOAD, 1)
                // Without a length libcurl uses the chunked coding, which trailers need.
                let announced = trailers.areSent ? -1 : length ?? -1
                try expect(
                    errand_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(announced)))
            } else {
                try set(CURLOPT_HTTPGET, 1)
                if method == .head { try set(CURLOPT_NOBODY, 1) }
                // A method that expects a body announces an empty one (RFC 9110 §8.6).
                announcesNothing =
                    upload != nil || method == .post || method == .put || method == .patch
            }
            let isOwnName = upload == nil && (method == .get || method == .head)
            try setText(CURLOPT_CUSTOMREQUEST, isOwnName ? nil : method.rawValue)
            try writeHeaders(request, hasBody: hasBody, announcesNothing: announcesNothing)
        }

        private func writeHeaders(
            _ request: TransportRequest, hasBody: Bool, announcesNothing: Bool
        ) throws(RequestError) {
            headers.removeAll()
            var hasAccept = false
            var hasUsualAccept = false
            var hasExpect = false
            var contentType = request.body?.contentType
            var announcesCodings = request.options.decodesContent
            for field in request.headers {
                let name = field.name.canonicalName
                guard Self.mayBeSpecial(name) else {
                    headers.append(field)
                    continue
                }
                switch name {
                case "host", "content-length", "transfer-encoding": continue
                case "trailer" where trailers.areSent: continue
                case "content-type": contentType = nil
                // libcurl writes `Accept: */*` by itself, which is cheaper.
                case "accept" where Self.isUsualAccept(field):
                    hasUsualAccept = true
                    continue
                case "accept": hasAccept = true
                // A request without a body must not have it (RFC 9110 §10.1.1).
                case "expect" where !hasBody && RequestWriter.isContinue(field): continue
                case "expect": hasExpect = true
                case "proxy-authorization": throw TransportRequest.hasProxyAuthorization
                // A range selects bytes of the encoded form (RFC 9110 §14.2), and a part of it
                // could not be decoded.
                case "accept-encoding", "range": announcesCodings = false
                default: break
                }
                headers.append(field)
            }
            if let contentType {
                headers.append(HTTPField(name: .contentType, value: contentType))
            }
            if announcesCodings, let line = RequestWriter.acceptEncoding {
                headers.append(line: line)
            }
            if trailers.areSent, let names = request.body?.trailerNames {
                headers.append(line: RequestWriter.announcement(of: names))
            }
            if announcesNothing { headers.append(line: "Content-Length: 0") }
            // Suppresses headers that libcurl would add to the request.
            if hasAccept, hasUsualAccept { headers.append(line: "Accept: */*") }
            if !hasAccept, !hasUsualAccept { headers.append(line: "Accept:") }
            if upload != nil, !hasExpect { headers.append(line: "Expect:") }
        }

        private static func isUsualAccept(_ field: HTTPField) -> Bool {
            field.withUnsafeBytesOfValue { value in
                value.count == 3 && value[0] == UInt8(ascii: "*") && value[1] == UInt8(ascii: "/")
                    && value[2] == UInt8(ascii: "*")
            }
        }

        /// Whether the transport treats a header with a name of this length differently.
        ///
        /// Comparing lengths first saves most comparisons of text.
        private static func mayBeSpecial(_ name: String) -> Bool {
            switch name.utf8.count {
            case 4...7, 12, 14, 15, 17, 19: true
            default: false
            }
        }

        /// Sets the URL as text and in libcurl's parsed form.
        ///
        /// libcurl copies the parsed form, which costs less than parsing the text and writing it
        /// again for each transfer. If it cannot parse the text, the transfer fails with its error
        /// for the text: newer versions use the option that was set last, older ones the parsed
        /// form if there is one.
        private func applyURL(_ target: HTTPURL) throws(RequestError) {
            guard !applied.hasURL(target) else { return }
            applied.url = nil
            writeURL(target)
            let parsed = memory.parsedURL.parse(url)
            if parsed == nil { try expect(errand_set_pointer(handle, CURLOPT_CURLU, nil)) }
            try expect(errand_set_string(handle, CURLOPT_URL, url.bytes))
            if let parsed { try expect(errand_set_pointer(handle, CURLOPT_CURLU, parsed)) }
            applied.url = target
        }

        private func writeURL(_ target: HTTPURL) {
            url.removeAll()
            url.append(target.scheme ?? "http")
            url.append("://")
            url.append(target.host ?? "")
            if let port = target.port {
                url.append(UInt8(ascii: ":"))
                url.append(String(port))
            }
            url.appendTarget(of: target)
            url.append(0)
        }

        // MARK: - Special options

        /// Sets version, address, proxy and trust options that differ from the defaults.
        func applyTransportOptions(_ request: TransportRequest) throws(RequestError) {
            let options = request.options
            guard !options.hasDefaults else { return }
            switch options.httpVersion {
            case .automatic: break
            case .http11: try special(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
            case .http2: try special(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
            case .http2PriorKnowledge:
                try special(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
                if !CurlLibrary.linked.reusesPriorKnowledge {
                    try special(CURLOPT_FRESH_CONNECT, 1)
                    try special(CURLOPT_FORBID_REUSE, 1)
                }
            }
            guard let handle else { throw CurlFailure.cannotStart }
            var connection = ConnectOptions(handle)
            defer { if connection.isMarked { applied.addedSpecial() } }
            try connection.set(options, url: request.url, trust: trust, lists: memory.lists)
            // The next request probably uses the same options, unless they depend on the URL.
            let dependsOnURL =
                !options.addressOverrides.isEmpty || options.security?.pins.isEmpty == false
                || options.sharedProxySecurity != nil || options.proxy.hasBypassedPorts
            if !dependsOnURL { applied.completedSpecial(options, isMarked: connection.isMarked) }
        }

        func special(_ option: CURLoption, _ value: Int) throws(RequestError) {
            applied.addedSpecial()
            try set(option, value)
        }

        // MARK: - Setting options

        func set(_ option: CURLoption, _ value: Int) throws(RequestError) {
            try expect(errand_set_long(handle, option, value))
        }

        func setText(_ option: CURLoption, _ text: String?) throws(RequestError) {
            guard let text else { return try expect(errand_set_string(handle, option, nil)) }
            try expect(text.withCString { errand_set_string(handle, option, $0) })
        }

        /// Throws if libcurl does not accept an option.
        func expect(_ code: CURLcode) throws(RequestError) {
            if code != CURLE_OK { throw CurlFailure.optionRejected(code) }
        }
    }
#endif
