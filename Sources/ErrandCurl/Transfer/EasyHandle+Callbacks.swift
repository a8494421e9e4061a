#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import Glibc
    import HTTPTypes

    // libcurl's callbacks for an easy handle.
    //
    // No transfer may end inside a callback. A callback aborts by its return value, and the end
    // follows after libcurl has finished with the handle.
    extension EasyHandle {
        /// Whether the caller has cancelled the transfer.
        ///
        /// If so, aborts the transfer, so that no further byte reaches the receiver.
        private var isCancelled: Bool {
            guard let transfer, transfer.signals().contains(.cancel) else { return false }
            state.abort(.cancelled)
            return true
        }

        /// Called before the request head is sent on a connection with these ports.
        fileprivate func requestWillStart(from localPort: Int32, to remotePort: Int32) -> Int32 {
            deadlines.connected(at: loop.now)
            loop.scheduleSweep(by: deadlines.first)
            // libcurl may have found a kept connection dead, and want to repeat a request that the
            // server may have read.
            if sendCount > 0, let error = repetitionError { return abort(with: error) }
            if preventRepetitionOfTrailers() { return CURL_PREREQFUNC_ABORT }
            connection = handle.flatMap { errand_get_tls($0) }
            guard usesRequiredProtocol else {
                if admissionSlot?.isProbe == true {
                    loop.connectionFound(self, isNew: opensConnection, isShared: false)
                }
                return abort(with: CurlFailure.noHTTP2(wasSent: sendCount > 0))
            }
            sendCount += 1
            guard matchesPins() else {
                state.abort(.failed)
                return CURL_PREREQFUNC_ABORT
            }
            speaksHTTP2 = sharesConnection
            let newSocket = newSocket(from: localPort, to: remotePort)
            let socket = newSocket ?? loop.sockets.socket(from: localPort, to: remotePort)
            if newSocket == nil, hasUnsolicitedData(on: socket) { return abandonConnection() }
            scheduleUploadCheck()
            if admissionSlot?.isProbe == true {
                loop.connectionFound(self, isNew: opensConnection, isShared: speaksHTTP2)
            }
            if let connection { peer = PeerObserver.of(connection) }
            awaitEarlyResponse(on: socket)
            limitReads()
            collectWrites(on: socket)
            observeGoAway()
            if mayReplay || repeatsUnprocessedOnly, admissionSlot != nil, speaksHTTP2 {
                usedSharedConnection = true
            }
            return CURL_PREREQFUNC_OK
        }

        /// Called when libcurl needs a socket.
        ///
        /// libcurl needs a second one if the request's connection was dead and it wants to repeat
        /// the request.
        fileprivate func openRequestedSocket(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
            guard sendCount > 0 else { return openSocket(address) }
            needsReplacement = true
            if let error = repetitionError {
                _ = abort(with: error)
            } else if preventRepetitionOfTrailers() {
                return -1
            } else if usedSharedConnection, !hasReplayed, !mustUseHTTP11 {
                // Other requests may have lost that connection too, and each would open a new one.
                needsReadmission = true
            } else {
                return openSocket(address)
            }
            return -1
        }

        private func openSocket(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
            let socket = loop.open(address, as: use)
            // Another address may still work; the end of the transfer decides which error this is.
            if socket < 0, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) {
                lacksResources = true
            }
            if socket >= 0 { openedSockets.append(socket) }
            nextHandshakePort = errand_port(address)
            return socket
        }

        /// Whether the connection uses HTTP/2 if the request requires it.
        ///
        /// This is the last check before the server receives the request.
        private var usesRequiredProtocol: Bool {
            guard transfer?.request.options.httpVersion == .http2,
                let library = TLSLibrary.loaded, let connection
            else { return true }
            return library.speaksHTTP2(connection)
        }

        /// The protocol on the socket, which uses TLS if the server or the proxy does.
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

        /// Whether a response on this connection may use HTTP/2.
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
            guard let connection else { return false }
            return TLSLibrary.loaded?.speaksHTTP2(connection) ?? false
        }

        /// Receives a line of a head or of the trailers.
        fileprivate func receive(line: UnsafeRawBufferPointer) -> Int {
            deadlines.active(at: loop.now)
            if CurlLibrary.linked.mishandlesFoldedFirstLines { watchFirstLine() }
            guard !beginsFolded else {
                _ = abort(with: CurlFailure.badResponse(.beginsFolded))
                return 0
            }
            switch head.feed(line, cache: &scratch.fields) {
            case .more: return line.count
            case .interim(let head):
                guard !isCancelled, !state.isAborting else { return 0 }
                receiver?.didReceive(informational: responseHead(head))
                return isCancelled ? 0 : line.count
            case .final(let head): return receive(final: head) ? line.count : 0
            case .failed(let fault):
                _ = abort(with: CurlFailure.badResponse(fault))
                return 0
            }
        }

        private func receive(final head: HeadParser.Head) -> Bool {
            guard !isCancelled, !state.isAborting, let transfer else { return false }
            if let fault = CurlFailure.wrongVersion(
                head.version, of: transfer.request, isPossible: mayBeHTTP2)
            {
                _ = abort(with: fault)
                return false
            }
            ignoresLibcurlRepeat = isRepeatedByLibcurl(head.status.code, transfer.request)
            let hasBody =
                transfer.request.method != .head && head.status.code != 204
                && head.status.code != 304 && !ignoresLibcurlRepeat
            var fault: RequestError?
            if hasBody { fault = body.begin(head.framing) } else { body.beginEmpty() }
            stopAwaitingResponse()
            if hasBody, !head.framing.isChunked, head.framing.contentLength == nil {
                observeConnectionEnd()
            }
            isHTTP2 = head.version == .http2
            hasRefusalStatus = head.status.code >= 300
            if hasRefusalStatus { handleRefusal() }
            receiver?.didReceive(head: responseHead(head, hasBody: hasBody))
            if let fault { _ = abort(with: fault) }
            return !isCancelled && !state.isAborting && !body.isCompleteByLength
                && !ignoresLibcurlRepeat
        }

        /// Whether libcurl will repeat the request with the same headers and discard the response
        /// body.
        ///
        /// It does this for a 417 response that arrives before the request body was sent.
        private func isRepeatedByLibcurl(_ status: Int, _ request: TransportRequest) -> Bool {
            status == 417 && request.headers[.expect] != nil && upload?.isComplete == false
        }

        private func responseHead(_ head: HeadParser.Head, hasBody: Bool = false) -> ResponseHead {
            let isPlain = hasBody && !head.framing.isChunked && !body.isDecoding
            return ResponseHead(
                status: head.status, headers: head.fields, httpVersion: head.version,
                remoteAddress: handle.flatMap { scratch.peer.text(of: $0) },
                contentLength: isPlain ? head.framing.contentLength : nil)
        }

        /// Receives bytes of the body, without chunk framing and before content decoding.
        fileprivate func receive(bytes: UnsafeRawBufferPointer) -> Int {
            guard !isCancelled, !state.isAborting else { return Int(CURL_WRITEFUNC_ERROR) }
            if state.isPaused {
                isReceivingPaused = true
                return Int(CURL_WRITEFUNC_PAUSE)
            }
            deadlines.active(at: loop.now)
            guard head.isComplete else {
                return Int(abort(with: CurlFailure.truncatedHead)) * Int(CURL_WRITEFUNC_ERROR)
            }
            if hasRefusalStatus { handleRefusal() }
            deliverBody(body.bodyPart(of: bytes))
            return state.isAborting || body.isCompleteByLength
                ? Int(CURL_WRITEFUNC_ERROR) : bytes.count
        }

        /// Decodes bytes, or those that remained from an earlier pause, and delivers them.
        func deliverBody(_ bytes: UnsafeRawBufferPointer?) {
            guard let receiver, let transfer else { return }
            let fault = body.deliver(bytes, by: scratch.decoded) { bytes in
                switch receiver.didReceive(bytes: bytes) {
                case .more: break
                case .pause:
                    state.pause()
                    deadlines.suspend()
                case .stop: state.abort(.cancelled)
                }
                if transfer.signals().contains(.cancel) { state.abort(.cancelled) }
                return state.mayCallReceiver
            }
            if let fault { _ = abort(with: fault) }
        }

        /// Called when libcurl needs bytes of the request body.
        fileprivate func send(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard !isCancelled, !state.isAborting else { return Int(CURL_READFUNC_ABORT) }
            guard let fill = upload?.fill(buffer) else { return 0 }
            switch fill {
            case .bytes(let count):
                deadlines.active(at: loop.now)
                // A repeated body starts at 0, but the reported progress never decreases.
                if let sent = upload?.bytesSent, sent > reportedBytes {
                    reportedBytes = sent
                    receiver?.didSend(bodyBytes: sent)
                }
                return count
            case .end:
                hasBegunTrailers = sendsTrailers
                return 0
            case .wait:
                isSendingPaused = true
                upload?.whenReadable { [weak transfer] in transfer?.raise(.readable) }
                return Int(CURL_READFUNC_PAUSE)
            case .failed(let error):
                _ = abort(with: error)
                return Int(CURL_READFUNC_ABORT)
            }
        }

        /// Called when libcurl wants to send the request body again from its start.
        fileprivate func seek(to offset: Int64) -> Int32 {
            guard offset == 0, mayReplay || isUnprocessed, upload?.rewind() == true else {
                return CURL_SEEKFUNC_FAIL
            }
            return CURL_SEEKFUNC_OK
        }

        /// Aborts the transfer with an error; the first error is kept.
        ///
        /// Returns the value that ``requestWillStart()`` returns to abort.
        func abort(with error: RequestError) -> Int32 {
            if failure == nil { failure = error }
            state.abort(.failed)
            return CURL_PREREQFUNC_ABORT
        }
    }

    // MARK: - C callbacks

    private func with<Result>(
        _ context: UnsafeMutableRawPointer?, else fallback: Result, _ body: (EasyHandle) -> Result
    ) -> Result {
        guard let context else { return fallback }
        return Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
    }

    let onRequestStart: errand_request_callback = { context, _, _, remotePort, localPort in
        with(context, else: CURL_PREREQFUNC_ABORT) {
            $0.requestWillStart(from: localPort, to: remotePort)
        }
    }

    let onHandshake: errand_tls_context_callback = { _, tls, context in
        guard let tls else { return CURLE_SSL_CONNECT_ERROR }
        return with(context, else: CURLE_ABORTED_BY_CALLBACK) {
            $0.handshakeWillStart(tls) ? CURLE_OK : CURLE_OUT_OF_MEMORY
        }
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
        return with(context, else: -1) { $0.openRequestedSocket(address) }
    }

    // A connection may outlive its easy handle, so the context of this callback is the loop.
    let onClose: errand_close_callback = { context, socket in
        guard let context else { return -1 }
        return Unmanaged<EventLoop>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.close(socket)
        }
    }
#endif
