import ErrandTransport
import HTTPTypes
import Testing

@testable import ErrandCurl

/// Bodies become DATA frames, and trailers HEADERS (RFC 9113 §8.1).
struct RequestBodyFramesTests {
    /// A body of pieces; an empty one is a wait.
    // @unchecked: one test uses it.
    private final class PieceSource: BodySource, @unchecked Sendable {
        let length: Int64?
        var pieces: [String]
        var trailers: HTTPFields = [:]
        var failure: RequestError?

        init(_ pieces: [String], length: Int64? = nil) {
            (self.pieces, self.length) = (pieces, length)
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
            if let failure { return .failed(failure) }
            guard let piece = pieces.first else { return .end }
            if piece.isEmpty {
                pieces.removeFirst()
                return .wait
            }
            let count = min(buffer.count, piece.utf8.count)
            buffer.copyBytes(from: Array(piece.utf8).prefix(count))
            pieces[0] = String(piece.dropFirst(count))
            if pieces[0].isEmpty { pieces.removeFirst() }
            return .bytes(count)
        }

        func whenReadable(_ notify: @escaping @Sendable () -> Void) { notify() }
        func rewind() -> Bool { false }
        func close() {}
    }

    /// The steps until the body is complete or cannot go on, and the frames.
    private func steps(
        _ source: PieceSource, _ body: RequestHead.Body, client: TestSession = TestSession(),
        limit: Int = 1_000
    ) -> (steps: [String], frames: [String]) {
        var upload = Upload(source)
        var writer = RequestBodyFrames(body)
        guard let key = client.open(body: true) else { return ([], []) }
        _ = client.written()
        var steps: [String] = []
        while steps.count < 20 {
            switch writer.write(
                from: &upload, on: key, of: &client.session, limit: limit, into: client.output)
            {
            case .frame: steps.append("frame")
            case .complete(let endsStream):
                return (steps + ["complete \(endsStream)"], client.written())
            case .wait: steps.append("wait")
            case .blocked: return (steps + ["blocked"], client.written())
            case .stopped: return (steps + ["stopped"], client.written())
            case .failed: return (steps + ["failed"], client.written())
            }
        }
        return (steps, client.written())
    }

    /// The last byte of a known length ends the stream.
    @Test func knownLength() {
        let source = PieceSource(["abc", "", "de"], length: 5)
        let result = steps(source, RequestHead.Body(length: 5))
        #expect(result.steps == ["frame", "wait", "complete false"])
        #expect(result.frames == ["DATA 1 abc", "DATA 1 de end"])
    }

    /// The end needs no window (RFC 9113 §6.9.1): an empty DATA frame, or the trailers.
    @Test(arguments: [false, true])
    func endNeedsNoWindow(hasTrailers: Bool) throws {
        let client = TestSession(settings: Wire.settings((4, 3)))
        let source = PieceSource(["abc"])
        if hasTrailers {
            let name = try #require(HTTPField.Name("X-Sum"))
            source.trailers.append(HTTPField(name: name, value: "1"))
        }
        let body = RequestHead.Body(trailers: hasTrailers ? ["X-Sum"] : [])
        let result = steps(source, body, client: client)
        #expect(result.steps == ["frame", "complete false"])
        #expect(result.frames.first == "DATA 1 abc" && result.frames.count == 2)
        #expect(result.frames.last?.hasSuffix("end") == true)
        #expect(hasTrailers || result.frames.last == "DATA 1 end")
    }

    /// An announced length of 0 with trailers needs no window either.
    @Test(arguments: [false, true])
    func trailersOfAnEmptyBodyNeedNoWindow(hasTrailers: Bool) {
        let client = TestSession(settings: Wire.settings((4, 0)))
        let source = PieceSource(["", "surplus"], length: 0)
        let body = RequestHead.Body(length: 0, trailers: ["Content-Language"])
        #expect(steps(source, body, client: client).steps == ["wait", "failed"])
        let empty = PieceSource([], length: 0)
        if hasTrailers { empty.trailers = [.contentLanguage: "en"] }
        let result = steps(empty, body, client: client)
        #expect(result.steps == ["complete false"])
        #expect(result.frames == [hasTrailers ? "HEADERS 3 end" : "DATA 3 end"])
    }

