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
            if replay.wasSent, let refusal = replay.refusal(of: repetition) {
                return abort(with: error(for: refusal))
            }
            if preventRepetitionOfTrailers() { return CURL_PREREQFUNC_ABORT }
            let ports = ConnectionUse.Ports(local: localPort, remote: remotePort)
            connection.chose(handle.flatMap { errand_get_tls($0) })
            guard usesRequiredProtocol else {
                if admission.isProbe {
                    loop.connectionFound(self, isNew: opensConnection, isShared: false)
                }
                return abort(with: CurlFailure.noHTTP2(wasSent: replay.wasSent))
            }
            replay.willSend()
            connection.uses(ports)
            guard matchesPins() else {
                state.abort(.failed)
                return CURL_PREREQFUNC_ABORT
            }
            connection.willSend(speaksHTTP2: sharesConnection)
            let isShared = connection.speaksHTTP2
            let newSocket = newSocket(from: localPort, to: remotePort)
            let socket = newSocket ?? loop.sockets.socket(from: localPort, to: remotePort)
            if newSocket == nil, hasUnsolicitedData(on: socket) { return abandonConnection() }
            scheduleUploadCheck()
            if admission.isProbe {
                loop.connectionFound(self, isNew: opensConnection, isShared: isShared)
            }
            hookConnection(on: socket)
            observeGoAway()
            if isShared, admission.slot != nil {
                replay.sharesConnection(repeatsUnprocessed: applied.repeatsUnprocessedOnly)
            }
            noteConnection(on: socket)
            return CURL_PREREQFUNC_OK
        }

        /// Called when libcurl needs a socket.
        ///
        /// libcurl needs a second one if the request's connection was dead and it wants to repeat
        /// the request.
        fileprivate func openRequestedSocket(_ address: UnsafePointer<curl_sockaddr>) -> Int32 {
            guard replay.wasSent else { return openSocket(address) }
            applied.taint()
            let action = replay.socketAction(repetition)
            if case .fail(let refusal) = action {
                _ = abort(with: error(for: refusal))
                return -1
            }
            if preventRepetitionOfTrailers() { return -1 }
            switch action {
            case .open: return openSocket(address)
            case .fail, .readmit: break
            }
            return -1
        }

        /// Receives a line of a head or of the trailers.
        fileprivate func receive(line: UnsafeRawBufferPointer) -> Int {
            deadlines.active(at: loop.now)
            if CurlLibrary.linked.mishandlesFoldedFirstLines { watchFirstLine() }
            guard !debugOutput.firstLine.hasFold else {
                _ = abort(with: CurlFailure.badResponse(.beginsFolded))
                return 0
            }
            switch response.head.feed(line, cache: &scratch.fields) {
            case .more: return line.count
            case .interim(let head):
                guard !isCancelled, !state.isAborting else { return 0 }
                receiver?.didReceive(informational: responseHead(head, contentLength: nil))
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
            let request = transfer.request
            let isRepeated = ResponseState.isRepeated(
                status: head.status.code, expectsContinue: request.headers[.expect] != nil,
                isUploadUnfinished: upload?.isComplete == false)
            let start = response.begin(head, to: request.method, isRepeated: isRepeated)
            stopAwaitingResponse()
            if start.endsWithConnection { observeConnectionEnd() }
            if response.isRefusal { handleRefusal() }
            var final = responseHead(head, contentLength: start.contentLength)
            final.isDecoded = start.isDecoding
            receiver?.didReceive(head: final)
            if let fault = start.fault { _ = abort(with: fault) }
            return !isCancelled && !state.isAborting && !response.isCompleteEarly
        }

        private func responseHead(_ head: HeadParser.Head, contentLength: Int64?) -> ResponseHead {
            ResponseHead(
                status: head.status, headers: head.fields, httpVersion: head.version,
                remoteAddress: handle.flatMap { scratch.peer.text(of: $0) },
                contentLength: contentLength)
        }

        /// Receives bytes of the body, without chunk framing and before content decoding.
        fileprivate func receive(bytes: UnsafeRawBufferPointer) -> Int {
            guard !isCancelled, !state.isAborting else { return Int(CURL_WRITEFUNC_ERROR) }
            if state.isPaused {
                paused.insert(.receiving)
                return Int(CURL_WRITEFUNC_PAUSE)
            }
            deadlines.active(at: loop.now)
            guard response.head.isComplete else {
                return Int(abort(with: CurlFailure.truncatedHead)) * Int(CURL_WRITEFUNC_ERROR)
            }
            if response.isRefusal { handleRefusal() }
            deliverBody(response.body.bodyPart(of: bytes))
            return state.isAborting || response.body.isCompleteByLength
                ? Int(CURL_WRITEFUNC_ERROR) : bytes.count
        }

        /// Decodes bytes, or those that remained from an earlier pause, and delivers them.
        func deliverBody(_ bytes: UnsafeRawBufferPointer?) {
            guard let receiver, let transfer else { return }
            let fault = response.body.deliver(bytes, by: scratch.decoded) { bytes in
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
                deadlines.sent(at: loop.now)
                if let sent = upload?.bytesSent, uploadWatch.sent(sent) {
                    receiver?.didSend(bodyBytes: sent)
                }
                return count
            case .end:
                trailers.bodyEnded()
                return 0
            case .wait:
                paused.insert(.sending)
                upload?.whenReadable { [weak transfer] in transfer?.raise(.readable) }
                return Int(CURL_READFUNC_PAUSE)
            case .failed(let error):
                _ = abort(with: error)
                return Int(CURL_READFUNC_ABORT)
            }
        }

        /// Called when libcurl wants to send the request body again from its start.
        fileprivate func seek(to offset: Int64) -> Int32 {
            guard offset == 0, replay.mayReplay || isUnprocessed, upload?.rewind() == true else {
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
        return with(context, else: CURLE_ABORTED_BY_CALLBACK) { $0.handshakeWillStart(tls) }
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
