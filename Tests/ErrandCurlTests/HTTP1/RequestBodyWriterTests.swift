import ErrandTransport
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ErrandCurl

/// Request bodies are framed by their length or in chunks.
struct RequestBodyWriterTests {
    /// Delivers pieces of a body; an empty piece means that the next one is not available yet.
    private final class PieceSource: BodySource {
        let length: Int64?
        private let pieces: Mutex<[[UInt8]]>
        private let failure: RequestError?
        let trailers: HTTPFields

        init(
            _ pieces: [[UInt8]], length: Int64?, failure: RequestError? = nil,
            trailers: HTTPFields = [:]
        ) {
            self.trailers = trailers
            self.pieces = Mutex(pieces)
            self.length = length
            self.failure = failure
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
            pieces.withLock { pieces in
                guard let piece = pieces.first else {
                    return failure.map { .failed($0) } ?? .end
                }
                let count = min(piece.count, buffer.count)
                buffer.copyBytes(from: piece[..<count])
                if count == piece.count {
                    pieces.removeFirst()
                } else {
                    pieces[0].removeFirst(count)
                }
                return piece.isEmpty ? .wait : .bytes(count)
            }
        }

        func whenReadable(_ notify: @escaping @Sendable () -> Void) { notify() }

        func rewind() -> Bool { false }

        func close() {}
    }

    /// Everything that a writer sends, the number of waits, and the error, if any.
    private func send(
        _ pieces: [[UInt8]], as length: RequestWriter.BodyLength, announced: Int64? = nil,
        limit: Int, failure: RequestError? = nil, trailers: HTTPFields = [:]
    ) -> (text: String, waits: Int, error: RequestError?) {
        var upload = Upload(
            PieceSource(pieces, length: announced, failure: failure, trailers: trailers))
        var writer = RequestBodyWriter(length)
        let buffer = TextBuffer(capacity: 8)
        var waits = 0
        // Each piece needs at most one step per byte.
        for _ in 0..<10_000 {
            let before = buffer.count
            switch writer.write(from: &upload, into: buffer, limit: limit) {
            case .bytes: #expect(buffer.count > before && !writer.isComplete)
            case .wait:
                #expect(buffer.count == before)
                waits += 1
            case .failed(let error):
                #expect(buffer.count == before)
                return (String(decoding: buffer.contents, as: UTF8.self), waits, error)
            case .complete:
                #expect(writer.isComplete)
                return (String(decoding: buffer.contents, as: UTF8.self), waits, nil)
            }
        }
        Issue.record("The body does not end.")
        return ("", waits, nil)
    }

    @Test func bodyWithLengthIsSentUnchanged() {
        for limit in [1, 2, 3, 100] {
            let sent = send(
                [Array("hel".utf8), [], Array("lo".utf8)], as: .bytes(5), announced: 5,
                limit: limit)
            #expect(sent.text == "hello")
            #expect(sent.waits == 1 && sent.error == nil)
        }
    }

    @Test func emptyBodyIsComplete() {
        #expect(RequestBodyWriter(.none).isComplete)
        #expect(RequestBodyWriter(.bytes(0)).isComplete)
        #expect(!RequestBodyWriter(.chunked()).isComplete)
        #expect(send([], as: .chunked(), limit: 10).text == "0\r\n\r\n")
    }

    @Test(arguments: [
        (1, "1\r\nh\r\n1\r\ni\r\n0\r\n\r\n"), (2, "2\r\nhi\r\n0\r\n\r\n"),
        (15, "2\r\nhi\r\n0\r\n\r\n"), (16, "2\r\nhi\r\n0\r\n\r\n"),
        (65_536, "2\r\nhi\r\n0\r\n\r\n"),
    ])
    func bodyWithoutLengthIsChunked(limit: Int, expected: String) {
        #expect(send([Array("hi".utf8)], as: .chunked(), limit: limit).text == expected)
    }

    @Test func trailersFollowLastChunk() throws {
        let trailers: HTTPFields = [try #require(HTTPField.Name("X-Sum")): "9"]
        let sent = send(
            [[0x61], []], as: .chunked(trailers: ["X-Sum"]), limit: 10, trailers: trailers)
        #expect(sent.text == "1\r\na\r\n0\r\nX-Sum: 9\r\n\r\n")
        #expect(sent.waits == 1)
    }

    @Test(arguments: [RequestWriter.BodyLength.chunked(), .bytes(5)])
    func failedSourceDoesNotCompleteBody(length: RequestWriter.BodyLength) {
        let error = RequestError(.bodyReadFailed, stage: .transport, "test")
        let sent = send(
            [[0x61]], as: length, announced: length == .bytes(5) ? 5 : nil, limit: 10,
            failure: error)
        #expect(sent.error?.code == .bodyReadFailed)
        #expect(!sent.text.contains("0\r\n"))
    }

    @Test(arguments: [Int64(3), 30])
    func bodyOfWrongLengthFails(announced: Int64) {
        let sent = send(
            [Array("0123456789".utf8)], as: .bytes(announced), announced: announced, limit: 100)
        #expect(sent.error?.code == .bodyReadFailed)
    }

    /// Random pieces and limits; a parser of responses reads the chunks back.
    @Test(arguments: 0..<20)
    func chunksAreReadBack(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let pieces = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                (0..<Int.random(in: 0...400, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            }
            let limit = Int.random(in: 1...600, using: &random)
            var upload = Upload(PieceSource(pieces, length: nil))
            var writer = RequestBodyWriter(.chunked())
            let buffer = TextBuffer(capacity: 8)
            buffer.append("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while !writer.isComplete {
                _ = writer.write(from: &upload, into: buffer, limit: limit)
            }
            var cache = FieldCache()
            let parsed = ParsedStream([Array(buffer.contents)[...]], cache: &cache)
            #expect(parsed.outcome == .complete(keepsConnection: true))
            #expect(parsed.body == pieces.flatMap { $0 })
        }
    }
}
