import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// A malformed response fails with a typed error and does not affect later requests.
@Suite("Contract: malformed responses", .limited)
struct MalformedResponseContract {
    private func withRawResponse(
        _ kind: TransportKind, _ text: String,
        _ body: (ContractFixture) async throws -> Void
    ) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in .raw(text) }
            try await body(fixture)
            fixture.server.otherwise { _ in LoopbackResponse(body: "fine") }
            let record = try await fixture.succeed(fixture.request())
            #expect(record.body == Data("fine".utf8))
        }
    }

    @Test(
        arguments: TransportKind.wire,
        [
            "garbage\r\n\r\n", "\u{0}\u{1}\u{2}\u{3}\r\n\r\n", "<html>no head</html>",
            "220 mail ESMTP\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nNo colon here\r\nA: b\r\n\r\n",
        ])
    func textThatIsNotHTTPFails(kind: TransportKind, text: String) async throws {
        try await withRawResponse(kind, text) { fixture async throws in
            let record = try await fixture.fail(fixture.request(), .badServerResponse)
            #expect(record.end?.error?.urlError?.code == .badServerResponse)
        }
    }

    @Test(
        arguments: TransportKind.wire,
        ["xyz\r\nabc\r\n0\r\n\r\n", "-1\r\nabc\r\n", "ffffffffffffffffff\r\nabc"])
    func invalidChunkSizeFails(kind: TransportKind, chunks: String) async throws {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
        try await withRawResponse(kind, text) { fixture async throws in
            let record = try await fixture.fail(fixture.request(), .badServerResponse)
            #expect(record.end?.error?.urlError?.code == .badServerResponse)
        }
    }

    /// The `Content-Length` of an incomplete head does not announce a body.
    @Test(arguments: TransportKind.wire, ["", "\r"])
    func headThatEndsAfterContentLengthFails(kind: TransportKind, end: String) async throws {
        try await withRawResponse(kind, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n" + end) {
            fixture async throws in
            let record = try await fixture.fail(fixture.request(), .connectionLost)
            #expect(record.head == nil)
        }
    }

    @Test(arguments: TransportKind.wire, ["-5", "abc", "3, 4", "1e3", "0x10"])
    func invalidContentLengthFails(kind: TransportKind, length: String) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabc"
        try await withRawResponse(kind, text) { fixture async throws in
            try await fixture.fail(fixture.request(), .badServerResponse)
        }
    }

    @Test(arguments: TransportKind.wire)
    func conflictingContentLengthsFail(kind: TransportKind) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 2\r\n\r\nabc"
        try await withRawResponse(kind, text) { fixture async throws in
            try await fixture.fail(fixture.request(), .badServerResponse)
        }
    }

    @Test(arguments: TransportKind.wire)
    func contentLengthAboveTheBodySizeFails(kind: TransportKind) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 4611686018427387904\r\n\r\nabc"
        try await withRawResponse(kind, text) { fixture async throws in
            try await fixture.fail(fixture.request(), .truncatedBody)
        }
    }

    @Test(
        arguments: TransportKind.wire(with: .hugeContentLength),
        ["9223372036854775296", "9223372036854775807"])
    func contentLengthNearTheIntegerLimitFails(kind: TransportKind, length: String) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabc"
        try await withRawResponse(kind, text) { fixture async throws in
            try await fixture.fail(fixture.request(), .truncatedBody)
        }
    }

    /// libcurl ignores such a length and would deliver the body as complete.
    @Test(
        arguments: TransportKind.wire,
        [
            "9223372036854775808", "99999999999999999999", "999999999999999999999999999999",
            "3, 9223372036854775808",
        ])
    func contentLengthBeyondTheIntegerLimitFails(kind: TransportKind, length: String) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabc"
        try await withRawResponse(kind, text) { fixture async throws in
            let record = try await fixture.fail(fixture.request(), .badServerResponse)
            #expect(record.received == 0)
        }
    }

    @Test(arguments: TransportKind.wire)
    func repeatedContentLengthIsAccepted(kind: TransportKind) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc"
        try await withRawResponse(kind, text) { fixture async throws in
            let record = try await fixture.succeed(fixture.request())
            #expect(record.head?.contentLength == 3)
        }
    }

    @Test(arguments: TransportKind.wire)
    func tooManyHeaderFieldsFail(kind: TransportKind) async throws {
        let lines = (0..<20_000).map { "X-\($0): \(String(repeating: "v", count: 20))\r\n" }
        let text = "HTTP/1.1 200 OK\r\n" + lines.joined() + "Content-Length: 0\r\n\r\n"
        try await withRawResponse(kind, text) { fixture async throws in
            try await fixture.fail(fixture.request(), .badServerResponse)
        }
    }

    @Test(arguments: TransportKind.wire)
    func tooLongHeaderLineFails(kind: TransportKind) async throws {
        let text =
            "HTTP/1.1 200 OK\r\nX-Long: " + String(repeating: "v", count: 1 << 20) + "\r\n\r\n"
        try await withRawResponse(kind, text) { fixture async throws in
            try await fixture.fail(fixture.request(), .badServerResponse)
        }
    }

    @Test(arguments: TransportKind.wire)
    func nulInAHeaderFails(kind: TransportKind) async throws {
        let text = "HTTP/1.1 200 OK\r\nX-Nul: a\u{0}b\r\nContent-Length: 0\r\n\r\n"
        try await withRawResponse(kind, text) { fixture async throws in
            try await fixture.fail(fixture.request(), .badServerResponse)
        }
    }

    @Test(arguments: TransportKind.wire(with: .laxHeaders))
    func bareLineFeedsAndMissingSpacesAreAccepted(kind: TransportKind) async throws {
        let text = "HTTP/1.1 200 OK\nX-Tight:value\nContent-Length: 3\n\nabc"
        try await withRawResponse(kind, text) { fixture async throws in
            let record = try await fixture.succeed(fixture.request())
            #expect(record.body == Data("abc".utf8))
            #expect(HTTPField.Name("X-Tight").flatMap { record.head?.headers[$0] } == "value")
        }
    }

    @Test(arguments: TransportKind.wire(with: .latin1Headers))
    func latin1HeaderIsAccepted(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            var bytes = Data("HTTP/1.1 200 OK\r\nX-Text: gr".utf8)
            bytes.append(0xFC)
            bytes.append(contentsOf: "n\r\nContent-Length: 3\r\n\r\nabc".utf8)
            fixture.server.otherwise { [bytes] _ in LoopbackResponse(steps: [.bytes(bytes)]) }
            let record = try await fixture.succeed(fixture.request())
            #expect(record.body == Data("abc".utf8))
        }
    }
}
