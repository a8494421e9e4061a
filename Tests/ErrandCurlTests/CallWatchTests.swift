import ErrandCore
import ErrandCurl
import ErrandTesting
import Testing

/// HTTP/2 servers without TLS that never fall silent, and say nothing: within one call libcurl reads on as long as they do.
@Suite(.timeLimit(.minutes(5)))
struct CallWatchTests {
    /// Empty DATA, PRIORITY, and a kind of frame that does not exist.
    @Test(arguments: [UInt8(0), 2, 99])
    func aFloodDoesNotKeepTheLoop(kind: UInt8) async throws {
        let flooding = try RawServer { connection in
            guard connection.greet(), let stream = connection.readRequest() else { return }
            connection.write(
                RawFrame(
                    kind: RawFrame.Kind.headers, flags: RawFrame.endOfHeaders, stream: stream,
                    payload: RawFrame.status200))
            let payload: [UInt8] = kind == 2 ? [0, 0, 0, 0, 1] : []
            let frame = RawFrame(kind: kind, stream: stream, payload: payload)
            let frames = Array(repeatElement(frame.bytes, count: 5000).joined())
            while connection.write(frames) {}
        }
        let silent = try RawServer { $0.waitForClose() }
        let transport = CurlTransport()
        async let other = transport.run(.get, silent.url()) {
            $0.timeouts = Timeouts(connect: .seconds(60), idle: .milliseconds(100))
        }
        // Its only end is the watch's: the server does not stop.
        let record = try await transport.run(.get, flooding.url()) {
            $0.options.httpVersion = .http2PriorKnowledge
            $0.timeouts = Timeouts(connect: .seconds(60), idle: .seconds(240))
        }
        #expect(record.error != nil)
        #expect(record.violations.isEmpty)
        #expect(try await other.error?.timeout == .idle)
        // The loop goes on.
        let server = try RawServer { connection in
            while connection.readHead() != nil { connection.answer("hi") }
        }
        #expect(try await transport.run(.get, server.url()).error == nil)
    }
}
