import ErrandCore
import ErrandCurl
import ErrandTesting
import TestSupport
import Testing

/// HTTP/2 servers without TLS that send endless frames without content: libcurl reads them within
/// one call.
@Suite(.limited, .bothEngines)
struct StallWatchdogTests {
    /// Empty DATA, PRIORITY, and an unknown frame type.
    @Test(arguments: [UInt8(0), 2, 99])
    func endlessFramesDoNotBlockLoop(kind: UInt8) async throws {
        let flooding = try RawServer { connection in
            guard connection.exchangePrefaces(), let stream = connection.readRequest() else {
                return
            }
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
        let transport = CurlTransport.tested()
        async let other = transport.run(.get, silent.url()) {
            $0.timeouts = Timeouts(connect: .seconds(60), idle: .milliseconds(100))
        }
        // Only the watchdog can end this transfer: the server does not stop.
        let record = try await transport.run(.get, flooding.url()) {
            $0.options.httpVersion = .http2PriorKnowledge
            $0.timeouts = Timeouts(connect: .seconds(60), idle: .seconds(240))
        }
        #expect(record.error != nil)
        #expect(record.violations.isEmpty)
        #expect(try await other.error?.timeout == .idle)
        // The loop continues.
        let server = try RawServer { connection in
            while connection.readHead() != nil { connection.respond("hi") }
        }
        #expect(try await transport.run(.get, server.url()).error == nil)
    }
}
