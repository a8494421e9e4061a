import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// The frames that a server gets from the transport after a fault, and what the request gets.
///
/// The rules are those of ``SessionRulesTests``. After each input the server sends PING; the frames up to its
/// acknowledgement, or to the end of the connection, are compared.
@Suite(.limited)
struct ServerFaultTests {
    typealias Case = SessionRulesTests.Case

    private static let mark = Wire.ping([9, 9, 9, 9, 9, 9, 9, 9])
    private static let acknowledgedMark = "PING 0 0909090909090909 acknowledgement"

    /// Reads the preface and one request, and exchanges SETTINGS.
    private static func accept(_ connection: RawConnection) -> Bool {
        guard connection.readBody(24).count == 24 else { return false }
        connection.write(Wire.settings())
        var (hasRequest, isAcknowledged) = (false, false)
        while !hasRequest || !isAcknowledged {
            guard let frame = connection.readFrame() else { return false }
            if frame.kind == RawFrame.Kind.headers { hasRequest = true }
            if frame.kind == RawFrame.Kind.settings, frame.flags & 0x1 != 0 {
                isAcknowledged = true
            }
        }
        return true
    }

    /// The frames up to the acknowledgement of the mark; `nil` at their end stands for that of the connection.
    private static func frames(of connection: RawConnection) -> [String?] {
        var frames: [String?] = []
        while let frame = connection.readFrame() {
            let text = NaiveFramer.frames(frame.bytes).frames.map(\.description).joined()
            if text == acknowledgedMark { return frames }
            frames.append(text)
        }
        return frames + [nil]
    }

    private func request(_ server: RawServer) throws -> TransportRequest {
        var request = TransportRequest(url: try .test(server.url()))
        request.options.httpVersion = .http2PriorKnowledge
        request.options.mayReplay = false
        request.timeouts = Timeouts(connect: .seconds(60), idle: .seconds(60))
        return request
    }

    private func start(
        on transport: CurlTransport, _ server: RawServer
    ) throws -> RecordingReceiver {
        let receiver = RecordingReceiver()
        _ = transport.start(try request(server), receiver: receiver)
        return receiver
    }

    /// The text of an event that ends the request without an error.
    private static func isComplete(_ event: String) -> Bool {
        event.hasSuffix(" ended") && !event.hasPrefix("ended")
    }

