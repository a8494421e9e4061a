#if os(Linux)
    import CLibcurl
    import ErrandCore
    import HTTPTypes

    // What libcurl calls while it serves a handle. Here nothing may end: a callback gives up by its return value,
    // and the end follows when libcurl has let go.
    extension Exchange {
        /// True when the owner has cancelled: noticed here, no further byte reaches the receiver.
        private var isCancelled: Bool {
            guard let transfer, transfer.signals().contains(.cancel) else { return false }
            state.abort(.cancelled)
            return true
        }

        /// The head of the request is about to go out on a connection.
        fileprivate func requestStarts() -> Int32 {
            deadlines.connected(at: loop.now)
            loop.expectSweep(by: deadlines.first)
            guard sendings == 0 || mayGoAgain else {
                // libcurl found a kept connection dead and wants to send again what the server may have read.
                return give(up: refusalToRepeat)
            }
            sendings += 1
            guard admitsPeer() else {
                state.abort(.failed)
                return CURL_PREREQFUNC_ABORT
            }
            expectStall()
            if place?.isAhead == true {
                loop.passedGate(self, isNew: opensConnection, isShared: sharesConnection)
            }
            speaksHTTP2 = sharesConnection
            listenForLastWords()
            limitReads()
            expectGoAway()
            if mayReplay || repeatsRefusedOnly, place != nil, speaksHTTP2 { hasShared = true }
            return CURL_PREREQFUNC_OK
        }

        /// libcurl wants a socket.
        ///
        /// It asks a second time when it has found the request's connection dead and wants to send it again.
        fileprivate func opens(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
            guard sendings > 0 else { return loop.open(address, as: use) }
            isWornOut = true
            if !mayGoAgain {
                _ = give(up: refusalToRepeat)
            } else if hasShared, !hasBegunAgain {
                // Many have lost that connection, and each would open one of its own.
                isRejoining = true
            } else {
                return loop.open(address, as: use)
            }
            return -1
        }

        /// What goes over the socket: TLS may be a proxy's, too.
        private var use: SocketTable.Use {
            guard let request = transfer?.request, !request.isSecure else { return .secure }
            let isSecured =
                switch request.options.proxy {
                case .none: false
                case .environment: CurlLibrary.linked.environmentNamesProxy
                case .url(let url, _): url.lowercased().hasPrefix("https:")
                }
            if isSecured { return .secure }
            return request.options.httpVersion == .http2PriorKnowledge ? .shared : .plain
        }

        /// Whether an answer over this connection may be one of HTTP/2.
        var mayBeHTTP2: Bool {
            speaksHTTP2 || TLSLibrary.loaded == nil && transfer?.request.isSecure == true
        }

        var opensConnection: Bool {
            var connections = 0
            errand_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
            return connections > 0
        }

        private var sharesConnection: Bool {
            guard transfer?.request.options.httpVersion != .http2PriorKnowledge else { return true }
            guard let handle, let connection = errand_get_tls(handle) else { return false }
            return TLSLibrary.loaded?.speaksHTTP2(connection) ?? false
        }

        /// A line of a head, or of the trailers.
        fileprivate func receive(line: UnsafeRawBufferPointer) -> Int {
            deadlines.active(at: loop.now)
            if CurlLibrary.linked.mistakesFoldedFirstLines { watchFirstLine() }
            guard !beginsFolded else {
                _ = give(up: CurlFailure.badResponse(.beginsFolded))
                return 0
            }
            switch head.feed(line, cache: &workbench.fields) {
            case .more: return line.count
            case .interim(let head):
                guard !isCancelled, !state.isAborting else { return 0 }
                receiver?.didReceive(informational: responseHead(head))
                return isCancelled ? 0 : line.count
            case .final(let head): return receive(final: head) ? line.count : 0
            case .failed(let fault):
                _ = give(up: CurlFailure.badResponse(fault))
                return 0
            }
        }

        private func receive(final head: HeadParser.Head) -> Bool {
            guard !isCancelled, !state.isAborting, let transfer else { return false }
            if let fault = CurlFailure.wrongVersion(
                head.version, of: transfer.request, isPossible: mayBeHTTP2)
            {
                _ = give(up: fault)
                return false
            }
            if head.framing.isSuspicious {
                errand_set_long(handle, CURLOPT_FORBID_REUSE, 1)
                needsReset = true
                specialOptions = nil
            }
            isAnswered = isRepeatedByLibcurl(head.status.code, transfer.request)
            let hasBody =
                transfer.request.method != .head && head.status.code != 204
                && head.status.code != 304 && !isAnswered
            var fault: RequestError?
            if hasBody { fault = body.begin(head.framing) } else { body.beginNothing() }
            if hasBody, !head.framing.isChunked, head.framing.contentLength == nil { watchEnd() }
            isHTTP2 = head.version == .http2
            isRefused = head.status.code >= 300
            if isRefused { noteRefusal() }
            receiver?.didReceive(head: responseHead(head, hasBody: hasBody))
            if let fault { _ = give(up: fault) }
            return !isCancelled && !state.isAborting && !body.isWholeByCount && !isAnswered
        }

        /// Whether libcurl means to repeat the request by itself, with the same header, and to pass over the answer's body.
        ///
        /// It does so with what is refused by 417 before its body went out.
        private func isRepeatedByLibcurl(_ status: Int, _ request: TransportRequest) -> Bool {
            status == 417 && request.headers[.expect] != nil && upload?.isComplete == false
        }

        private func responseHead(_ head: HeadParser.Head, hasBody: Bool = false) -> ResponseHead {
            let isPlain = hasBody && !head.framing.isChunked && !body.isDecoding
            return ResponseHead(
                status: head.status, headers: head.fields, httpVersion: head.version,
                remoteAddress: handle.flatMap { workbench.peer.text(of: $0) },
                contentLength: isPlain ? head.framing.contentLength : nil)
        }

        /// Bytes of the body as they came over the wire, chunks joined.
        fileprivate func receive(bytes: UnsafeRawBufferPointer) -> Int {
            guard !isCancelled, !state.isAborting else { return Int(CURL_WRITEFUNC_ERROR) }
            if state.isPaused {
                isReceivingPaused = true
                return Int(CURL_WRITEFUNC_PAUSE)
            }
            deadlines.active(at: loop.now)
            guard head.isComplete else {
                return Int(give(up: CurlFailure.headCutOff)) * Int(CURL_WRITEFUNC_ERROR)
            }
            if isRefused { noteRefusal() }
            deliverBody(body.own(bytes))
            return state.isAborting || body.isWholeByCount ? Int(CURL_WRITEFUNC_ERROR) : bytes.count
        }

        /// Decodes bytes, or what an earlier break has left over, and hands them on.
        func deliverBody(_ bytes: UnsafeRawBufferPointer?) {
            guard let receiver, let transfer else { return }
            let fault = body.deliver(bytes, by: workbench.decoded) { bytes in
                switch receiver.didReceive(bytes: bytes) {
                case .more: break
                case .pause:
                    state.pause()
                    deadlines.suspend()
                case .stop: state.abort(.cancelled)
                }
                if transfer.signals().contains(.cancel) { state.abort(.cancelled) }
                return state.isLive
            }
            if let fault { _ = give(up: fault) }
        }

        /// libcurl wants bytes of the request's body.
        fileprivate func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard !isCancelled, !state.isAborting else { return Int(CURL_READFUNC_ABORT) }
            guard let fill = upload?.fill(buffer) else { return 0 }
            switch fill {
            case .bytes(let count):
                deadlines.active(at: loop.now)
                // A body that is sent again begins at 0, its progress does not.
                if let sent = upload?.bytesSent, sent > reportedBytes {
                    reportedBytes = sent
                    receiver?.didSend(bodyBytes: sent)
                }
                return count
            case .end: return 0
            case .wait:
                isSendingPaused = true
                upload?.whenReadable { [weak transfer] in transfer?.raise(.readable) }
                return Int(CURL_READFUNC_PAUSE)
            case .failed(let error):
                _ = give(up: error)
                return Int(CURL_READFUNC_ABORT)
            }
        }

        /// libcurl wants to begin again at the body's first byte.
        fileprivate func seek(to offset: Int64) -> Int32 {
            guard offset == 0, mayReplay || isUnprocessed, upload?.rewind() == true else {
                return CURL_SEEKFUNC_FAIL
            }
            return CURL_SEEKFUNC_OK
        }

        /// Notes the first reason to fail.
        ///
        /// Returns what aborts the request callback.
        private func give(up error: RequestError) -> Int32 {
            if failure == nil { failure = error }
            state.abort(.failed)
            return CURL_PREREQFUNC_ABORT
        }
    }

    // MARK: - The C side

    private func with<Result>(
        _ context: UnsafeMutableRawPointer?, else fallback: Result, _ body: (Exchange) -> Result
    ) -> Result {
        guard let context else { return fallback }
        return Unmanaged<Exchange>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
    }

    let onRequestStart: errand_request_callback = { context, _, _, _, _ in
        with(context, else: CURL_PREREQFUNC_ABORT) { $0.requestStarts() }
    }

    let onHeaderLine: errand_data_callback = { bytes, size, count, context in
        with(context, else: 0) {
            $0.receive(line: UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
    }

    let onBodyBytes: errand_data_callback = { bytes, size, count, context in
        with(context, else: 0) {
            $0.receive(bytes: UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
    }

    let onSend: errand_data_callback = { bytes, size, count, context in
        with(context, else: Int(CURL_READFUNC_ABORT)) {
            $0.send(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
        }
    }

    let onSeek: errand_seek_callback = { context, offset, origin in
        with(context, else: CURL_SEEKFUNC_FAIL) {
            origin == SEEK_SET ? $0.seek(to: Int64(offset)) : CURL_SEEKFUNC_FAIL
        }
    }

    let onOpen: errand_open_callback = { context, _, address in
        guard let address else { return -1 }
        return with(context, else: -1) { $0.opens(address) }
    }

    // Connections outlive the exchange that made them: the context of this one is the loop.
    let onClose: errand_close_callback = { context, socket in
        guard let context else { return -1 }
        return Unmanaged<EventLoop>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.close(socket)
        }
    }
#endif
