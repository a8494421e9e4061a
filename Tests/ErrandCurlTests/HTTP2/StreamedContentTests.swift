import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Bodies over HTTP/2 whose reader is on another thread.
@Suite(.limited)
struct StreamedContentTests {
    // Less than the first window of a stream, so that the server need not wait.
    private static let body = Data(
        (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) })

    private func request(_ server: RawServer) throws -> TransportRequest {
        var request = TransportRequest(url: try .test(server.url()))
        request.options.httpVersion = .http2PriorKnowledge
        request.options.mayReplay = false
        request.timeouts = Timeouts(connect: .seconds(60), idle: .seconds(60))
        return request
    }

    /// Sends the body in frames of a size, and then the end of the stream.
    private static func server(_ size: Int, isReset: Bool = false) throws -> RawServer {
        try RawServer { connection in
            guard connection.exchangePrefaces(), let stream = connection.readRequest() else {
                return
            }
            connection.write(Wire.headers(stream))
            for start in stride(from: 0, to: body.count, by: size) {
                connection.write(
                    Wire.data(stream, bytes: Array(body[start..<min(start + size, body.count)])))
            }
            connection.write(isReset ? Wire.reset(stream, 2) : Wire.data(stream, ends: true))
            connection.waitForClose()
        }
    }

    @Test(arguments: [100, 5_000, 16_384])
    func readerGetsAllBytesInOrder(size: Int) async throws {
        let server = try Self.server(size)
        let receiver = ChannelReceiver()
        let transport = CurlTransport()
        receiver.start(transport, try request(server))
        let channel = await receiver.channel()
        var bytes = Data()
        while let chunk = try await channel.next() { bytes += chunk }
        #expect(haveSameBytes(bytes, Self.body))
        #expect(receiver.ends == 1 && receiver.error == nil)
    }

    @Test func readerGetsAllBytesBeforeTheError() async throws {
        let server = try Self.server(16_384, isReset: true)
        let receiver = ChannelReceiver()
        let transport = CurlTransport()
        receiver.start(transport, try request(server))
        let channel = await receiver.channel()
        var bytes = Data()
        let error = await #expect(throws: RequestError.self) {
            while let chunk = try await channel.next() { bytes += chunk }
        }
        #expect(error?.code == .connectionLost)
        #expect(haveSameBytes(bytes, Self.body))
        #expect(receiver.ends == 1)
    }

    /// Pauses after each read, and records its calls.
    private final class PausingReceiver: StreamReceiver {
        struct Calls: Sendable {
            var isReading = false
            var reads = 0
            var bytes = 0
            var violations = 0
            var end: TransferEnd?
        }

        private let calls = Mutex(Calls())
        private let (changes, continuation) = AsyncStream.makeStream(of: Calls.self)

        /// Waits for calls that meet a condition, which later calls meet, too.
        func until(_ condition: (Calls) -> Bool) async -> Calls {
            let now = calls.withLock { $0 }
            if condition(now) { return now }
            for await calls in changes where condition(calls) { return calls }
            return now
        }

        private func change<Result>(_ body: (inout Calls) -> Result) -> Result {
            let (result, now) = calls.withLock { calls in
                let result = body(&calls)
                return (result, calls)
            }
            continuation.yield(now)
            return result
        }

        func didReceive(head: ResponseHead) {}

        func didReceive(bytes: UnsafeRawBufferPointer) -> Demand {
            change { calls in
                calls.bytes += bytes.count
                if !calls.isReading { calls.violations += 1 }
                return .more
            }
        }

        func didReceive(chunk: Data) -> Demand { chunk.withUnsafeBytes { didReceive(bytes: $0) } }

        func beginRead() {
            change { calls in
                if calls.isReading { calls.violations += 1 }
                calls.isReading = true
            }
        }

        func endRead() -> Demand {
            change { calls in
                calls.isReading = false
                calls.reads += 1
                return .pause
            }
        }

        func didEnd(_ end: TransferEnd) { change { $0.end = end } }
    }

    /// All content is announced, and none is delivered while the reader is busy; other streams go on.
    @Test func contentWaitsForABusyReader() async throws {
        let server = try RawServer { connection in
            guard connection.exchangePrefaces(), let first = connection.readRequest() else {
                return
            }
            connection.write(Wire.headers(first))
            let part = [UInt8](repeating: 1, count: 8_000)
            connection.write(Wire.data(first, bytes: part))
            // The first part has been read.
            guard let second = connection.readRequest() else { return }
            connection.write(
                Wire.data(first, bytes: part) + Wire.data(first, bytes: part, ends: true))
            connection.respond(stream: second)
            connection.waitForClose()
        }
        let transport = CurlTransport()
        let reader = PausingReceiver()
        let transfer = transport.start(try request(server), receiver: reader)
        let one = await reader.until { $0.reads >= 1 }
        #expect(one.bytes == 8_000)
        let other = RecordingReceiver()
        _ = transport.start(try request(server), receiver: other)
        #expect(try await other.ended().error == nil)
        #expect(await reader.until { _ in true }.bytes == 8_000)
        transfer.resumeReceiving()
        let two = await reader.until { $0.reads >= 2 }
        #expect(two.bytes == 24_000)
        transfer.resumeReceiving()
        let end = await reader.until { $0.end != nil }
        #expect(end.end?.error == nil && end.violations == 0)
    }
}
