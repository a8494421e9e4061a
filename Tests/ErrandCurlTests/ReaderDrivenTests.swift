import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Bodies whose reader continues the transfer on its own thread.
@Suite(.limited)
struct ReaderDrivenTests {
    /// The framing of a body.
    enum Framing: CaseIterable, Sendable { case length, smallChunks, largeChunks, untilClose }

    private static let body = Data(
        (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) })

    private static func server(_ framing: Framing, missing: Int = 0) throws -> RawServer {
        try RawServer { connection in
            _ = connection.readHead()
            let end = body.count - missing
            switch framing {
            case .length:
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n")
                connection.write(Array(body[..<end]))
            case .untilClose:
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
                connection.write(Array(body[..<end]))
            case .smallChunks, .largeChunks:
                connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                let size = framing == .smallChunks ? 1000 : 300_000
                for start in stride(from: 0, to: end, by: size) {
                    let part = body[start..<min(end, start + size)]
                    connection.write("\(String(part.count, radix: 16))\r\n")
                    connection.write(Array(part))
                    connection.write("\r\n")
                }
                if missing == 0 { connection.write("0\r\n\r\n") }
            }
        }
    }

    @Test(arguments: Framing.allCases)
    func theReaderGetsAllBytesInOrder(_ framing: Framing) async throws {
        let server = try Self.server(framing)
        let receiver = ChannelReceiver()
        receiver.start(CurlTransport(), TransportRequest(url: try .test(server.url())))
        let channel = await receiver.channel()
        // Chunks that are kept have memory of their own.
        var chunks: [Data] = []
        while let chunk = try await channel.next() { chunks.append(chunk) }
        #expect(haveSameBytes(chunks.reduce(into: Data()) { $0 += $1 }, Self.body))
        #expect(chunks.allSatisfy { $0.startIndex == 0 && !$0.isEmpty })
        #expect(receiver.ends == 1)
    }

    @Test(arguments: [Framing.length, .smallChunks, .largeChunks])
    func theReaderGetsAllBytesBeforeTheError(_ framing: Framing) async throws {
        let server = try Self.server(framing, missing: 1000)
        let receiver = ChannelReceiver()
        receiver.start(CurlTransport(), TransportRequest(url: try .test(server.url())))
        let channel = await receiver.channel()
        var bytes = Data()
        let error = await #expect(throws: RequestError.self) {
            while let chunk = try await channel.next() { bytes += chunk }
        }
        #expect(error?.code == .truncatedBody)
        #expect(haveSameBytes(bytes, Self.body.dropLast(1000)))
        #expect(receiver.ends == 1)
    }

    /// Whether the loop sleeps when the reader asks depends on the schedule, so this repeats until it
    /// does.
    @Test func theReaderRunsTurnsOfTheLoop() async throws {
        while true {
            let server = try Self.server(.length)
            let transport = CurlTransport()
            let receiver = ChannelReceiver()
            receiver.start(transport, TransportRequest(url: try .test(server.url())))
            let channel = await receiver.channel()
            var count = 0
            while let chunk = try await channel.next() { count += chunk.count }
            #expect(count == Self.body.count)
            if transport.callerTurns > 0, receiver.passedChunks > 0 { return }
        }
    }

    @Test func aReaderThatLeavesCancelsTheTransfer() async throws {
        let server = try Self.server(.length)
        let receiver = ChannelReceiver()
        receiver.start(CurlTransport(), TransportRequest(url: try .test(server.url())))
        let channel = await receiver.channel()
        for _ in 0..<3 { _ = try await channel.next() }
        channel.leave()
        await channel.untilEnded()
        #expect(receiver.error?.code == .cancelled)
        #expect(receiver.ends == 1)
    }
}
