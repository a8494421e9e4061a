import ErrandCore
import ErrandCurl
import Foundation
import Synchronization
import Testing

/// A receiver that asks for a break gets it, and everything arrives all the same.
@Suite(.timeLimit(.minutes(5)))
struct BackPressureTests {
    @Test func everyChunkPaused() async throws {
        let size = 3_000_000
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            connection.write(bytes)
        }
        let recorder = Recorder { _ in .pause }
        let transfer = CurlTransport().start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        var chunks = 0
        while recorder.record.ends.isEmpty {
            let seen = chunks
            let record = await recorder.wait { $0.chunks > seen || !$0.ends.isEmpty }
            chunks = record.chunks
            transfer.resumeReceiving()
        }
        #expect(recorder.record.error == nil)
        #expect(recorder.record.body == Data(bytes))
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
        let recorder = Recorder(keepsBody: false) { _ in .pause }
        let transfer = transport.start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        await recorder.wait { $0.chunks == 1 }
        // While a second transfer runs its course, the first gets nothing.
        let other = try ExchangeTests.echo()
        for _ in 0..<50 { _ = try await transport.run(.get, other.url()) }
        #expect(recorder.record.chunks == 1)
        transfer.cancel()
        await recorder.end()
        #expect(written.withLock { $0 } < 100_000_000)
    }

    @Test func resumedBeforeTheNextChunkIsNoPause() async throws {
        let server = try ExchangeTests.echo()
        let recorder = Recorder { _ in .pause }
        let transfer = CurlTransport().start(
            TransportRequest(url: try .test(server.url())), receiver: recorder)
        await recorder.wait { $0.chunks == 1 }
        transfer.resumeReceiving()
        let record = await recorder.end()
        #expect(record.error == nil)
        #expect(record.chunks == 1)
    }

    @Test func uploadWaitsForASlowSource() async throws {
        let server = try ExchangeTests.echo()
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let recorder = Recorder()
        let body = HTTPBody.stream(length: 6) { stream }
        _ = CurlTransport().start(
            TransportRequest(method: .put, url: try .test(server.url()), body: body),
            receiver: recorder)
        for part in ["ab", "cd", "ef"] {
            continuation.yield(Data(part.utf8))
            if part != "ef" { await recorder.wait { $0.sent.last ?? 0 >= 2 } }
        }
        continuation.finish()
        let record = await recorder.end()
        #expect(record.error == nil)
        #expect(String(decoding: record.body, as: UTF8.self).hasSuffix("\r\n\r\nabcdef"))
        #expect(record.sent.last == 6)
    }
}
