#if os(Linux)
    import CLibcurl
    import ErrandCore
    import HTTPTypes

    // A request as libcurl's options. What most requests leave alone is set once per handle; a request that sets
    // more leaves a mark, and the handle is reset before the next one.
    extension Exchange {
        /// Puts a request into the handle.
        func apply(_ request: TransportRequest) throws(RequestError) {
            try RequestCheck.checkMethod(request.method)
            var keepsOptions = specialOptions.map { $0 == request.options } ?? false
            readRules(of: request)
            if needsReset, !keepsOptions { try resetOptions() }
            if !applyBuffer(request) {
                renewHandle()
                try resetOptions()
                _ = applyBuffer(request)
                keepsOptions = false
            }
            if request.isSecure || !request.options.areUsual
                || CurlLibrary.linked.environmentNamesProxy
            {
                try shareSessions(with: request.host)
            }
            writeURL(request.url)
            try expect(errand_set_string(handle, CURLOPT_URL, url.bytes))
            try applyMethodAndBody(request)
            try expect(errand_set_pointer(handle, CURLOPT_HTTPHEADER, headers.chain()))
            let connect = request.timeouts.connect?.wholeMilliseconds ?? Int(Int32.max)
            try set(CURLOPT_CONNECTTIMEOUT_MS, connect)
            if !keepsOptions { try applyTransportOptions(request) }
            try applyVersion(request)
            try applyMultiplexing(request)
            applyRefusals(request)
        }

        /// Without TLS nothing is agreed upon: newer libcurl would take any connection that is there, also one with
        /// prior knowledge of HTTP/2.
        private func applyVersion(_ request: TransportRequest) throws(RequestError) {
            guard CurlLibrary.linked.hasHTTP2, request.options.httpVersion == .automatic,
                isHeldToHTTP11 == request.isSecure
            else { return }
            let version = request.isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
            try set(CURLOPT_HTTP_VERSION, version)
            isHeldToHTTP11 = !request.isSecure
        }

        private func resetOptions() throws(RequestError) {
            guard let handle else { throw CurlFailure.cannotBegin }
            curl_easy_reset(handle)
            try applyPermanentOptions()
            needsReset = false
            waitsForSharing = false
            repeatsRefusedOnly = false
            watchesFirstLine = false
            watchesGoAway = false
            specialOptions = nil
        }

        /// What libcurl reads into: taken and given back with every transfer.
        ///
        /// NB: of an HTTP/2 head that is larger than this, libcurl 7.88 mixes up the parts when several come over one
        /// connection, and it misses the end of a body that comes with it. So there is room for the largest head that it
        /// takes, 128 KB, and for what it decrypts at once, 32 KB; memory that nothing is written to costs nothing.
        ///
        /// False when the handle still has the buffer of an earlier transfer, which 7.88 does not take back while others
        /// use its connection, and does not change.
        private func applyBuffer(_ request: TransportRequest) -> Bool {
            let mayBeHTTP2 =
                Self.sharesConnections(request)
                || request.options.httpVersion == .http2PriorKnowledge
            var bytes = mayBeHTTP2 ? 160 << 10 : 32 << 10
            if let wanted = request.options.receiveBufferBytes {
                // The range that libcurl takes.
                bytes = min(max(wanted, mayBeHTTP2 ? bytes : 1 << 10), 10 << 20)
                hasOwnBuffer = true
            }
            guard bytes != bufferBytes else { return true }
            guard errand_set_long(handle, CURLOPT_BUFFERSIZE, bytes) == CURLE_OK else {
                return false
            }
            bufferBytes = bytes
            return true
        }

        private func applyPermanentOptions() throws(RequestError) {
            guard let handle else { throw CurlFailure.cannotBegin }
            let me = Unmanaged.passUnretained(self).toOpaque()
            let loop = Unmanaged.passUnretained(loop).toOpaque()
            for option in [
                CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA,
                CURLOPT_SEEKDATA, CURLOPT_PREREQDATA, CURLOPT_OPENSOCKETDATA,
                CURLOPT_DEBUGDATA,
            ] {
                try expect(errand_set_pointer(handle, option, me))
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
            try expect(errand_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
            try expect(errand_set_string(handle, CURLOPT_PROTOCOLS_STR, "http,https"))
            // A reset forgets the option but not its list, when a transfer was given up before it began.
            try expect(errand_set_pointer(handle, CURLOPT_RESOLVE, nil))
            try set(CURLOPT_NOSIGNAL, 1)
            try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
            try set(CURLOPT_PATH_AS_IS, 1)
            try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            bufferBytes = 0
            // Without it, giving up while a name is looked up would hold the loop until the resolver is done.
            try set(CURLOPT_QUICK_EXIT, 1)
            // A reset keeps the share but not the number of sessions in it, so it is set again. And at once: a handle
            // that has been used without a share forgets the memory of its last request when it gets one (7.88).
            sessionShare = nil
            try shareSessions(with: nil)
            if !self.loop.sessions.isEnabled { try set(CURLOPT_SSL_SESSIONID_CACHE, 0) }
            isHeldToHTTP11 = false
            if CurlLibrary.linked.hasHTTP2 {
                try set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
            }
            if CurlLibrary.linked.hasBundle {
                // libcurl keeps the parsed bundle for all connections, but not while a directory is set.
                try expect(errand_set_string(handle, CURLOPT_CAPATH, nil))
            }
            if CurlLibrary.linked.hasSecureProxies {
                try set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
                if CurlLibrary.linked.hasBundle {
                    try expect(errand_set_string(handle, CURLOPT_PROXY_CAPATH, nil))
                }
            }
            if !CurlLibrary.linked.environmentNamesProxy {
                try expect(errand_set_string(handle, CURLOPT_PROXY, ""))
            }
        }

        /// Resumes, and leaves behind, TLS sessions where the other handles do.
        private func shareSessions(with host: String?) throws(RequestError) {
            let share = loop.sessions.share(for: host)
            guard share != sessionShare else { return }
            try expect(errand_set_pointer(handle, CURLOPT_SHARE, share))
            sessionShare = share
        }

        /// Where it cannot be seen what a connection turns out to be, libcurl does the waiting; see ``StreamGate``.
        private func applyMultiplexing(_ request: TransportRequest) throws(RequestError) {
            let waits = Self.sharesConnections(request) && !Self.isGated(request)
            guard waits != waitsForSharing else { return }
            try set(CURLOPT_PIPEWAIT, waits ? 1 : 0)
            waitsForSharing = waits
        }

        /// Whether requests like this one wait for each other at the loop's gate.
        static func isGated(_ request: TransportRequest) -> Bool {
            sharesConnections(request)
                && (TLSLibrary.loaded != nil || request.options.httpVersion == .http2PriorKnowledge)
        }

        /// Whether several requests like this one may find themselves on one connection.
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
            if upload != nil, length != 0 {
                try set(CURLOPT_UPLOAD, 1)
                try expect(
                    errand_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(length ?? -1)))
            } else {
                try set(CURLOPT_HTTPGET, 1)
                if method == .head { try set(CURLOPT_NOBODY, 1) }
                // RFC 9110 §8.6: a method that expects a body says so when there is none.
                announcesNothing =
                    upload != nil || method == .post || method == .put || method == .patch
            }
            let isOwnName = upload == nil && (method == .get || method == .head)
            try setText(CURLOPT_CUSTOMREQUEST, isOwnName ? nil : method.rawValue)
            writeHeaders(request, announcesNothing: announcesNothing)
        }

        private func writeHeaders(_ request: TransportRequest, announcesNothing: Bool) {
            headers.removeAll()
            var hasAccept = false
            // libcurl writes it by itself, which is cheaper.
            var usualAccept: HTTPField?
            var hasExpect = false
            var contentType = request.body?.contentType
            var announcesCodings = request.options.decodesContent
            for field in request.headers {
                switch field.name.canonicalName {
                case "host", "content-length", "transfer-encoding": continue
                case "content-type": contentType = nil
                case "accept":
                    if field.withUnsafeBytesOfValue({ $0.elementsEqual("*/*".utf8) }) {
                        usualAccept = field
                        continue
                    }
                    hasAccept = true
                case "expect": hasExpect = true
                // A range is one of the encoded form (RFC 9110 §14.2): parts of it could not be decoded.
                case "accept-encoding", "range": announcesCodings = false
                default: break
                }
                headers.append(field)
            }
            if let contentType {
                headers.append(HTTPField(name: .contentType, value: contentType))
            }
            if announcesCodings, let line = Self.acceptEncoding { headers.append(line: line) }
            if announcesNothing { headers.append(line: "Content-Length: 0") }
            // What libcurl would add by itself: the request goes out as it was built.
            if hasAccept, let usualAccept { headers.append(usualAccept) }
            if !hasAccept, usualAccept == nil { headers.append(line: "Accept:") }
            if upload != nil, !hasExpect { headers.append(line: "Expect:") }
        }

        private static let acceptEncoding: String? =
            ContentCoding.announcement.isEmpty
            ? nil : "Accept-Encoding: " + ContentCoding.announcement

        private func writeURL(_ target: URI) {
            url.removeAll()
            url.append(target.scheme ?? "http")
            url.append("://")
            url.append(target.host ?? "")
            if let port = target.port {
                url.append(UInt8(ascii: ":"))
                url.append(String(port))
            }
            if target.path.isEmpty {
                url.append(UInt8(ascii: "/"))
            } else {
                url.append(target.path)
            }
            if let query = target.query {
                url.append(UInt8(ascii: "?"))
                url.append(query)
            }
            url.append(0)
        }

        // MARK: - Setting

        func set(_ option: CURLoption, _ value: Int) throws(RequestError) {
            try expect(errand_set_long(handle, option, value))
        }

        func setText(_ option: CURLoption, _ text: String?) throws(RequestError) {
            guard let text else { return try expect(errand_set_string(handle, option, nil)) }
            try expect(text.withCString { errand_set_string(handle, option, $0) })
        }

        /// Throws when libcurl does not take an option.
        func expect(_ code: CURLcode) throws(RequestError) {
            if code != CURLE_OK { throw CurlFailure.refused(code) }
        }
    }
#endif
