// Performance annotations: decision 17.

#if os(Linux)
    import ErrandTransport
    import HTTPTypes

    // Sends the request of a transfer.
    extension HTTP1Transfer {
        /// The number of pieces of a body that are sent at once, so that other transfers proceed.
        private static let piecesAtOnce = 16

        /// Sends the output buffer.
        func send() {
            guard let connection, engine.output.count > 0 else { return }
            if connection.write(engine.output.contents) == .failed { sendFailed() }
        }

        /// Appends the next part of the body to the output buffer; returns whether there was one, or
        /// `nil` if the transfer has failed.
        func writeBody() -> Bool? {
            guard var source = upload, !writer.isComplete else { return false }
            // The source and the receiver may take any time.
            loop.sockets.expireIdleCheck()
            // The property is empty meanwhile, so that the bytes it holds back are not copied.
            upload = nil
            let step = writer.write(from: &source, into: engine.output, limit: 32 << 10)
            upload = source
            switch step {
            case .bytes, .complete:
                deadlines.sent(at: loop.now)
                // A repeated body starts at 0, but the reported progress never decreases.
                if let sent = upload?.bytesSent, sent > reportedBytes {
                    reportedBytes = sent
                    receiver?.didSend(bodyBytes: sent)
                }
                return true
            case .wait:
                isSourceEmpty = true
                upload?.whenReadable { [weak transfer] in transfer?.raise(.readable) }
                return false
            case .failed(let error):
                fail(error)
                return nil
            }
        }

        /// Sends as much of the request as the socket and the source allow.
        func pump() {
            for _ in 0..<Self.piecesAtOnce {
                guard let connection, !connection.hasUnsent else { break }
                connection.hasMoreToSend = false
                switch connection.state.sending {
                case .head:
                    perform(connection.state.headSent())
                    if connection.state.exchange?.sending == .awaitingContinue {
                        continueAt = loop.now.advanced(milliseconds: 1000)
                        loop.scheduleSweep(by: continueAt)
                    }
                case .body where writer.isComplete:
                    switch connection.state.isHandedOver ? connection.finishSending() : .complete {
                    case .complete: perform(connection.state.bodySent())
                    case .partial: break
                    case .failed: sendFailed()
                    }
                case .body where !isSourceEmpty:
                    engine.headOwner = 0
                    engine.output.removeAll()
                    guard writeBody() == true else { continue }
                    connection.hasMoreToSend = true
                    send()
                default:
                    connection.updateEvents()
                    return
                }
            }
            connection?.updateEvents()
        }

        func sendFailed() {
            guard let connection else { return }
            connection.dropUnsent()
            connection.updateEvents()
            // After 101 no response says whether the server has the bytes.
            if connection.state.isHandedOver, failure == nil {
                failure = ResponseFault.lostInBody.error(
                    host: transfer.request.host ?? key.host.name)
                // A failure of TLS may have no event of the socket.
                if connection.buffersInput { engine.readLater(connection) }
            }
            perform(connection.state.sendFailed())
        }

        /// The socket accepts more bytes.
        func writable() {
            guard let connection else { return }
            switch connection.flush() {
            case .complete, .partial:
                if !connection.waitsForInput { deadlines.sent(at: loop.now) }
            case .failed: sendFailed()
            }
            pump()
        }

        /// The body source has more bytes.
        func bodyIsReadable() {
            isSourceEmpty = false
            pump()
        }

        /// Sends the body if the server has not responded to `Expect: 100-continue` in time; returns
        /// the time of the next check.
        func checkContinue(at now: MonotonicTime) -> MonotonicTime {
            guard continueAt <= now else { return continueAt }
            continueBody()
            return .never
        }

        func continueBody() {
            continueAt = .never
            guard let connection else { return }
            perform(connection.state.continueBody())
            pump()
        }
    }

    // Receives the response of a transfer.
    extension HTTP1Transfer {
        /// The number of reads at once, so that other transfers proceed.
        private static let readsAtOnce = 16

        /// The size of a read from which on the receiver is notified of its beginning and end.
        private static let largeRead = 16 << 10

        /// The socket has input, or its end.
        func readable(_ buffer: UnsafeMutableRawBufferPointer) {
            var stream: (any StreamReceiver)?
            read(into: buffer, for: &stream)
            if let stream { endRead(of: stream) }
        }

        private func read(
            into buffer: UnsafeMutableRawBufferPointer, for stream: inout (any StreamReceiver)?
        ) {
            reads: for _ in 0..<Self.readsAtOnce {
                guard let connection, connection.readsInput else { return }
                switch connection.read(into: buffer) {
                case .bytes where connection.discardsInput: break
                case .bytes(let count):
                    if stream == nil {
                        if self.stream == nil, count >= Self.largeRead {
                            self.stream = receiver as? any StreamReceiver
                        }
                        stream = self.stream
                        stream?.beginRead()
                    }
                    received(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    // A chunk has the buffer now, so nothing more may be read into it.
                    if chunkBuffer?.isPassedOn == true { break reads }
                    guard connection.buffersInput || count == buffer.count && chunkBuffer == nil
                    else { return }
                case .nothing: return
                case .end: return inputEnded()
                case .failed where connection.discardsInput: return inputEnded()
                case .failed: return received(connection.parser.connectionFailed(), isEnd: true)
                }
            }
            if let connection, connection.buffersInput, connection.readsInput {
                engine.readLater(connection)
            }
        }

        /// Ends a read, and stops reading if the reader of the stream is busy now.
        private func endRead(of stream: any StreamReceiver) {
            guard stream.endRead() == .pause, let connection, !state.isPaused,
                state.mayCallReceiver
            else { return }
            state.pause()
            deadlines.suspend()
            connection.readsInput = false
            connection.updateEvents()
        }

        /// Reads the input that arrived during a pause, without waiting for an event of the socket.
        func readAfterPause() {
            let options = transfer.request.options
            guard stream != nil, options.hasDefaults || options.receiveBufferBytes == nil else {
                return readable(engine.inputBuffer(for: self))
            }
            let buffer = engine.chunks.take()
            chunkBuffer = (buffer, isPassedOn: false)
            readable(buffer.memory)
            if chunkBuffer?.isPassedOn == false { engine.chunks.giveBack(buffer) }
            chunkBuffer = nil
        }

        /// Passes bytes to the receiver: with their buffer if they are more than half of it, or as a
        /// copy.
        private func pass(
            _ bytes: UnsafeRawBufferPointer, to receiver: any TransferReceiver
        ) -> Demand {
            guard let stream, let (buffer, isPassedOn) = chunkBuffer, !isPassedOn,
                bytes.count > buffer.memory.count / 2, let start = bytes.baseAddress,
                let memory = buffer.memory.baseAddress, start >= UnsafeRawPointer(memory),
                start < UnsafeRawPointer(memory) + buffer.memory.count
            else { return receiver.didReceive(bytes: bytes) }
            chunkBuffer?.isPassedOn = true
            return stream.didReceive(chunk: engine.chunks.chunk(bytes, of: buffer))
        }

        private func inputEnded() {
            guard let connection else { return }
            if connection.discardsInput { return perform(connection.state.inputEnded()) }
            let event = connection.parser.endOfInput(
                isReset: connection.isReset && !body.hasEndMarker)
            // An attacker on the path can end a TCP connection, but only the server TLS. A body with
            // a content coding has an end marker of its own.
            if case .complete = event, connection.lacksCloseNotify, !body.hasEndMarker {
                return fail(CurlFailure.missingCloseNotify)
            }
            received(event, isEnd: true)
        }

        func received(_ bytes: UnsafeRawBufferPointer) {
            deadlines.active(at: loop.now)
            times.receivedInput()
            var input = bytes
            parse(&input)
            keep(input)
        }

        /// Keeps input that the receiver does not accept now, and stops reading.
        func keep(_ input: UnsafeRawBufferPointer) {
            guard let connection, state.isPaused else { return }
            connection.unread.append(contentsOf: input)
            connection.readsInput = false
            connection.updateEvents()
        }

        func parse(_ input: inout UnsafeRawBufferPointer) {
            while let connection, connection.readsInput, !connection.discardsInput, !state.isPaused
            {
                if transfer.signals().contains(.cancel) { return stop(.cancelled) }
                if connection.state.isHandedOver { return deliverSwitched(&input) }
                let event = connection.parser.next(&input, cache: &loop.scratch.fields)
                if case .needsInput = event { return }
                received(event, isEnd: false)
            }
        }

        private func received(_ event: ResponseParser.Event, isEnd: Bool) {
            guard let connection else { return }
            switch event {
            case .needsInput:
                // The end of the input after a complete response, or after 101.
                if isEnd {
                    if connection.state.isHandedOver { return switchedInputEnded() }
                    perform(connection.state.inputEnded())
                }
            case .interim(let head):
                receiver?.didReceive(informational: responseHead(head, hasBody: false))
                if head.status.code == 100 { continueBody() }
            case .head(let head): received(head)
            case .body(let bytes): deliver(bytes)
            case .complete(let end):
                trailers = end.trailers
                perform(
                    connection.state.responseComplete(keepsConnection: end.keepsConnection))
                if isEnd, let connection = self.connection {
                    perform(connection.state.inputEnded())
                }
            case .failed(.unsolicitedData):
                perform(connection.state.unsolicitedInput())
                // The connection closes after this exchange. Only its end matters, because it ends an upload.
                connection.discardsInput = true
            case .failed(let fault): connectionFailed(fault)
            case .switchedProtocols(let head):
                // The field names the protocol (RFC 9110 §15.2.2).
                guard head.fields[.upgrade]?.isEmpty == false else {
                    return fail(CurlFailure.badResponse(.switchesProtocols))
                }
                switchProtocols(head)
            }
        }

        private func received(_ head: HeadParser.Head) {
            guard let connection else { return }
            let hasBody =
                transfer.request.method != .head && head.status.code != 204
                && head.status.code != 304
            var fault: RequestError?
            if hasBody { fault = body.begin(head.framing) } else { body.beginEmpty() }
            if hasBody, connection.buffersInput, !head.framing.isChunked,
                head.framing.contentLength == nil
            {
                connection.observeEnd()
            }
            // A later response without the field does not revoke an earlier one.
            if let lifetime = KeepAlive.idleNanoseconds(of: head.fields) {
                connection.idleLifetime = lifetime
            }
            perform(connection.state.headReceived(status: head.status.code))
            receiver?.didReceive(head: responseHead(head, hasBody: hasBody))
            if let fault { fail(fault) }
        }

        func responseHead(_ head: HeadParser.Head, hasBody: Bool) -> ResponseHead {
            let isPlain = hasBody && !head.framing.isChunked && !body.isDecoding
            var result = ResponseHead(
                status: head.status, headers: head.fields, httpVersion: head.version,
                remoteAddress: connection?.facts.peer,
                contentLength: isPlain ? head.framing.contentLength : nil)
            result.isDecoded = hasBody && body.isDecoding
            return result
        }

        /// Decodes bytes, or those that remained from an earlier pause, and delivers them.
        func deliver(_ bytes: UnsafeRawBufferPointer?) {
            guard let receiver else { return }
            let fault = body.deliver(bytes, by: loop.scratch.decoded) { bytes in
                switch pass(bytes, to: receiver) {
                case .more: break
                case .pause:
                    state.pause()
                    deadlines.suspend()
                case .stop: state.abort(.cancelled)
                }
                if transfer.signals().contains(.cancel) { state.abort(.cancelled) }
                return state.mayCallReceiver
            }
            if state.isAborting { return stop(.failed) }
            if let fault { fail(fault) }
        }
    }
#endif
