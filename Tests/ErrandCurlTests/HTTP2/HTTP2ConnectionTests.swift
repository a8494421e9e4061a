import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// Requests over one HTTP/2 connection, frame by frame.
@Suite(.limited)
struct HTTP2ConnectionTests {
    private static let windowUpdate: UInt8 = 8
    private static let ping: UInt8 = 6

    /// A request with prior knowledge, which is not replayed.
    private func request(
        _ server: RawServer, _ method: HTTPMethod = .get, body: HTTPBody? = nil
    ) throws -> TransportRequest {
        var request = TransportRequest(
            method: method, url: try .test(server.url()), body: body)
        request.options.httpVersion = .http2PriorKnowledge
        request.options.mayReplay = false
        request.timeouts = Timeouts(connect: .seconds(60), idle: .seconds(60))
        return request
    }

    private func settings(_ values: [(UInt16, UInt32)]) -> RawFrame {
        RawFrame(
            kind: RawFrame.Kind.settings,
            payload: values.flatMap { id, value in
                [UInt8(id >> 8), UInt8(id & 0xFF)] + RawFrame.number(value)
            })
    }

    /// Reads the preface and sends these SETTINGS.
    private func exchangePrefaces(
        _ connection: RawConnection, _ values: [(UInt16, UInt32)]
    ) -> Bool {
        guard connection.readBody(24).count == 24 else { return false }
        connection.write(settings(values))
        return true
    }

    private func head(_ stream: UInt32) -> RawFrame {
        RawFrame(
            kind: RawFrame.Kind.headers, flags: RawFrame.endOfHeaders, stream: stream,
            payload: RawFrame.status200)
    }

    private func data(_ stream: UInt32, _ text: String, ends: Bool = true) -> RawFrame {
        RawFrame(
            kind: RawFrame.Kind.data, flags: ends ? RawFrame.endOfStream : 0, stream: stream,
            payload: Array(text.utf8))
    }

    // MARK: - Requests

    /// Reads the frames of a stream up to END_STREAM, passes them to a closure as text, and responds.
    private func readStream(of connection: RawConnection, _ seen: ([String]) -> Void) {
        var frames: [String] = []
        while let frame = connection.readFrame() {
            guard frame.stream != 0, frame.kind != Self.windowUpdate else { continue }
            let name = frame.kind == RawFrame.Kind.data ? "DATA \(frame.payload.count)" : "HEADERS"
            frames.append(name + (frame.endsStream ? " END" : ""))
            if frame.endsStream {
                seen(frames)
                connection.respond(stream: frame.stream)
                break
            }
        }
    }

    @Test func trailersEndTheRequest() async throws {
        let seen = Mutex<[String]>([])
        let server = try RawServer { connection in
            guard connection.exchangePrefaces() else { return }
            readStream(of: connection) { frames in seen.withLock { $0 = frames } }
            connection.waitForClose()
        }
        let body = HTTPBody.string("abc").trailers([.custom("X-Sum")]) { [.custom("X-Sum"): "294"] }
        let receiver = RecordingReceiver()
        let transport = CurlTransport()
        _ = transport.start(try request(server, .post, body: body), receiver: receiver)
        let record = try await receiver.ended()
        #expect(record.error == nil, "\(record.errorText)")
        #expect(seen.withLock { $0 } == ["HEADERS", "DATA 3", "HEADERS END"])
    }

    /// An empty DATA frame ends a body of unknown length, although the window is used up.
    @Test func bodyEndsAtAUsedUpWindow() async throws {
        let seen = Mutex<[String]>([])
        let server = try RawServer { connection in
            // SETTINGS_INITIAL_WINDOW_SIZE applies before the request, which waits for it.
            guard connection.readBody(24).count == 24 else { return }
            connection.write(settings([(4, 5)]))
            readStream(of: connection) { frames in seen.withLock { $0 = frames } }
            connection.waitForClose()
        }
        let (parts, continuation) = AsyncStream.makeStream(of: Data.self)
        let receiver = RecordingReceiver()
        let transport = CurlTransport()
        _ = transport.start(
            try request(server, .post, body: .stream(isReplayable: false) { parts }),
            receiver: receiver)
        continuation.yield(Data("12345".utf8))
        try await receiver.until { $0.sent == 5 || $0.end != nil }
        continuation.finish()
        let record = try await receiver.ended()
        #expect(record.error == nil, "\(record.errorText)")
        let frames = seen.withLock { $0 }
        #expect(frames == ["HEADERS", "DATA 5", "DATA 0 END"], "\(frames)")
    }

