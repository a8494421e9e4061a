import ErrandHTTP
import ErrandSystem

/// One connection of a ``LoopbackServer``, served by its own thread.
struct LoopbackConnection {
    let id: Int
    let socket: LoopbackSocket
    let server: LoopbackServer

    private enum Outcome {
        case proceed
        /// Close, but read the rest of the request first, so that the client can read the response.
        case linger
        case close
        case reset
    }

    /// Serves requests until either side closes.
    func run() {
        var stream = LoopbackStream(socket)
        var outcome = Outcome.proceed
        while case .proceed = outcome {
            guard let head = try? stream.readHead() else { break }
            outcome = serve(head, &stream)
        }
        if case .linger = outcome { linger(&stream) }
        server.connectionWillClose(id)
        if case .reset = outcome { socket.reset() } else { socket.close() }
        server.threadDidEnd()
    }

    /// Reads until the client closes.
    ///
    /// A close with unread bytes would send RST, and the client could lose the response (RFC 9112 §9.6).
    private func linger(_ stream: inout LoopbackStream) {
        socket.finishSending()
        while let bytes = try? stream.readBody(upTo: 64 << 10), !bytes.isEmpty {}
    }

    private func serve(_ head: LoopbackStream.Head, _ stream: inout LoopbackStream) -> Outcome {
        var request = LoopbackRequest(
            number: server.nextNumber(), connection: id, method: head.method,
            target: head.target, version: head.version, headers: head.headers)
        request.isComplete = !stream.hasBody
        let route = server.route(for: request.path)
        if route.readsBody, stream.hasBody {
            if request.header("Expect")?.lowercasedASCII() == "100-continue" {
                _ = socket.send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            }
            let isComplete = receive(nil, into: &request, &stream)
            server.record(request)
            guard isComplete else { return .close }
        } else {
            server.record(request)
        }
        let response = route.handler(request)
        for step in response.steps {
            let outcome = perform(step, &request, &stream)
            if case .proceed = outcome { continue }
            return outcome
        }
        // Unread bytes of the body would be parsed as the next request.
        let mayKeep = response.keepsConnection && !stream.hasBody && head.version == "HTTP/1.1"
        let wantsClose = request.header("Connection")?.lowercasedASCII() == "close"
        return mayKeep && !wantsClose ? .proceed : .linger
    }

    private func perform(
        _ step: LoopbackResponse.Step, _ request: inout LoopbackRequest,
        _ stream: inout LoopbackStream
    ) -> Outcome {
        switch step {
        case .head(let status, let headers):
            return send(LoopbackResponse.headBytes(status: status, headers: headers))
        case .body(let data):
            return request.method == "HEAD" ? .proceed : send(data)
        case .bytes(let data):
            return send(data)
        case .hold(let gate):
            return hold(at: gate) ? .proceed : .close
        case .endless(let data, let gate):
            while !gate.isOpen {
                guard case .proceed = send(data) else { return .close }
            }
            return .proceed
        case .receiveBody(let limit):
            let isConnected = receive(limit, into: &request, &stream)
            server.update(request)
            return isConnected ? .proceed : .close
        case .finishSending:
            socket.finishSending()
            return .proceed
        case .close:
            return .close
        case .reset:
            return .reset
        case .webSocket(let script):
            return converse(script, request, &stream)
        }
    }

    /// Accepts a WebSocket and performs its script.
    private func converse(
        _ script: WebSocketScript, _ request: LoopbackRequest, _ stream: inout LoopbackStream
    ) -> Outcome {
        guard request.header("Upgrade")?.lowercasedASCII() == "websocket",
            let key = request.header("Sec-WebSocket-Key")
        else {
            let head = LoopbackResponse.headBytes(
                status: 426,
                headers: [
                    LoopbackHeader("Upgrade", "websocket"), LoopbackHeader("Connection", "Upgrade"),
                    LoopbackHeader("Content-Length", "0"),
                ])
            guard case .proceed = send(head) else { return .close }
            return .linger
        }
        let accept = WebSocketFrames.accept(key, script).map { LoopbackHeader($0.name, $0.value) }
        guard case .proceed = send(LoopbackResponse.headBytes(status: 101, headers: accept))
        else { return .close }
        var conversation = WebSocketConversation(script)
        var hasFailed = false
        while true {
            let action = conversation.next()
            if let failure = conversation.failure, !hasFailed {
                hasFailed = true
                server.fail("\(request.target): \(failure)")
            }
            switch action {
            case .send(let data): guard case .proceed = send(data) else { return .close }
            case .hold(let gate): guard hold(at: gate) else { return .close }
            case .wait:
                guard let bytes = try? stream.readBytes() else { return .close }
                conversation.receive(bytes)
            case .failed:
                _ = send(WebSocketFrames.close(.policyViolation, conversation.failure ?? ""))
                return endConversation(&stream)
            case .end: return endConversation(&stream)
            }
        }
    }

    /// Ends the server's direction, and reads until the client has closed the connection, too.
    private func endConversation(_ stream: inout LoopbackStream) -> Outcome {
        socket.finishSending()
        while (try? stream.readBytes()) != nil {}
        return .close
    }

    private func send(_ data: Data) -> Outcome {
        guard socket.send(data) else { return .close }
        server.sent(data.count)
        return .proceed
    }

    /// Reads the body, or up to `limit` bytes of it; returns false if the client disconnects first.
    private func receive(
        _ limit: Int?, into request: inout LoopbackRequest, _ stream: inout LoopbackStream
    ) -> Bool {
        var left = limit ?? Int.max
        do {
            while left > 0 {
                guard let bytes = try stream.readBody(upTo: min(left, 64 << 10)) else { break }
                left -= bytes.count
                request.bodyBytes += bytes.count
                let room = LoopbackRequest.maximumRecordedBody - request.body.count
                request.body.append(contentsOf: bytes.prefix(max(0, room)))
            }
        } catch {
            return false
        }
        request.isComplete = !stream.hasBody
        request.trailers = stream.trailers
        return true
    }

    /// Waits until the gate opens; returns false if the client disconnects or the server stops first.
    private func hold(at gate: Gate) -> Bool {
        guard let pipe = try? LoopbackPipe() else { return false }
        let token = gate.arrive { pipe.wake() }
        socket.waitForPeerClose(or: pipe)
        gate.leave(token)
        pipe.close()
        return gate.isOpen
    }
}
