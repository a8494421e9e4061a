import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Pausing the receiver stops the transfer without losing data.
@Suite(.limited)
struct BackPressureTests {
    @Test func everyChunkPaused() async throws {
        let size = 3_000_000
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            connection.write(bytes)
        }
        let recorder = RecordingReceiver { _ in .pause }
        let transfer = CurlTransport().start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        var chunks = 0
        while recorder.record.end == nil {
            let seen = chunks
            let record = try await recorder.until { $0.chunks > seen || $0.end != nil }
            chunks = record.chunks
            transfer.resumeReceiving()
        }
        #expect(recorder.record.error == nil)
        #expect(haveSameBytes(recorder.record.body, Data(bytes)))
        #expect(recorder.record.violations.isEmpty)
    }

    @Test func pausedTransferStopsReading() async throws {
        let written = Mutex(0)
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            let chunk = [UInt8](repeating: 1, count: 64 << 10)
            while connection.write(chunk) { written.withLock { $0 += chunk.count } }
        }
        let transport = CurlTransport()
        let recorder = RecordingReceiver(keepsBody: false) { _ in .pause }
        let transfer = transport.start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        try await recorder.until { $0.chunks == 1 }
        // While another transfer runs, the paused transfer receives nothing.
        let other = try PlainRequestTests.echo()
        for _ in 0..<50 { _ = try await transport.run(.get, other.url()) }
        #expect(recorder.record.chunks == 1)
        transfer.cancel()
        _ = try await recorder.ended()
        #expect(written.withLock { $0 } < 100_000_000)
    }

    @Test func resumeBeforeNextChunkContinuesTransfer() async throws {
        let server = try PlainRequestTests.echo()
        let recorder = RecordingReceiver { _ in .pause }
        let transfer = CurlTransport().start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        try await recorder.until { $0.chunks == 1 }
        transfer.resumeReceiving()
        let record = try await recorder.ended()
        #expect(record.error == nil)
        #expect(record.chunks == 1)
    }

    @Test func uploadWaitsForSlowSource() async throws {
        let server = try PlainRequestTests.echo()
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let recorder = RecordingReceiver()
        let body = HTTPBody.stream(length: 6) { stream }
        _ = CurlTransport().start(
            TransportRequest(method: .put, url: try .test(server.url()), body: body),
            receiver: recorder)
        for part in ["ab", "cd", "ef"] {
            continuation.yield(Data(part.utf8))
            if part != "ef" { try await recorder.until { $0.sent >= 2 } }
        }
        continuation.finish()
        let record = try await recorder.ended()
        #expect(record.error == nil)
        #expect(String(decoding: record.body, as: UTF8.self).hasSuffix("\r\n\r\nabcdef"))
        #expect(record.sent == 6)
    }
}