    /// Checks the end of the request.
    private func expectEnd(_ record: RecordingReceiver.Record, _ item: Case) {
        #expect(record.violations.isEmpty && record.ends == 1, "\(record.violations)")
        let end = item.events.last { $0.hasPrefix("failed") || $0.hasPrefix("ended") } ?? ""
        let code = end.split(separator: " ").last.map(String.init) ?? ""
        let error = record.error
        if end.isEmpty || item.events.contains(where: Self.isComplete) {
            #expect(error == nil, "\(record.errorText)")
        } else if code == "truncated" {
            #expect(error?.code == .truncatedBody, "\(record.errorText)")
        } else {
            let isReset = end.contains("reset")
            #expect(
                error?.code == (isReset ? .connectionLost : .badServerResponse),
                "\(record.errorText)")
            let part = code == "malformed" ? "response is invalid. " : "(\(code))"
            #expect(error?.message.contains(part) == true, "\(record.errorText)")
        }
    }

    // MARK: - Moments

    /// The input arrives while a request waits for its response.
    @Test(arguments: SessionRulesTests.all)
    func duringARequest(_ item: Case) async throws {
        let (seen, continuation) = AsyncStream.makeStream(of: [String?].self)
        let server = try RawServer { connection in
            guard Self.accept(connection) else { return }
            connection.write(item.input + Self.mark)
            continuation.yield(Self.frames(of: connection))
            // The rest of the response, if it is not complete.
            let hasHead = item.events.contains("head 1 200 receiving")
            connection.write(hasHead ? Wire.data(1, ends: true) : Wire.headers(1, ends: true))
            connection.waitForClose()
        }
        let transport = CurlTransport()
        let receiver = try start(on: transport, server)
        var frames = seen.makeAsyncIterator()
        let written = await frames.next()
        let isFault = item.events.last?.hasPrefix("failed") == true
        #expect(written == item.written.map { $0 } + (isFault ? [nil] : []))
        expectEnd(try await receiver.ended(), item)
        #expect(server.connections == 1)
    }

    private static let closed = "closed"

    /// Inputs after a request has ended, and whether the connection ends with them.
    static let idle: [Case] = [
        .fine("§4.1 an unknown frame", [], Wire.frame(0x16, flags: 0xFF, stream: 3, [1, 2])),
        .fine(
            "§4.1 undefined flags and the reserved bit", [],
            Wire.frame(6, flags: 0xFE, stream: 0x8000_0000, [1, 2, 3, 4, 5, 6, 7, 8]),
            written: ["PING 0 0102030405060708 acknowledgement"]),
        .fine("§6.7 PING", [], Wire.ping(), written: ["PING 0 0102030405060708 acknowledgement"]),
        .fine(
            "§6.5.3 SETTINGS", [], Wire.settings((4, 100), (3, 10), (4, 200)),
            written: ["SETTINGS 0 acknowledgement"]),
        .fine("§6.3 PRIORITY", [], Wire.priority(1), Wire.priority(7)),
        .fine(
            "§5.1 WINDOW_UPDATE and RST_STREAM on a closed stream", [], Wire.windowUpdate(0, 9),
            Wire.windowUpdate(1, 5), Wire.reset(1), Wire.reset(1, 0xFF)),
        Case(
            "§6.8 GOAWAY", [Wire.goAway(1, debug: "bye")], [closed], ["GOAWAY 0 0 NO_ERROR"]),
        Case(
            "§7 an unknown code of GOAWAY", [Wire.goAway(0, 0xFF)], [closed],
            ["GOAWAY 0 0 NO_ERROR"]),
        .connection("§4.2 a large frame", "FRAME_SIZE_ERROR", Wire.frame(0x16, length: 16_385)),
        .connection("§6.1 DATA on stream 0", "PROTOCOL_ERROR", Wire.data(0, "x")),
        .connection("§5.1 DATA on a closed stream", "STREAM_CLOSED", Wire.data(1, "x")),
        .connection("§5.1 DATA on an idle stream", "PROTOCOL_ERROR", Wire.data(3, "x")),
        .connection("§5.1 HEADERS on a closed stream", "STREAM_CLOSED", Wire.headers(1)),
        .connection("§5.1 HEADERS on an idle stream", "PROTOCOL_ERROR", Wire.headers(3)),
        .connection("§5.1.1 HEADERS on an even stream", "PROTOCOL_ERROR", Wire.headers(2)),
        .connection(
            "§5.1 WINDOW_UPDATE on an idle stream", "PROTOCOL_ERROR", Wire.windowUpdate(3, 1)),
        .connection("§6.4 RST_STREAM on an idle stream", "PROTOCOL_ERROR", Wire.reset(3)),
        .connection("§4.3 a malformed header block", "COMPRESSION_ERROR", Wire.headers(1, [0x40])),
        .connection("§6.10 CONTINUATION", "PROTOCOL_ERROR", Wire.continuation(1, Wire.ok)),
        .connection(
            "§4.3 an interrupted header block", "PROTOCOL_ERROR",
            Wire.headers(1, endsHeaders: false), Wire.priority(1)),
        .connection(
            "§6.3 the length of PRIORITY", "FRAME_SIZE_ERROR",
            Wire.frame(2, stream: 1, [0, 0, 0, 1])),
        .connection(
            "§6.4 the length of RST_STREAM", "FRAME_SIZE_ERROR", Wire.frame(3, stream: 1, [0])),
        .connection("§6.5 the length of SETTINGS", "FRAME_SIZE_ERROR", Wire.frame(4, [0, 0, 0])),
        .connection("§6.5.2 ENABLE_PUSH 1", "PROTOCOL_ERROR", Wire.settings((2, 1))),
        .connection(
            "§6.6 PUSH_PROMISE", "PROTOCOL_ERROR",
            Wire.frame(5, flags: 4, stream: 1, [0, 0, 0, 2] + Wire.ok)),
        .connection("§6.7 the length of PING", "FRAME_SIZE_ERROR", Wire.frame(6, [0, 0, 0, 0])),
        .connection(
            "§6.7 PING on a stream", "PROTOCOL_ERROR",
            Wire.frame(6, stream: 1, [UInt8](repeating: 0, count: 8))),
        .connection(
            "§6.8 GOAWAY on a stream", "PROTOCOL_ERROR",
            Wire.frame(7, stream: 1, [UInt8](repeating: 0, count: 8))),
        .connection("§6.9 an increment of 0", "PROTOCOL_ERROR", Wire.windowUpdate(0, 0)),
        .connection(
            "§6.9.1 the window above 2^31-1", "FLOW_CONTROL_ERROR",
            Wire.windowUpdate(0, 0x7FFF_FFFF)),
    ]

    /// The input arrives on a connection of the pool that carries no request: frames are acknowledged, and a connection
    /// that has ended carries no later request.
    @Test(arguments: idle)
    func onAnIdleConnection(_ item: Case) async throws {
        let hasEnded = DispatchSemaphore(value: 0)
        let (seen, continuation) = AsyncStream.makeStream(of: [String?].self)
        let server = try RawServer { connection in
            guard Self.accept(connection) else { return }
            connection.write(Wire.headers(1, ends: true))
            if connection.number == 1 {
                hasEnded.wait()
                connection.write(item.input + Self.mark)
                continuation.yield(Self.frames(of: connection))
            }
            while let stream = connection.readRequest() { connection.respond(stream: stream) }
        }
        let transport = CurlTransport()
        let first = try await start(on: transport, server).ended()
        #expect(first.error == nil, "\(first.errorText)")
        hasEnded.signal()
        var frames = seen.makeAsyncIterator()
        let isClosed = item.events.last.map { $0 == Self.closed || $0.hasPrefix("failed") } ?? false
        #expect(await frames.next() == item.written.map { $0 } + (isClosed ? [nil] : []))
        let next = try await start(on: transport, server).ended()
        #expect(next.error == nil, "\(next.errorText)")
        #expect(next.end?.timings.reusedConnection == !isClosed)
    }

    /// Bytes in place of the server's SETTINGS (RFC 9113 §3.4).
    @Test(arguments: [
        ("PROTOCOL_ERROR", Wire.ping()), ("PROTOCOL_ERROR", Wire.settingsAcknowledgement),
        ("PROTOCOL_ERROR", Wire.headers(1, ends: true)),
        ("PROTOCOL_ERROR", Wire.windowUpdate(0, 1)),
        ("FRAME_SIZE_ERROR", Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)),
    ])
    func insteadOfSettings(_ code: String, _ bytes: [UInt8]) async throws {
        let (seen, continuation) = AsyncStream.makeStream(of: [String?].self)
        let server = try RawServer { connection in
            guard connection.readBody(24).count == 24, connection.readRequest() != nil else {
                return
            }
            connection.write(bytes + Self.mark)
            continuation.yield(Self.frames(of: connection))
        }
        let transport = CurlTransport()
        let receiver = try start(on: transport, server)
        var frames = seen.makeAsyncIterator()
        #expect(await frames.next() == ["GOAWAY 0 0 \(code)", nil])
        let record = try await receiver.ended()
        #expect(record.error?.code == .badServerResponse, "\(record.errorText)")
        #expect(record.error?.message.contains("does not speak HTTP/2") == true)
    }
}
