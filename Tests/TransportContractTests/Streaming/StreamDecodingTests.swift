import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Content codings of streams are decoded while the body arrives, within the limits of the request.
@Suite("Streams: content codings and trailers", .limited)
struct StreamDecodingTests {
    private static let texts = (1...4).map { Data("part \($0) of the text".utf8) }

    @Test(arguments: TransportKind.wire, ["gzip", "br", "zstd"])
    func eachFlushedPartIsDelivered(kind: TransportKind, coding: String) async throws {
        let texts = Self.texts
        let parts = EncodedParts.parts(of: texts, in: coding)
        try await StreamFixture.with(kind) { fixture async throws in
            let gates = texts.map { _ in Gate() }
            fixture.server.otherwise { _ in
                .chunked(headers: ["Content-Encoding": coding], parts, gates: gates)
            }
            let stream = try await fixture.open { $0.headers[.acceptEncoding] = coding }
            for (text, gate) in zip(texts, gates) {
                // The server sends the next part when this one has been read.
                #expect(try await stream.read(text.count) == text)
                gate.open()
            }
            #expect(try await stream.next() == nil)
        }
    }

    @Test(arguments: TransportKind.wire)
    func decodedSizeIsLimited(kind: TransportKind) async throws {
        let body = Deflate.gzipOfZeros(8 << 20)
        try await StreamFixture.with(kind) {
            $0.transportOptions.maximumBodyBytes = 1 << 20
        } _: { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(headers: ["Content-Encoding": "gzip"], body: body)
            }
            let stream = try await fixture.open { $0.headers[.acceptEncoding] = "gzip" }
            try await expectTooLarge(stream, atMost: 1 << 20)
        }
    }

    @Test(arguments: TransportKind.wire)
    func decodingRatioIsLimited(kind: TransportKind) async throws {
        let body = Deflate.gzipOfZeros(8 << 20)
        try await StreamFixture.with(kind) {
            $0.transportOptions.maximumDecodingRatio = 20
        } _: { fixture async throws in
            fixture.server.otherwise { _ in
                LoopbackResponse(headers: ["Content-Encoding": "gzip"], body: body)
            }
            let stream = try await fixture.open { $0.headers[.acceptEncoding] = "gzip" }
            try await expectTooLarge(stream, atMost: Int64(20 * body.count))
        }
    }

    @Test(arguments: TransportKind.wire(with: .decodingRatioWithoutLength))
    func decodingRatioIsLimitedWithoutALength(kind: TransportKind) async throws {
        let body = Deflate.gzipOfZeros(8 << 20)
        try await StreamFixture.with(kind) {
            $0.transportOptions.maximumDecodingRatio = 20
        } _: { fixture async throws in
            fixture.server.otherwise { _ in
                .chunked(headers: ["Content-Encoding": "gzip"], [body])
            }
            try await expectTooLarge(fixture.open(), atMost: Int64(20 * body.count))
        }
    }

    /// Reads a stream to its end, which must be the limit.
    private func expectTooLarge(
        _ stream: StreamFixture.Opened, atMost limit: Int64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = await #expect(throws: RequestError.self, sourceLocation: sourceLocation) {
            while try await stream.next() != nil {}
        }
        #expect(error?.code == .bodyTooLarge, sourceLocation: sourceLocation)
        #expect(error?.bytesReceived ?? .max <= limit, sourceLocation: sourceLocation)
    }

    @Test(arguments: TransportKind.wire(with: .trailers))
    func trailersAreInTheResponseOfTheTask(kind: TransportKind) async throws {
        try await StreamFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                .chunked([Data("one".utf8)], gates: [], trailers: ["X-Sum": "7"])
            }
            let stream = try await fixture.open()
            #expect(stream.response.trailers.isEmpty)
            #expect(try await stream.read(4) == Data("one".utf8))
            let response = try await stream.task.response()
            #expect(response.trailers[try #require(HTTPField.Name("X-Sum"))] == "7")
        }
    }
}

/// Texts in a content coding, each of which can be decoded when its part has arrived.
enum EncodedParts {
    /// One part for each text, and one that ends the stream.
    static func parts(of texts: [Data], in coding: String) -> [Data] {
        switch coding {
        case "gzip": Deflate.flushedGzip(texts)
        case "br": brotli(texts)
        default: zstandard(texts)
        }
    }

    /// Uncompressed meta-blocks (RFC 7932 §9.2); the first one follows the window size.
    private static func brotli(_ texts: [Data]) -> [Data] {
        texts.enumerated().map { index, text in
            let header = (text.count - 1) << 3 | 1 << 19
            return littleEndian(index == 0 ? header << 4 | 0xB : header) + text
        } + [Data([0x03])]
    }

    /// Raw blocks of a frame with a window of 128 KiB (RFC 8878 §3.1.1).
    private static func zstandard(_ texts: [Data]) -> [Data] {
        let header = Data([0x28, 0xB5, 0x2F, 0xFD, 0, 0x38])
        return texts.enumerated().map { index, text in
            (index == 0 ? header : Data()) + littleEndian(text.count << 3) + text
        } + [littleEndian(1)]
    }

    private static func littleEndian(_ value: Int) -> Data {
        Data((0..<3).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }
}
