import Foundation

/// One connection of a ``LoopbackServer``, served by a thread of its own.
struct LoopbackConnection {
    let id: Int
    let socket: LoopbackSocket
    let server: LoopbackServer

    private enum Outcome {
        case goOn
        /// Close, but let the client finish its request, so that it gets to read the answer.
        case linger
        case close
        case reset
    }

    /// Serves requests until either side closes.
    func run() {
        var stream = LoopbackStream(socket)
        var outcome = Outcome.goOn
        while case .goOn = outcome {
            guard let head = try? stream.readHead() else { break }
            outcome = serve(head, &stream)
        }
        if case .linger = outcome { linger(&stream) }
        server.connectionEnds(id)
        if case .reset = outcome { socket.reset() } else { socket.close() }
        server.threadEnds()
    }

    /// Closing with unread bytes would send RST, which can overtake the answer (RFC 9112 §9.6).
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
            if request.header("Expect")?.lowercased() == "100-continue" {
                _ = socket.send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            }
            let isWhole = receive(nil, into: &request, &stream)
            server.record(request)
            guard isWhole else { return .close }
        } else {
            server.record(request)
        }
        let answer = route.handler(request)
        for step in answer.steps {
            let outcome = perform(step, &request, &stream)
            if case .goOn = outcome { continue }
            return outcome
        }
        // What is left of the body would be taken for the next request.
        let mayKeep = answer.keepsConnection && !stream.hasBody && head.version == "HTTP/1.1"
        let wantsClose = request.header("Connection")?.lowercased() == "close"
        return mayKeep && !wantsClose ? .goOn : .linger
    }

    private func perform(
        _ step: LoopbackAnswer.Step, _ request: inout LoopbackRequest,
        _ stream: inout LoopbackStream
    ) -> Outcome {
        switch step {
        case .head(let status, let headers):
            return send(LoopbackAnswer.headBytes(status: status, headers: headers))
        case .body(let data):
            return request.method == "HEAD" ? .goOn : send(data)
        case .bytes(let data):
            return send(data)
        case .hold(let gate):
            return hold(at: gate) ? .goOn : .close
        case .endless(let data, let gate):
            while !gate.isOpen {
                guard case .goOn = send(data) else { return .close }
            }
            return .goOn
        case .receiveBody(let limit):
            let wentOn = receive(limit, into: &request, &stream)
            server.update(request)
            return wentOn ? .goOn : .close
        case .finishSending:
            socket.finishSending()
            return .goOn
        case .close:
            return .close
        case .reset:
            return .reset
        }
    }

    private func send(_ data: Data) -> Outcome {
        guard socket.send(data) else { return .close }
        server.sent(data.count)
        return .goOn
    }

    /// Reads body; false when the client went before its end.
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
        return true
    }

    /// Waits at the gate; false when the client went, or the server stops, while it is still closed.
    private func hold(at gate: Gate) -> Bool {
        guard let pipe = try? LoopbackPipe() else { return false }
        let token = gate.arrive { pipe.wake() }
        socket.waitForPeerToGo(or: pipe)
        gate.leave(token)
        pipe.close()
        return gate.isOpen
    }
}
