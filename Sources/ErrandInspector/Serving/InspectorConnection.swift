import ErrandCore

#if Inspector
    import ErrandHTTP
    import ErrandSystem

    /// A connection of a client, served by one task.
    struct InspectorConnection: Sendable {
        /// The bytes that are read and discarded after a refusal, so that the client can read the response.
        private static let maximumDiscarded = 1 << 20

        let socket: InspectorSocket
        let handler: InspectorHandler
        let limits: InspectorServer.Limits
        /// Called after the first request that is allowed.
        let becameTrusted: @Sendable () -> Void

        /// Serves requests until either side closes.
        func serve() async {
            var input = CallInput()
            var isTrusted = false
            while true {
                do {
                    let deadline = deadline(isTrusted ? limits.idle : limits.head)
                    defer { deadline.cancel() }
                    guard let head = try await head(&input) else { break }
                    if let refusal = handler.refusal(of: head) {
                        await finish(refusal, head.method)
                        break
                    }
                    if !isTrusted { becameTrusted() }
                    isTrusted = true
                    deadline.cancel()
                    guard let body = await body(of: head, &input) else { break }
                    let response = await handler.response(to: head, body: body)
                    let isSent = await send(
                        response.bytes(isLast: head.isLast, to: head.method))
                    guard isSent, !head.isLast else { break }
                } catch {
                    await finish(InspectorResponse(error.reply), "GET")
                    break
                }
            }
            socket.close()
        }

        /// Shuts the socket down after a delay, unless the call is cancelled.
        private func deadline(_ delay: Duration) -> ScheduledCall {
            ScheduledCall(after: delay, SystemClock()) { [socket] in socket.shutDown() }
        }

        /// Reads a head; `nil` at the end of the connection.
        private func head(_ input: inout CallInput) async throws(CallHead.Fault) -> CallHead? {
            while true {
                if let head = try input.takeHead() { return head }
                guard let bytes = await socket.read(atMost: CallInput.maximumHead) else {
                    return nil
                }
                input.append(bytes)
            }
        }

        /// Reads a body; `nil` if the connection ends first.
        private func body(of head: CallHead, _ input: inout CallInput) async -> Data? {
            let deadline = deadline(limits.body)
            defer { deadline.cancel() }
            if head.expectsContinue, input.count < head.contentLength {
                guard await send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) else { return nil }
            }
            while true {
                if let body = input.takeBody(head.contentLength) { return Data(body) }
                guard let bytes = await socket.read(atMost: 64 << 10) else { return nil }
                input.append(bytes)
            }
        }

        /// Sends all bytes; false after an error, or if the client does not read for the time of the limit.
        private func send(_ bytes: [UInt8]) async -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let deadline = deadline(limits.write)
                defer { deadline.cancel() }
                guard let count = await socket.send(rest) else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        /// Sends the last response of the connection.
        ///
        /// To close a socket with unread bytes is a reset, after which the client may lose the response (RFC 9112 §9.6).
        private func finish(_ response: InspectorResponse, _ method: String) async {
            guard await send(response.bytes(isLast: true, to: method)) else { return }
            socket.finishSending()
            let deadline = deadline(limits.linger)
            defer { deadline.cancel() }
            var discarded = 0
            while discarded < Self.maximumDiscarded,
                let bytes = await socket.read(atMost: 64 << 10)
            {
                discarded += bytes.count
            }
        }
    }
#endif
