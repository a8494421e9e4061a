import ErrandCore
import ErrandCurl
import Foundation
import Testing

/// Where the announced length is all that says where a body ends.
@Suite("Whole by count", .timeLimit(.minutes(2))) struct WholeByCountTests {
    /// The last bytes come out of a pause, and nothing behind them.
    @Test func aPausedReceiverGetsTheEnd() async throws {
        let body = String(repeating: "x", count: 24 << 10)
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            // Only the length says that this is all.
            connection.waitForClose()
        }
        var request = TransportRequest(url: try .test(server.url()))
        request.timeouts = Timeouts(connect: .seconds(60), idle: .seconds(60))
        let recorder = Recorder { $0 == 1 ? .pause : .more }
        let transfer = CurlTransport().start(request, receiver: recorder)
        await recorder.wait { $0.chunks >= 1 }
        transfer.resumeReceiving()
        let record = await recorder.end()
        #expect(record.error == nil)
        #expect(record.body.count == body.utf8.count)
    }
}
