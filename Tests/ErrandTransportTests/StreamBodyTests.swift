import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.limited)
struct StreamBodyTests {
    private func stream(_ chunks: [String]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for chunk in chunks { continuation.yield(Data(chunk.utf8)) }
            continuation.finish()
        }
    }

    @Test func chunksArriveInOrder() async throws {
        let source = try HTTPBody.stream { stream(["one ", "", "two ", "three"]) }.makeSource()
        #expect(source.length == nil)
        let drained = await drain(source, pieces: 3)
        #expect(drained.data == Data("one two three".utf8))
        #expect(drained.error == nil)
    }

    @Test func matchingDeclaredLength() async throws {
        let source = try HTTPBody.stream(length: 7) { stream(["one", " ", "two"]) }.makeSource()
        #expect(source.length == 7)
        #expect(await drain(source).data == Data("one two".utf8))
    }

    @Test(arguments: [0, 6, 8])
    func wrongDeclaredLengthFails(length: Int64) async throws {
        let source = try HTTPBody.stream(length: length) { stream(["one", " ", "two"]) }
            .makeSource()
        let drained = await drain(source, pieces: 100)
        #expect(drained.error?.code == .bodyReadFailed)
        #expect(drained.data.count < max(1, length))
    }

    @Test func lastByteIsHeldUntilTheEndOfTheStream() async throws {
        let (chunks, continuation) = AsyncStream<Data>.makeStream()
        let source = try HTTPBody.stream(length: 3) { chunks }.makeSource()
        continuation.yield(Data("abc".utf8))
        var buffer = Data(count: 10)
        var read = BodyRead.wait
        while case .wait = read {
            await withCheckedContinuation { waiter in
                source.whenReadable { waiter.resume() }
            }
            read = buffer.withUnsafeMutableBytes { source.read(into: $0) }
        }
        guard case .bytes(2) = read else {
            Issue.record("read \(read)")
            return
        }
        continuation.yield(Data("d".utf8))
        continuation.finish()
        #expect(await drain(source).error?.code == .bodyReadFailed)
    }

    @Test func negativeLengthIsRejected() {
        let error = #expect(throws: RequestError.self) {
            try HTTPBody.stream(length: -1) { stream([]) }.makeSource()
        }
        #expect(error?.code == .invalidBody)
    }

    private struct Broken: Error {}

    @Test func streamErrorEndsTheRead() async throws {
        let source = try HTTPBody.stream {
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("a".utf8))
                continuation.finish(throwing: Broken())
            }
        }.makeSource()
        let error = try #require(await drain(source).error)
        #expect(error.code == .bodyReadFailed)
        #expect(error.underlying is Broken)
    }

    @Test func errorOfTheStreamFactoryIsThrown() {
        let error = #expect(throws: RequestError.self) {
            try HTTPBody.stream { () throws -> AsyncStream<Data> in throw Broken() }.makeSource()
        }
        #expect(error?.code == .invalidBody)
        #expect(error?.underlying is Broken)
    }

    @Test func rewindMakesANewStream() async throws {
        let count = Mutex(0)
        let source = try HTTPBody.stream { () -> AsyncStream<Data> in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return stream(["run \(number)"])
        }.makeSource()
        #expect(await drain(source).data == Data("run 1".utf8))
        #expect(source.rewind())
        #expect(await drain(source).data == Data("run 2".utf8))
    }

    @Test func pumpReadsNoMoreThanTheBufferHolds() async throws {
        let produced = Mutex(0)
        let chunk = Data(repeating: 1, count: 64 << 10)
        let source = try HTTPBody.stream {
            AsyncStream<Data>(unfolding: {
                let number = produced.withLock { produced in
                    produced += 1
                    return produced
                }
                return number <= 64 ? chunk : nil
            })
        }.makeSource()
        var total = 0
        var most = 0
        var buffer = Data(count: 16 << 10)
        reading: while true {
            switch buffer.withUnsafeMutableBytes({ source.read(into: $0) }) {
            case .bytes(let count): total += count
            case .end: break reading
            case .failed(let error):
                Issue.record(error)
                break reading
            case .wait:
                await withCheckedContinuation { waiter in
                    source.whenReadable { waiter.resume() }
                }
            }
            // The pump may have requested one chunk more than it has buffered.
            most = max(most, produced.withLock { $0 } * chunk.count - total)
        }
        #expect(total == 64 * chunk.count)
        #expect(most <= StreamBodySource.capacity + 2 * chunk.count)
    }

    @Test func closeCancelsThePump() async throws {
        let (ended, continuation) = AsyncStream<Void>.makeStream()
        let source = try HTTPBody.stream {
            AsyncStream<Data> { chunks in
                chunks.onTermination = { _ in continuation.finish() }
            }
        }.makeSource()
        var buffer = Data(count: 10)
        let read = buffer.withUnsafeMutableBytes { source.read(into: $0) }
        guard case .wait = read else {
            Issue.record("read \(read)")
            return
        }
        source.close()
        for await _ in ended {}
        #expect(await drain(source).error?.code == .bodyReadFailed)
    }

    @Test func releasedSourceEndsItsStream() async throws {
        let (ended, continuation) = AsyncStream<Void>.makeStream()
        do {
            let source = try HTTPBody.stream {
                AsyncStream<Data> { chunks in
                    chunks.yield(Data(count: 10))
                    chunks.onTermination = { _ in continuation.finish() }
                }
            }.makeSource()
            var buffer = Data(count: 1)
            _ = buffer.withUnsafeMutableBytes { source.read(into: $0) }
        }
        for await _ in ended {}
    }
}