    /// Bytes that were read to find the end are sent when the window opens.
    @Test func bodyGoesOnWhenTheWindowOpens() throws {
        let client = TestSession(settings: Wire.settings((4, 3)))
        let source = PieceSource(["abcdefgh"])
        var upload = Upload(source)
        var writer = RequestBodyFrames(RequestHead.Body())
        let key = try #require(client.open(body: true))
        _ = client.written()
        func write() -> String {
            let step = writer.write(
                from: &upload, on: key, of: &client.session, limit: 1_000, into: client.output)
            return switch step {
            case .frame: "frame"
            case .blocked: "blocked"
            case .complete: "complete"
            default: "other"
            }
        }
        #expect(write() == "frame" && write() == "blocked" && write() == "blocked")
        #expect(upload.bytesSent == 3 && !upload.isComplete)
        _ = client.receive(Wire.windowUpdate(key.number, 2))
        #expect(write() == "frame" && write() == "blocked")
        _ = client.receive(Wire.windowUpdate(key.number, 100))
        #expect(write() == "frame" && write() == "complete")
        #expect(client.written() == ["DATA 1 abc", "DATA 1 de", "DATA 1 fgh", "DATA 1 end"])
        #expect(upload.bytesSent == 8 && upload.isComplete)
    }

    @Test func unknownLength() {
        let result = steps(PieceSource(["abcde"]), RequestHead.Body(), limit: 3)
        #expect(result.steps == ["frame", "frame", "complete false"])
        #expect(result.frames == ["DATA 1 abc", "DATA 1 de", "DATA 1 end"])
    }

    @Test(arguments: [nil, 3] as [Int64?])
    func trailers(_ length: Int64?) {
        let source = PieceSource(["abc"], length: length)
        source.trailers = [.contentLanguage: "en"]
        let body = RequestHead.Body(length: length, trailers: ["Content-Language"])
        let result = steps(source, body)
        #expect(result.steps == ["frame", "complete false"])
        #expect(result.frames == ["DATA 1 abc", "HEADERS 1 end"])
        let empty = steps(PieceSource(["abc"], length: length), body)
        #expect(empty.frames == ["DATA 1 abc", "DATA 1 end"])
    }

    @Test func windows() {
        let client = TestSession(settings: Wire.settings((4, 4)))
        let source = PieceSource(["abcdef"], length: 6)
        let result = steps(source, RequestHead.Body(length: 6), client: client)
        #expect(result.steps == ["frame", "blocked"])
        #expect(result.frames == ["DATA 1 abcd"])
    }

    /// A body that cannot be read, or is shorter than announced, ends with the error.
    @Test func failures() {
        let source = PieceSource(["abc"], length: 5)
        let result = steps(source, RequestHead.Body(length: 5))
        #expect(result.steps == ["frame", "failed"])
        #expect(result.frames == ["DATA 1 abc"])
        let broken = PieceSource(["abc"])
        broken.failure = RequestError(.bodyReadFailed, stage: .transport, "It is gone.")
        #expect(steps(broken, RequestHead.Body()).steps == ["failed"])
    }

    @Test func responses() {
        let client = TestSession()
        var upload = Upload(PieceSource(["abc"], length: 3))
        var writer = RequestBodyFrames(RequestHead.Body(length: 3))
        #expect(!writer.isComplete)
        guard let key = client.open(body: true), let refused = client.open(body: true) else {
            Issue.record("No stream was opened.")
            return
        }
        _ = client.receive(Wire.headers(1, ends: true), Wire.headers(3, [0x8D]))
        _ = client.written()
        let stopped = writer.write(
            from: &upload, on: refused, of: &client.session, limit: 9, into: client.output)
        guard case .stopped = stopped else {
            Issue.record("\(stopped)")
            return
        }
        // The response of the other stream is complete, so the stream ends with the request.
        let ended = writer.write(
            from: &upload, on: key, of: &client.session, limit: 9, into: client.output)
        guard case .complete(endsStream: true) = ended else {
            Issue.record("\(ended)")
            return
        }
        #expect(client.written() == ["DATA 1 abc end"])
        #expect(writer.isComplete)
        #expect(client.streamCount == 1)
    }

    @Test func emptyBodies() {
        #expect(RequestBodyFrames(nil).isComplete)
        #expect(RequestBodyFrames(RequestHead.Body(length: 0)).isComplete)
        #expect(!RequestBodyFrames(RequestHead.Body(length: 0, trailers: ["X-Sum"])).isComplete)
    }
}
