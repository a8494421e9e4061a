import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// The trailers of a body are known when its source ends, and are made again for each attempt.
@Suite(.limited)
struct TrailingBodyTests {
    private struct Broken: Error {}

    private let sum = HTTPField.Name("X-Sum")

    private func stream(_ chunks: [String]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for chunk in chunks { continuation.yield(Data(chunk.utf8)) }
            continuation.finish()
        }
    }

    /// A body with the sum of its bytes as a trailer.
    private func summed(_ body: HTTPBody) -> HTTPBody {
        body.trailers([.custom("X-Sum")], into: 0) { sum, bytes in
            for byte in bytes { sum += Int(byte) }
        } fields: { sum in
            [.custom("X-Sum"): "\(sum)"]
        }
    }

    @Test func trailersAreComputedFromTheBytes() async throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString)")
        try Data("abc".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let name = try #require(sum)
        let bodies: [HTTPBody] = [
            .string("abc"), .file(file), .stream { stream(["a", "", "bc"]) },
            .stream(length: 3) { stream(["ab", "c"]) }, .data(Data()),
        ]
        for body in bodies {
            let body = summed(body)
            #expect(body.trailerNames == ["X-Sum"])
            let source = try body.makeSource(sendsTrailers: true)
            #expect(source.length == body.knownLength || body.knownLength == nil)
            #expect(source.trailers.isEmpty)
            let drained = await drain(source, pieces: 2)
            let isEmpty = drained.data.isEmpty
            #expect(drained.error == nil && (isEmpty || drained.data == Data("abc".utf8)))
            #expect(source.trailers == [name: isEmpty ? "0" : "294"])
            // Another attempt begins with a new state.
            #expect(source.rewind())
            #expect(source.trailers.isEmpty)
            #expect(await drain(source).data == drained.data)
            #expect(source.trailers == [name: isEmpty ? "0" : "294"])
        }
    }

    @Test func closureIsCalledOncePerAttemptAfterTheBody() async throws {
        let calls = Mutex(0)
        let body = HTTPBody.string("abc").trailers([.custom("x-count"), .custom("X-Other")]) {
            let count = calls.withLock { calls in
                calls += 1
                return calls
            }
            return [.custom("X-Count"): "\(count)"]
        }
        let source = try body.makeSource(sendsTrailers: true)
        var byte: UInt8 = 0
        _ = withUnsafeMutableBytes(of: &byte) { source.read(into: $0) }
        #expect(calls.withLock { $0 } == 0)
        #expect(source.rewind())
        _ = await drain(source)
        #expect(calls.withLock { $0 } == 1)
        #expect(source.rewind())
        _ = await drain(source)
        #expect(source.trailers == [try #require(HTTPField.Name("X-Count")): "2"])
    }

    @Test func invalidTrailersFailTheBody() async throws {
        let failures: [(RequestError.Code, @Sendable () throws -> HTTPFields)] = [
            (.invalidHeader, { [.custom("X-Unannounced"): "1"] }),
            (.bodyReadFailed, { throw Broken() }),
            (.unsupported, { throw RequestError(.unsupported, stage: .build, "own") }),
        ]
        for (code, make) in failures {
            let body = HTTPBody.string("abc").trailers([.custom("X-Sum")]) { try make() }
            let source = try body.makeSource(sendsTrailers: true)
            let error = try #require(await drain(source).error)
            #expect(error.code == code && !error.message.contains("hush"))
            #expect((error.underlying is Broken) == (code == .bodyReadFailed))
            #expect(source.trailers.isEmpty)
        }
    }

    @Test func transportThatSendsNoTrailersGetsNoSource() {
        let error = #expect(throws: RequestError.self) { try summed(.string("a")).makeSource() }
        #expect(error?.code == .unsupported && error?.message.contains("CurlTransport") == true)
    }

    @Test func trailersOfAPartAreRefused() {
        let part = HTTPBody.Part(name: "a", body: summed(.string("a")))
        let error = #expect(throws: RequestError.self) {
            try HTTPBody.multipart([part]).makeSource()
        }
        #expect(error?.code == .invalidBody)
    }

    @Test func closingCancelsTheClosure() async throws {
        let (started, start) = AsyncStream<Void>.makeStream()
        let (cancelled, cancel) = AsyncStream<Void>.makeStream()
        let body = HTTPBody.data(Data()).trailers([.custom("X-Sum")]) {
            start.finish()
            await withTaskCancellationHandler {
                for await _ in AsyncStream<Void>.makeStream().stream {}
            } onCancel: {
                cancel.finish()
            }
            return [:]
        }
        let source = try body.makeSource(sendsTrailers: true)
        var byte: UInt8 = 0
        guard case .wait = withUnsafeMutableBytes(of: &byte, { source.read(into: $0) }) else {
            Issue.record("The source does not wait for its trailers.")
            return
        }
        for await _ in started {}
        source.close()
        for await _ in cancelled {}
        guard case .failed = withUnsafeMutableBytes(of: &byte, { source.read(into: $0) }) else {
            Issue.record("A closed source can be read.")
            return
        }
    }

    @Test func streamThatIsNotReplayableStaysSo() async throws {
        let body = summed(.stream(isReplayable: false) { stream(["a"]) })
        #expect(!body.isReplayable && !body.isConsumed)
        let source = try body.makeSource(sendsTrailers: true)
        _ = await drain(source)
        #expect(!source.rewind())
        #expect(body.isConsumed)
    }
}
