import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Transports decode content codings; a body that cannot be decoded is an error.
@Suite("Contract: content encodings", .limited)
struct EncodingContract {
    private let text = Data(String(repeating: "to be encoded ", count: 500).utf8)

    private func encoded(_ encoding: String, _ body: Data) -> LoopbackResponse {
        LoopbackResponse(headers: ["Content-Encoding": encoding], body: body)
    }

    @Test(arguments: TransportKind.wire, ["gzip", "deflate"])
    func contentEncodingIsDecoded(kind: TransportKind, encoding: String) async throws {
        let body = encoding == "gzip" ? Deflate.gzip(text) : Deflate.zlib(text)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in encoded(encoding, body) }
            let record = try await fixture.succeed(fixture.request())
            #expect(haveSameBytes(record.body, text))
            // `Content-Length` gives the encoded size, so the decoded length is unknown.
            #expect(record.head?.contentLength == nil)
            let accepted = fixture.server.requests.first?.header("Accept-Encoding") ?? ""
            #expect(accepted.contains(encoding))
        }
    }

    @Test(arguments: TransportKind.wire)
    func chunkedBodyIsDecoded(kind: TransportKind) async throws {
        let body = Deflate.gzip(text)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                .chunked(
                    headers: ["Content-Encoding": "gzip"],
                    [body.prefix(9), Data(body.dropFirst(9))])
            }
            #expect(try await haveSameBytes(fixture.succeed(fixture.request()).body, text))
        }
    }

    @Test(arguments: TransportKind.wire)
    func emptyBodyWithContentEncodingIsAccepted(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in encoded("gzip", Data()) }
            #expect(try await fixture.succeed(fixture.request()).received == 0)
        }
    }

    @Test(arguments: TransportKind.wire, ["gzip", "unknown"])
    func emptyBodyWithAnyContentEncodingIsAccepted(
        kind: TransportKind, encoding: String
    ) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                .raw(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\nContent-Length: 0\r\n\r\n")
            }
            #expect(try await fixture.succeed(fixture.request()).received == 0)
        }
    }

    @Test(arguments: TransportKind.wire)
    func encodingNoneLeavesTheBodyUnchanged(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in encoded("none", text) }
            #expect(try await haveSameBytes(fixture.succeed(fixture.request()).body, text))
        }
    }

    /// A gzip file may have several members (RFC 1952 §2.2), and like the gzip tool the decoder ignores zero padding.
    @Test(
        arguments: TransportKind.wire(with: .paddedEncoding),
        [(1, 1), (1, 1024), (2, 0), (2, 512)])
    func gzipMembersAndPaddingAreAccepted(kind: TransportKind, count: (Int, Int)) async throws {
        let (members, zeros) = count
        let member = Deflate.gzip(text)
        let body = (0..<members).reduce(Data()) { all, _ in all + member } + Data(count: zeros)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in encoded("gzip", body) }
            let record = try await fixture.succeed(fixture.request())
            #expect(record.received == members * text.count)
        }
    }

    @Test(arguments: TransportKind.wire, ["garbage", "\u{1F}", "\u{0}\u{0}garbage", "\r\n"])
    func bytesAfterTheEncodedBodyFail(kind: TransportKind, extra: String) async throws {
        let body = Deflate.gzip(text) + Data(extra.utf8)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in encoded("gzip", body) }
            try await fixture.fail(fixture.request(), .badContentEncoding)
        }
    }

    @Test(arguments: TransportKind.wire)
    func bodyThatIsNotGzipFails(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in encoded("gzip", Data("not a gzip file".utf8)) }
            let record = try await fixture.fail(
                fixture.request(), .badContentEncoding)
            #expect(record.end?.error?.urlError?.code == .cannotDecodeContentData)
        }
    }

    @Test(arguments: TransportKind.wire, ["checksum", "inside"])
    func corruptBodyFails(kind: TransportKind, fault: String) async throws {
        var body = Deflate.gzip(text)
        body[fault == "checksum" ? body.count - 5 : body.count / 2] ^= 0xFF
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { [body] _ in encoded("gzip", body) }
            try await fixture.fail(fixture.request(), .badContentEncoding)
        }
    }

    /// A body that ends before the end of its encoded data, in a message whose framing is complete.
    @Test(
        arguments: TransportKind.wire(with: .truncatedEncoding), ["gzip", "deflate", "br", "zstd"])
    func truncatedBodyFails(kind: TransportKind, encoding: String) async throws {
        let whole = EncodedText.bytes(in: encoding)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.route("/length") { _ in encoded(encoding, whole.dropLast(9)) }
            fixture.server.route("/chunked") { _ in
                .chunked(headers: ["Content-Encoding": encoding], [whole.dropLast(9)])
            }
            for path in ["/length", "/chunked"] {
                let record = try await fixture.fail(
                    fixture.request(.get, path), .badContentEncoding)
                #expect(record.head?.status.code == 200)
                #expect(record.end?.error?.urlError?.code == .cannotDecodeContentData)
            }
        }
    }

    /// A server may choose any coding for a request without Accept-Encoding (RFC 9110 §12.5.3), and some servers do
    /// so although the request names another one.
    @Test(arguments: TransportKind.wire, ["gzip", "deflate", "br", "zstd"])
    func everyCodingIsDecoded(kind: TransportKind, encoding: String) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in encoded(encoding, EncodedText.bytes(in: encoding)) }
            for headers in [[:], [.acceptEncoding: "identity"]] as [HTTPFields] {
                let record = try await fixture.succeed(fixture.request(headers: headers))
                #expect(haveSameBytes(record.body, EncodedText.text))
            }
        }
    }

    @Test(arguments: TransportKind.wire)
    func decompressionBombFails(kind: TransportKind) async throws {
        let body = Deflate.gzipOfZeros(8 << 20)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in encoded("gzip", body) }
            var request = fixture.request()
            request.options.maximumDecodingRatio = 20
            let receiver = RecordingReceiver(keepsBody: false)
            fixture.start(request, receiver)
            let record = try await receiver.ended()
            #expect(record.end?.error?.code == .bodyTooLarge)
            #expect(record.received <= 20 * body.count)
        }
    }

    @Test(arguments: TransportKind.wire(with: .decodingRatioWithoutLength))
    func decompressionBombWithoutLengthFails(kind: TransportKind) async throws {
        let body = Deflate.gzipOfZeros(8 << 20)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in
                .chunked(headers: ["Content-Encoding": "gzip"], [body])
            }
            var request = fixture.request()
            request.options.maximumDecodingRatio = 20
            try await fixture.fail(request, .bodyTooLarge)
        }
    }

    @Test(arguments: TransportKind.wire)
    func maximumBodyBytesCountsDecodedBytes(kind: TransportKind) async throws {
        let body = Deflate.gzipOfZeros(4 << 20)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in encoded("gzip", body) }
            var request = fixture.request()
            request.options.maximumBodyBytes = 1 << 20
            try await fixture.fail(request, .bodyTooLarge)
        }
    }

    @Test(arguments: TransportKind.wire(with: .undecodedContent))
    func decodingCanBeDisabled(kind: TransportKind) async throws {
        let body = Deflate.gzip(text)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in encoded("gzip", body) }
            var request = fixture.request()
            request.options.decodesContent = false
            let record = try await fixture.succeed(request)
            #expect(haveSameBytes(record.body, body))
            #expect(fixture.server.requests.first?.header("Accept-Encoding") == nil)
        }
    }
}
