// Performance annotations: decision 17.

#if os(Linux)
    import ErrandTransport
    import HTTPTypes

    // Sends the request of an exchange.
    extension HTTP1Connection {
        /// The bytes of a body that are read and sent with one call each; a quarter of it costs a third more.
        ///
        /// They count as sent when they are read, and a peer that accepts no more leaves at most as many in memory.
        private static let pieceBytes = 128 << 10
        /// The pieces and bytes of a body that are sent at once, so that other exchanges proceed.
        private static let piecesAtOnce = 16
        private static let bytesAtOnce = 512 << 10

        /// Sends the output buffer.
        func send() {
            guard exchange != nil, engine.output.count > 0 else { return }
            if write(engine.output.contents) == .failed { sendFailed() }
        }

        /// Appends the next part of the body to the output buffer; returns whether there was one, or
        /// `nil` if the exchange has failed.
        func writeBody(of exchange: Exchange) -> Bool? {
            guard var source = exchange.upload, !writer.isComplete else { return false }
            // The source and the receiver may take any time.
            loop.idleCheck.expire()
            // The property is empty meanwhile, so that the bytes it holds back are not copied.
            exchange.upload = nil
            let step = writer.write(from: &source, into: engine.output, limit: Self.pieceBytes)
            exchange.upload = source
            switch step {
            case .bytes, .complete:
                exchange.bodyWasSent()
                return true
            case .wait:
                exchange.awaitSource()
                return false
            case .failed(let error):
                exchange.fail(error)
                return nil
            }
        }

        /// Sends as much of the request as the socket and the source allow.
        func pump() {
            let current = exchange
            var left = Self.bytesAtOnce
            for _ in 0..<Self.piecesAtOnce {
                guard let exchange, exchange === current else { return }
                guard !hasUnsent, left > 0 else { break }
                hasMoreToSend = false
                switch state.sending {
                case .head:
                    perform(state.headSent())
                    if state.exchange?.sending == .awaitingContinue { exchange.awaitContinue() }
                case .body where writer.isComplete:
                    switch state.isHandedOver ? finishSending() : .complete {
                    case .complete: perform(state.bodySent())
                    case .partial: break
                    case .failed: sendFailed()
                    }
                case .body where !exchange.isSourceEmpty:
                    engine.headOwner = 0
                    engine.output.removeAll()
                    guard writeBody(of: exchange) == true else { continue }
                    hasMoreToSend = true
                    left -= engine.output.count
                    send()
                default:
                    updateEvents()
                    return
                }
            }
            if exchange != nil { updateEvents() }
        }

        func sendFailed() {
            guard let exchange else { return }
            dropUnsent()
            updateEvents()
            // After 101 no response says whether the server has the bytes.
            if state.isHandedOver, exchange.failure == nil {
                exchange.failure = ResponseFault.lostInBody.error(
                    host: exchange.transfer.request.host ?? exchange.key.host.name)
                // A failure of TLS may have no event of the socket.
                if buffersInput { engine.readLater(self) }
            }
            perform(state.sendFailed())
            exchange.loseOutput()
        }

        /// The socket accepts more bytes.
        func writable() {
            guard let exchange else { return }
            switch flushUnsent() {
            case .complete, .partial:
                if !waitsForInput { exchange.deadlines.sent(at: loop.now) }
            case .failed: sendFailed()
            }
            pump()
        }

        func sendBody(of exchange: Exchange) {
            guard self.exchange === exchange else { return }
            exchange.continueAt = .never
            perform(state.continueBody())
            pump()
        }
    }

    // Receives the response of an exchange.
    extension HTTP1Connection {
        /// The number of reads at once, so that other exchanges proceed.
        private static let readsAtOnce = 16

        /// The size of a read from which on the receiver is notified of its beginning and end.
        private static let largeRead = 16 << 10

        /// The socket has input, or its end.
        func readable(_ buffer: UnsafeMutableRawBufferPointer) {
            guard let exchange else { return }
            var stream: (any StreamReceiver)?
            read(into: buffer, of: exchange, for: &stream)
            if let stream { endRead(of: stream, exchange) }
        }

        private func read(
            into buffer: UnsafeMutableRawBufferPointer, of exchange: Exchange,
            for stream: inout (any StreamReceiver)?
        ) {
            reads: for _ in 0..<Self.readsAtOnce {
                guard self.exchange === exchange, readsInput else { return }
                switch read(into: buffer) {
                case .bytes where discardsInput: break
                case .bytes(let count):
                    if stream == nil {
                        if self.stream == nil, count >= Self.largeRead {
                            self.stream = exchange.receiver as? any StreamReceiver
                        }
                        stream = self.stream
                        stream?.beginRead()
                    }
                    received(UnsafeRawBufferPointer(rebasing: buffer[..<count]), for: exchange)
                    // A chunk has the buffer now, so nothing more may be read into it.
                    if chunkBuffer?.isPassedOn == true { break reads }
                    guard buffersInput || count == buffer.count && chunkBuffer == nil
                    else { return }
                case .nothing: return
                case .end: return inputEnded(exchange)
                case .failed where discardsInput: return inputEnded(exchange)
                case .failed: return received(parser.connectionFailed(), exchange, isEnd: true)
                }
            }
            if self.exchange === exchange, buffersInput, readsInput { engine.readLater(self) }
        }

        /// Ends a read, and stops reading if the reader of the stream is busy now.
        private func endRead(of stream: any StreamReceiver, _ exchange: Exchange) {
            guard stream.endRead() == .pause, self.exchange === exchange,
                !exchange.state.isPaused, exchange.state.mayCallReceiver
            else { return }
            exchange.state.pause()
            exchange.deadlines.suspend()
            readsInput = false
            updateEvents()
        }

        /// Reads the input that arrived during a pause, without waiting for an event of the socket.
        private func readAfterPause(of exchange: Exchange) {
            let options = exchange.transfer.request.options
            guard stream != nil, options.hasDefaults || options.receiveBufferBytes == nil else {
                return readable(engine.inputBuffer(for: exchange))
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

        private func inputEnded(_ exchange: Exchange) {
            if discardsInput { return perform(state.inputEnded()) }
            let event = parser.endOfInput(isReset: isReset && !exchange.body.hasEndMarker)
            // An attacker on the path can end a TCP connection, but only the server TLS. A body with
            // a content coding has an end marker of its own.
            if case .complete = event, lacksCloseNotify, !exchange.body.hasEndMarker {
                return exchange.fail(CurlFailure.missingCloseNotify)
            }
            received(event, exchange, isEnd: true)
        }

        func received(_ bytes: UnsafeRawBufferPointer, for exchange: Exchange) {
            exchange.deadlines.active(at: loop.now)
            exchange.times.receivedInput()
            var input = bytes
            parse(&input, for: exchange)
            keep(input, for: exchange)
        }

        /// Keeps input that the receiver does not accept now, and stops reading.
        func keep(_ input: UnsafeRawBufferPointer, for exchange: Exchange) {
            guard self.exchange === exchange, exchange.state.isPaused else { return }
            unread.append(contentsOf: input)
            readsInput = false
            updateEvents()
        }

        func parse(_ input: inout UnsafeRawBufferPointer, for exchange: Exchange) {
            while self.exchange === exchange, readsInput, !discardsInput,
                !exchange.state.isPaused
            {
                if exchange.transfer.signals().contains(.cancel) {
                    return exchange.stop(.cancelled)
                }
                if state.isHandedOver { return deliverSwitched(&input, for: exchange) }
                let event = parser.next(&input, cache: &loop.scratch.fields)
                if case .needsInput = event { return }
                received(event, exchange, isEnd: false)
            }
        }

        private func received(
            _ event: ResponseParser.Event, _ exchange: Exchange, isEnd: Bool
        ) {
            guard self.exchange === exchange else { return }
            switch event {
            case .needsInput:
                // The end of the input after a complete response, or after 101.
                if isEnd {
                    if state.isHandedOver { return switchedInputEnded(exchange) }
                    perform(state.inputEnded())
                }
            case .interim(let head):
                exchange.receive(interim: head)
                if head.status.code == 100 { sendBody(of: exchange) }
            case .head(let head): received(head, exchange)
            case .body(let bytes): deliver(bytes, for: exchange)
            case .complete(let end):
                exchange.trailers = end.trailers
                perform(state.responseComplete(keepsConnection: end.keepsConnection))
                if isEnd, self.exchange === exchange { perform(state.inputEnded()) }
            case .failed(.unsolicitedData):
                perform(state.unsolicitedInput())
                // The connection closes after this exchange. Only its end matters, because it ends an upload.
                discardsInput = true
            case .failed(let fault): exchangeFailed(fault)
            case .switchedProtocols(let head):
                // The field names the protocol (RFC 9110 §15.2.2).
                guard head.fields[.upgrade]?.isEmpty == false else {
                    return exchange.fail(CurlFailure.badResponse(.switchesProtocols))
                }
                switchProtocols(head, of: exchange)
            }
        }

        private func received(_ head: HeadParser.Head, _ exchange: Exchange) {
            let (hasBody, fault) = exchange.prepare(for: head)
            if hasBody, buffersInput, !head.framing.isChunked,
                head.framing.contentLength == nil
            {
                observeEnd()
            }
            // A later response without the field does not revoke an earlier one.
            if let lifetime = head.idleNanoseconds { idleLifetime = lifetime }
            perform(state.headReceived(status: head.status.code))
            exchange.receiver?.didReceive(head: exchange.responseHead(head, hasBody: hasBody))
            if let fault { exchange.fail(fault) }
        }

        private func deliver(_ bytes: UnsafeRawBufferPointer, for exchange: Exchange) {
            guard let receiver = exchange.receiver else { return }
            exchange.deliver(bytes) { pass($0, to: receiver) }
        }

        /// Delivers what has arrived during a pause, and reads on.
        func readOn(for exchange: Exchange) {
            let unread = unread
            self.unread = []
            readsInput = true
            unread.withUnsafeBytes { bytes in
                var input = UnsafeRawBufferPointer(rebasing: bytes[...])
                parse(&input, for: exchange)
                keep(input, for: exchange)
            }
            // The connection may carry another exchange by now.
            guard self.exchange === exchange, !exchange.state.isPaused else { return }
            readAfterPause(of: exchange)
            guard self.exchange === exchange, !exchange.state.isPaused else { return }
            guard updateEvents() else { return exchange.fail(CurlFailure.cannotStart) }
            if waitsForInput { writable() }
        }
    }

    // The other protocol after 101.
    extension HTTP1Connection {
        /// Hands the connection over; the rest of the input follows by ``deliverSwitched(_:for:)``.
        private func switchProtocols(_ head: HeadParser.Head, of exchange: Exchange) {
            guard let owner = exchange.connectionOwner, state.switchedProtocols()
            else { return exchange.fail(CurlFailure.badResponse(.switchesProtocols)) }
            if buffersInput { observeEnd() }
            exchange.handOver(to: owner, head)
            // The source decides about the end.
            writer = RequestBodyWriter(.bytes(.max))
            pump()
        }

        /// Delivers input of the other protocol.
        private func deliverSwitched(
            _ input: inout UnsafeRawBufferPointer, for exchange: Exchange
        ) {
            guard !input.isEmpty else { return }
            let bytes = input
            input = UnsafeRawBufferPointer(rebasing: bytes[bytes.count...])
            deliver(bytes, for: exchange)
        }

        /// The server has ended its direction.
        private func switchedInputEnded(_ exchange: Exchange) {
            if lacksCloseNotify { return exchange.fail(CurlFailure.missingCloseNotify) }
            // The end of the input would be reported again and again.
            readsInput = false
            updateEvents()
            exchange.connectionOwner?.didReceiveEnd()
            perform(state.inputEnded())
        }
    }
#endif
