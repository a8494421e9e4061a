import ErrandHTTP
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandTransport

/// Request bodies with a bandwidth limit.
@Suite(.limited) struct PacedBodyTests {
    static let bytes = Data((0..<4000).map { UInt8(truncatingIfNeeded: $0) })

    enum Kind: String, CaseIterable {
        case data, file, stream, streamOfKnownLength, multipart

        func body(_ file: TemporaryFile) -> HTTPBody {
            switch self {
            case .data: return .data(bytes)
            case .file: return .file(file.url)
            case .stream: return .stream { chunks }
            case .streamOfKnownLength: return .stream(length: Int64(bytes.count)) { chunks }
            case .multipart:
                return .multipart([.file("file", file.url)])
            }
        }

        private var chunks: AsyncStream<Data> {
            AsyncStream { continuation in
                for start in stride(from: 0, to: bytes.count, by: 900) {
                    continuation.yield(bytes[start..<min(start + 900, bytes.count)])
                }
                continuation.finish()
            }
        }
    }

    /// Reads a body to its end while the clock advances; no byte comes before its time.
    private func read(_ source: any BodySource, _ clock: ManualClock) async throws -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            switch buffer.withUnsafeMutableBytes({ source.read(into: $0) }) {
            case .bytes(let count):
                data += buffer[..<count]
                #expect(Double(data.count) / 1000 <= clock.uptime / .seconds(1) + 0.1)
            case .end: return data
            case .failed(let error): throw error
            case .wait:
                let (reads, read) = AsyncStream.makeStream(of: Void.self)
                source.whenReadable { read.finish() }
                let advancing = Task {
                    while !Task.isCancelled {
                        clock.advance(by: .milliseconds(5))
                        await Task.yield()
                    }
                }
                for await _ in reads {}
                advancing.cancel()
            }
        }
    }

    @Test(arguments: Kind.allCases) func bodiesAreReadNoFasterThanTheLimit(kind: Kind) async throws
    {
        let file = try TemporaryFile(Self.bytes)
        let clock = ManualClock()
        let limit = BandwidthLimit(
            bytesPerSecond: nil, uploadBytesPerSecond: 1000, clock: clock)
        let body = kind.body(file)
        let source = try body.limited(by: limit).makeSource()
        #expect(source.length == (try body.makeSource().length))
        let sent = try await read(source, clock)
        #expect(kind == .multipart ? sent.count > 4000 : sent == Self.bytes)
        #expect(clock.uptime >= .seconds(Double(sent.count) / 1000 - 0.1))
        #expect(source.rewind() == body.isReplayable)
        let again = try await read(source, clock)
        #expect(again == sent)
        source.close()
        withExtendedLifetime(file) {}
    }

    @Test func changeOfTheLimitHasAnEffectAtOnce() async throws {
        let limit = BandwidthLimit(
            bytesPerSecond: nil, uploadBytesPerSecond: 1, clock: ManualClock())
        let source = try HTTPBody.data(Self.bytes).limited(by: limit).makeSource()
        var buffer = [UInt8](repeating: 0, count: 8192)
        guard case .wait = buffer.withUnsafeMutableBytes({ source.read(into: $0) }) else {
            Issue.record("The first byte did not wait.")
            return
        }
        await withCheckedContinuation { continuation in
            source.whenReadable { continuation.resume() }
            limit.uploadBytesPerSecond = nil
        }
        var count = 0
        while case .bytes(let more) = buffer.withUnsafeMutableBytes({ source.read(into: $0) }) {
            count += more
        }
        #expect(count == Self.bytes.count)
    }

    @Test func limitBelowOneIsRefusedBeforeTheBodyIsOpened() {
        let limit = BandwidthLimit(bytesPerSecond: nil, uploadBytesPerSecond: 0)
        let error = #expect(throws: RequestError.self) {
            try HTTPBody.data(Self.bytes).limited(by: limit).makeSource()
        }
        #expect(error?.code == .invalidConfiguration)
    }

    /// A wait that the source does not know yet would last until the end of its time.
    @Test func waitOfABodyThatIsClosedWhileItsBytesAreCountedEnds() async throws {
        let clock = HookedClock()
        let lane = BandwidthLane("limit of sent bytes", bytesPerSecond: 1, clock: clock)
        let source = PacedBodySource(EmptySource(), lane)
        clock.whenRead { source.close() }
        let result = [UInt8](repeating: 0, count: 10).withUnsafeBytes {
            source.read(into: UnsafeMutableRawBufferPointer(mutating: $0))
        }
        guard case .wait = result else {
            Issue.record("The source did not wait.")
            return
        }
        await clock.untilAwake()
    }

    private final class EmptySource: BodySource {
        var length: Int64? { nil }
        func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead { .end }
        func whenReadable(_ notify: @escaping @Sendable () -> Void) { notify() }
        func rewind() -> Bool { true }
        func close() {}
    }
}