    @Test func headBeyondTheServersLimitIsNotSent() async throws {
        let server = try RawServer { connection in
            guard exchangePrefaces(connection, [(6, 200)]) else { return }
            while let stream = connection.readRequest() { connection.respond(stream: stream) }
        }
        let transport = CurlTransport()
        var small = try request(server)
        small.options.decodesContent = false
        func run(_ request: TransportRequest) async throws -> RecordingReceiver.Record {
            let receiver = RecordingReceiver()
            _ = transport.start(request, receiver: receiver)
            return try await receiver.ended()
        }
        // The limit is known after the first response.
        #expect(try await run(small).error == nil)
        var large = small
        large.headers[.userAgent] = String(repeating: "u", count: 200)
        let refused = try await run(large)
        #expect(refused.error?.code == .invalidHeader, "\(refused.errorText)")
        #expect(refused.end?.timings.bytesSent == 0)
        let next = try await run(small)
        #expect(next.error == nil && next.end?.timings.reusedConnection == true)
        #expect(server.connections == 1)
    }

    @Test func cancelledRequestIsReset() async throws {
        let seen = Mutex<[UInt8]?>(nil)
        let server = try RawServer { connection in
            guard connection.exchangePrefaces(), let stream = connection.readRequest() else {
                return
            }
            connection.write(head(stream))
            while let frame = connection.readFrame() {
                guard frame.kind == RawFrame.Kind.reset else { continue }
                seen.withLock { $0 = frame.payload }
                break
            }
            while let stream = connection.readRequest() { connection.respond(stream: stream) }
        }
        let transport = CurlTransport()
        let receiver = RecordingReceiver()
        let transfer = transport.start(try request(server), receiver: receiver)
        try await receiver.until { $0.head != nil || $0.end != nil }
        transfer.cancel()
        #expect(try await receiver.ended().error?.code == .cancelled)
        let next = RecordingReceiver()
        _ = transport.start(try request(server), receiver: next)
        let record = try await next.ended()
        #expect(record.error == nil && record.end?.timings.reusedConnection == true)
        // CANCEL.
        #expect(seen.withLock { $0 } == [0, 0, 0, 8])
        #expect(server.connections == 1)
    }

    // MARK: - The connection

    /// The server accepts one request at a time.
    @Test func requestsWaitForAPlace() async throws {
        let requests = Mutex(0)
        let server = try RawServer { connection in
            guard exchangePrefaces(connection, [(3, 1)]) else { return }
            while let stream = connection.readRequest() {
                requests.withLock { $0 += 1 }
                connection.respond(stream: stream)
            }
        }
        let transport = CurlTransport { $0.connectionsPerHost = 1 }
        func run(_ count: Int) async throws {
            let receivers = (0..<count).map { _ in RecordingReceiver() }
            let request = try request(server)
            for receiver in receivers { _ = transport.start(request, receiver: receiver) }
            for receiver in receivers {
                let record = try await receiver.ended()
                #expect(record.error == nil, "\(record.errorText)")
            }
        }
        try await run(1)
        try await run(20)
        #expect(server.connections == 1)
        #expect(requests.withLock { $0 } == 21)
    }

