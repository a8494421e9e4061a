import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore

/// A body that is read in pieces, for example from a store.
@Suite(.limited) struct ReadingChannelTests {
    private final class Source: Sendable {
        let reads = Mutex<[Range<Int>]>([])
        /// Whether each end was a success.
        let ends = Mutex<[Bool]>([])
        private let failsAt: Int?

        init(failsAt: Int? = nil) { self.failsAt = failsAt }

        func channel(_ count: Int) -> BodyChannel {
            .reading(count: count) { [self] range throws(RequestError) in
                reads.withLock { $0.append(range) }
                if let failsAt, range.contains(failsAt) {
                    throw RequestError(.storeFailed, stage: .cache, "lost")
                }
                return Source.bytes(range)
            } atEnd: { [self] error in
                await Task.yield()
                ends.withLock { $0.append(error == nil) }
            }
        }

        static func bytes(_ range: Range<Int>) -> Data {
            Data(range.map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) })
        }
    }

    @Test(arguments: [0, 1, 262_144, 262_145, 3_000_000])
    func bytesArriveInOrderAndTheEndAfterTheLastStep(count: Int) async throws {
        let source = Source()
        let channel = source.channel(count)
        var body = Data()
        while let chunk = try await channel.next() { body += chunk }
        #expect(body == Source.bytes(0..<count))
        #expect(source.ends.withLock { $0 } == [true])
        #expect(channel.received == Int64(count))
    }

    /// Each piece fills the buffer, so the next one is read when half of it was taken.
    @Test func piecesAreNotReadAheadOfTheReader() async throws {
        let source = Source()
        let channel = source.channel(20 << 20)
        var read = 0
        while let chunk = try await channel.next() {
            read += chunk.count
            let end = source.reads.withLock { $0.last?.upperBound ?? 0 }
            #expect(end - read <= BodyChannel.maximumLimit + (768 << 10))
        }
        #expect(read == 20 << 20)
    }

    @Test func failedReadIsTheEnd() async throws {
        let source = Source(failsAt: 1_000_000)
        let channel = source.channel(3_000_000)
        var body = Data()
        let error = await #expect(throws: RequestError.self) {
            while let chunk = try await channel.next() { body += chunk }
        }
        #expect(error?.message == "lost")
        #expect(body == Source.bytes(0..<(3 * 262_144)))
        #expect(source.ends.withLock { !$0.contains(true) })
    }

    @Test func leavingEndsTheReads() async throws {
        let source = Source()
        var body: StreamedBody? = StreamedBody(source.channel(20 << 20))
        let channel = try #require(body?.channel)
        _ = try await channel.next()
        withExtendedLifetime(body) {}
        body = nil
        await channel.untilEnded()
        #expect(source.reads.withLock { $0.count } < 10)
        #expect(source.ends.withLock { !$0.contains(true) })
    }
}
