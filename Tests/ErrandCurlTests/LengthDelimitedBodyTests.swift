import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Bodies whose end is determined only by the announced length.
@Suite("Body delimited by length", .limited)
struct LengthDelimitedBodyTests {
    /// The last bytes are delivered after a pause, and no data follows them.
    @Test func pausedReceiverGetsCompleteBody() async throws {
        let body = String(repeating: "x", count: 24 << 10)
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            // Only the length marks the end of the body.
            connection.waitForClose()
        }
        var request = TransportRequest(url: try .test(server.url()))
        request.timeouts = Timeouts(connect: .seconds(60), idle: .seconds(60))
        let recorder = RecordingReceiver { $0.chunks == 1 ? .pause : .more }
        let transfer = CurlTransport().start(request, receiver: recorder)
        try await recorder.until { $0.chunks >= 1 }
        transfer.resumeReceiving()
        let record = try await recorder.ended()
        #expect(record.error == nil)
        #expect(record.body.count == body.utf8.count)
    }
}