    /// A request waits while the server accepts none, and opens no connection in vain.
    @Test func requestWaitsForAServerThatAcceptsNone() async throws {
        let mayProceed = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            // The first request is sent before these SETTINGS arrive.
            guard exchangePrefaces(connection, [(3, 0)]), let first = connection.readRequest()
            else { return }
            connection.respond(stream: first)
            mayProceed.wait()
            connection.write(settings([(3, 1)]))
            while let stream = connection.readRequest() { connection.respond(stream: stream) }
        }
        let transport = CurlTransport()
        let first = RecordingReceiver()
        _ = transport.start(try request(server), receiver: first)
        #expect(try await first.ended().error == nil)
        let second = RecordingReceiver()
        _ = transport.start(try request(server), receiver: second)
        try await passTurn(of: transport)
        mayProceed.signal()
        let record = try await second.ended()
        #expect(record.error == nil && record.end?.timings.reusedConnection == true)
        #expect(server.connections == 1)
    }

    /// Waits until the transport has begun all requests that were started before.
    private func passTurn(of transport: CurlTransport) async throws {
        let server = try RawServer { connection in
            while connection.readHead() != nil { connection.respond("done") }
        }
        #expect(try await transport.run(.get, server.url()).text == "done")
    }

    /// The server accepts one request at a time and no further connection.
    @Test func requestWaitsForTheOpenConnectionIfNoOtherOpens() async throws {
        let mayProceed = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            guard exchangePrefaces(connection, [(3, 1)]), let first = connection.readRequest()
            else { return }
            connection.write(head(first))
            mayProceed.wait()
            connection.write(data(first, "first"))
            while let stream = connection.readRequest() { connection.respond(stream: stream) }
        }
        let transport = CurlTransport()
        let receivers = [RecordingReceiver(), RecordingReceiver()]
        _ = transport.start(try request(server), receiver: receivers[0])
        try await receivers[0].until { $0.head != nil || $0.end != nil }
        server.stop()
        _ = transport.start(try request(server), receiver: receivers[1])
        // The connect of a later request with another key has failed, so that of the second one has too.
        let refused = try await transport.run(.get, server.url())
        #expect(refused.error?.code == .cannotConnect, "\(refused.errorText)")
        mayProceed.signal()
        for receiver in receivers {
            let record = try await receiver.ended()
            #expect(record.error == nil, "\(record.errorText)")
        }
    }

    /// The server closes each connection in the TLS handshake.
    @Test func requestsThatWaitForAHandshakeFailTogether() async throws {
        let mayClose = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            if connection.number == 1 { mayClose.wait() }
        }
        let transport = CurlTransport()
        let request = TransportRequest(url: try .test("https://127.0.0.1:\(server.port)/"))
        let receivers = (0..<20).map { _ in RecordingReceiver() }
        for receiver in receivers { _ = transport.start(request, receiver: receiver) }
        try await passTurn(of: transport)
        mayClose.signal()
        for receiver in receivers { #expect(try await receiver.ended().error != nil) }
        // The first connect began before the other requests.
        #expect(server.connections <= 2)
    }

    /// The streams below the last one of GOAWAY go on; later requests use another connection, also if only one may accept
    /// requests.
    @Test(arguments: [nil, 1])
    func goAwayDrainsTheConnection(connectionsPerHost: Int?) async throws {
        let connections = Mutex(0)
        let hasLeft = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            guard connection.exchangePrefaces() else { return }
            let number = connections.withLock { count in
                count += 1
                return count
            }
            while let stream = connection.readRequest() {
                guard number == 1 else {
                    connection.respond(stream: stream)
                    continue
                }
                connection.write(head(stream))
                connection.write(
                    RawFrame(
                        kind: RawFrame.Kind.goAway,
                        payload: RawFrame.number(stream) + RawFrame.number(0)))
                hasLeft.wait()
                connection.write(data(stream, "late"))
            }
        }
        let transport = CurlTransport { $0.connectionsPerHost = connectionsPerHost }
        let first = RecordingReceiver()
        _ = transport.start(try request(server), receiver: first)
        try await first.until { $0.head != nil || $0.end != nil }
        // GOAWAY arrives with the head or soon after it: the second request may be sent again.
        let second = RecordingReceiver()
        var other = try request(server)
        other.options.mayReplay = true
        _ = transport.start(other, receiver: second)
        let next = try await second.ended()
        #expect(next.error == nil, "\(next.errorText)")
        hasLeft.signal()
        let record = try await first.ended()
        #expect(record.error == nil && record.text == "late", "\(record.errorText)")
        #expect(server.connections == 2)
    }

    /// A PING decides whether the connection of a request that timed out is dead; until then, another one is used.
    @Test func timedOutRequestIsFollowedByAPing() async throws {
        let connections = Mutex(0)
        let (pings, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let server = try RawServer { connection in
            guard connection.exchangePrefaces() else { return }
            let number = connections.withLock { count in
                count += 1
                return count
            }
            guard number == 1 else {
                while let stream = connection.readRequest() { connection.respond(stream: stream) }
                return
            }
            var kinds: [UInt8] = []
            while let frame = connection.readFrame() {
                if frame.stream != 0 || frame.kind == Self.ping { kinds.append(frame.kind) }
                if frame.kind == Self.ping { continuation.yield(kinds) }
            }
        }
        var silent = try request(server)
        silent.timeouts.idle = .milliseconds(300)
        let receiver = RecordingReceiver()
        let transport = CurlTransport()
        _ = transport.start(silent, receiver: receiver)
        #expect(try await receiver.ended().error?.timeout == .idle)
        let next = RecordingReceiver()
        _ = transport.start(try request(server), receiver: next)
        let record = try await next.ended()
        #expect(record.error == nil && record.end?.timings.reusedConnection == false)
        var kinds = pings.makeAsyncIterator()
        let seen = await kinds.next()
        #expect(seen?.first == RawFrame.Kind.headers)
        #expect(seen.map { Set($0) } == [RawFrame.Kind.headers, RawFrame.Kind.reset, Self.ping])
    }

    /// A request that timed out makes the connection doubtful also for later requests if others use it still.
    @Test func doubtfulConnectionGetsNoRequest() async throws {
        let connections = Mutex(0)
        let server = try RawServer { connection in
            guard connection.exchangePrefaces() else { return }
            let number = connections.withLock { count in
                count += 1
                return count
            }
            guard number == 1 else {
                while let stream = connection.readRequest() { connection.respond(stream: stream) }
                return
            }
            guard let stream = connection.readRequest() else { return }
            connection.write(head(stream))
            // Nothing acknowledges PING.
            connection.waitForClose()
        }
        let transport = CurlTransport()
        let long = RecordingReceiver()
        let transfer = transport.start(try request(server), receiver: long)
        try await long.until { $0.head != nil || $0.end != nil }
        var silent = try request(server)
        silent.timeouts.idle = .milliseconds(300)
        let receiver = RecordingReceiver()
        _ = transport.start(silent, receiver: receiver)
        #expect(try await receiver.ended().error?.timeout == .idle)
        let next = RecordingReceiver()
        _ = transport.start(try request(server), receiver: next)
        let record = try await next.ended()
        #expect(record.error == nil && record.end?.timings.reusedConnection == false)
        transfer.cancel()
        #expect(try await long.ended().error?.code == .cancelled)
    }

    enum ConnectionEnd: CaseIterable { case close, reset, fault }

    /// A complete response is delivered although the connection ends during the upload (RFC 9113 §8.1).
    @Test(arguments: ConnectionEnd.allCases)
    func responseIsCompleteDuringTheUpload(end: ConnectionEnd) async throws {
        let hasResponse = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            guard connection.exchangePrefaces() else { return }
            var stream: UInt32 = 0
            while stream == 0, let frame = connection.readFrame() {
                if frame.kind == RawFrame.Kind.headers { stream = frame.stream }
            }
            connection.write(head(stream))
            connection.write(data(stream, "done"))
            hasResponse.wait()
            switch end {
            case .close: return
            case .reset: connection.reset()
            case .fault:
                connection.write(RawFrame(kind: RawFrame.Kind.data))
                connection.waitForClose()
            }
        }
        let (parts, continuation) = AsyncStream.makeStream(of: Data.self)
        defer { continuation.finish() }
        let receiver = RecordingReceiver()
        let transport = CurlTransport()
        _ = transport.start(
            try request(server, .post, body: .stream(isReplayable: false) { parts }),
            receiver: receiver)
        try await receiver.until { $0.chunks == 1 || $0.end != nil }
        hasResponse.signal()
        let record = try await receiver.ended()
        #expect(record.error == nil && record.text == "done", "\(record.errorText)")
    }

    /// A paused receiver holds its window and no more; the others on the connection go on.
    @Test func pausedReceiverHoldsItsWindow() async throws {
        let granted = Mutex<[UInt32: Int]>([:])
        let server = try RawServer { connection in
            guard connection.exchangePrefaces(), let paused = connection.readRequest() else {
                return
            }
            connection.write(head(paused))
            let part = String(repeating: "p", count: 16_000)
            for _ in 0..<10 { connection.write(data(paused, part, ends: false)) }
            guard let other = connection.readRequest() else { return }
            connection.write(head(other))
            connection.write(data(other, "other"))
            // The rest of the window is given back when the receiver goes on.
            var last: UInt32 = 0
            while last != paused, let frame = connection.readFrame() {
                guard frame.kind == Self.windowUpdate, frame.stream != 0 else { continue }
                last = frame.stream
                granted.withLock { $0[frame.stream, default: 0] += 1 }
            }
            connection.write(data(paused, "end"))
            connection.waitForClose()
        }
        let transport = CurlTransport()
        let paused = RecordingReceiver { $0.chunks == 1 ? .pause : .more }
        let transfer = transport.start(try request(server), receiver: paused)
        try await paused.until { $0.chunks == 1 || $0.end != nil }
        let other = RecordingReceiver()
        _ = transport.start(try request(server), receiver: other)
        #expect(try await other.ended().text == "other")
        #expect(paused.record.chunks == 1)
        #expect(granted.withLock { $0 } == [:])
        transfer.resumeReceiving()
        let record = try await paused.ended()
        #expect(record.error == nil, "\(record.errorText)")
        #expect(record.body.count == 160_003 && record.violations.isEmpty)
    }

    /// Content that arrived before the server has reset the stream is delivered after the pause, then the error.
    @Test func pausedReceiverGetsTheContentBeforeAReset() async throws {
        let server = try RawServer { connection in
            guard connection.exchangePrefaces(), let stream = connection.readRequest() else {
                return
            }
            connection.write(head(stream))
            for _ in 0..<4 { connection.write(data(stream, "part", ends: false)) }
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.reset, stream: stream, payload: RawFrame.number(2)))
            guard let next = connection.readRequest() else { return }
            connection.respond(stream: next)
            connection.waitForClose()
        }
        let transport = CurlTransport()
        let paused = RecordingReceiver { $0.chunks == 1 ? .pause : .more }
        let transfer = transport.start(try request(server), receiver: paused)
        try await paused.until { $0.chunks == 1 || $0.end != nil }
        // The reset has arrived when the next response has.
        let next = RecordingReceiver()
        _ = transport.start(try request(server), receiver: next)
        #expect(try await next.ended().error == nil)
        #expect(paused.record.end == nil)
        transfer.resumeReceiving()
        let record = try await paused.ended()
        #expect(record.text == "partpartpartpart")
        #expect(record.error?.code == .connectionLost, "\(record.errorText)")
        #expect(record.error?.message.contains("INTERNAL_ERROR") == true)
    }

    /// The decoder holds a part of the content when the stream ends.
    @Test(arguments: [false, true])
    func pausedReceiverGetsTheDecodedContentBeforeTheEnd(isLost: Bool) async throws {
        let server = try RawServer { connection in
            guard connection.exchangePrefaces(), let stream = connection.readRequest() else {
                return
            }
            // `content-encoding: gzip` as a literal with the name of the static table.
            var head = head(stream)
            head.payload += [0x0F, 0x0B, 4] + Array("gzip".utf8)
            connection.write(head)
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.data, stream: stream, payload: Sample.gzipOfZeros))
            guard let next = connection.readRequest() else { return }
            guard !isLost else { return }
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.reset, stream: stream, payload: RawFrame.number(2)))
            connection.respond(stream: next)
            connection.waitForClose()
        }
        let transport = CurlTransport()
        let paused = RecordingReceiver { $0.chunks == 1 ? .pause : .more }
        var coded = try request(server)
        coded.options.maximumDecodingRatio = nil
        let transfer = transport.start(coded, receiver: paused)
        try await paused.until { $0.chunks == 1 || $0.end != nil }
        // The end has arrived when that of the next request has.
        let next = RecordingReceiver()
        _ = transport.start(try request(server), receiver: next)
        #expect(try await next.ended().error == nil || isLost)
        #expect(paused.record.end == nil)
        transfer.resumeReceiving()
        let record = try await paused.ended()
        #expect(record.body.count == 1 << 20)
        let code: RequestError.Code = isLost ? .truncatedBody : .connectionLost
        #expect(record.error?.code == code, "\(record.errorText)")
    }

    @Test func interimResponsesAreReported() async throws {
        let server = try RawServer { connection in
            guard connection.exchangePrefaces(), let stream = connection.readRequest() else {
                return
            }
            // `:status: 103` as a literal with the name of the static table.
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.headers, flags: RawFrame.endOfHeaders, stream: stream,
                    payload: [0x08, 0x03] + Array("103".utf8)))
            connection.respond(stream: stream)
            connection.waitForClose()
        }
        let receiver = RecordingReceiver()
        let transport = CurlTransport()
        _ = transport.start(try request(server), receiver: receiver)
        let record = try await receiver.ended()
        #expect(record.error == nil, "\(record.errorText)")
        #expect(record.informational.map(\.status.code) == [103])
        #expect(record.head?.status == .ok && record.head?.httpVersion == .http2)
    }
}
