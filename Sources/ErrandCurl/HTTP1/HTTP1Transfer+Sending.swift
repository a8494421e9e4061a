// Performance annotations: decision 17.

#if os(Linux)
    import ErrandTransport

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
                deadlines.active(at: loop.now)
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
                    if connection.state.isHandedOver { connection.finishSending() }
                    perform(connection.state.bodySent())
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
                if !connection.waitsForInput { deadlines.active(at: loop.now) }
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
#endif
