import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Answers that are not HTTP: a typed error each, and nothing that lasts.
@Suite("Contract: malformed answers", .timeLimit(.minutes(5)))
struct MalformedAnswerContract {
    private func answer(
        _ subject: Subject, _ text: String,
        _ body: (ContractWorld) async throws -> Void
    ) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.server.otherwise { _ in .raw(text) }
            try await body(world)
            world.server.otherwise { _ in LoopbackAnswer(body: "fine") }
            let record = try await world.succeed(world.request())
            #expect(record.body == Data("fine".utf8))
        }
    }

    @Test(
        arguments: Subject.wire,
        [
            "garbage\r\n\r\n", "\u{0}\u{1}\u{2}\u{3}\r\n\r\n", "<html>no head</html>",
            "220 mail ESMTP\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nNo colon here\r\nA: b\r\n\r\n",
        ])
    func isNotHTTP(subject: Subject, text: String) async throws {
        try await answer(subject, text) { world async throws in
            try await world.fail(world.request(), .badServerResponse)
        }
    }

    @Test(
        arguments: Subject.wire,
        ["xyz\r\nabc\r\n0\r\n\r\n", "-1\r\nabc\r\n", "ffffffffffffffffff\r\nabc"])
    func hasABadChunkSize(subject: Subject, chunks: String) async throws {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
        try await answer(subject, text) { world async throws in
            try await world.fail(world.request(), .badServerResponse, .truncatedBody)
        }
    }

    /// Of a head that is cut off there is no body to speak of.
    @Test(arguments: Subject.wire, ["", "\r"])
    func endsBehindItsContentLength(subject: Subject, end: String) async throws {
        try await answer(subject, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n" + end) {
            world async throws in
            let record = try await world.fail(world.request(), .connectionLost)
            #expect(record.head == nil)
        }
    }

    @Test(arguments: Subject.wire, ["-5", "abc", "3, 4", "1e3", "0x10"])
    func hasABadContentLength(subject: Subject, length: String) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabc"
        try await answer(subject, text) { world async throws in
            try await world.fail(world.request(), .badServerResponse)
        }
    }

    @Test(arguments: Subject.wire)
    func hasTwoContentLengths(subject: Subject) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 2\r\n\r\nabc"
        try await answer(subject, text) { world async throws in
            try await world.fail(world.request(), .badServerResponse)
        }
    }

    @Test(arguments: Subject.wire)
    func announcesMoreThanEverComes(subject: Subject) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 4611686018427387904\r\n\r\nabc"
        try await answer(subject, text) { world async throws in
            try await world.fail(world.request(), .truncatedBody)
        }
    }

    @Test(
        arguments: Subject.wire(with: .hugeContentLength),
        ["9223372036854775296", "9223372036854775807", "99999999999999999999"])
    func announcesTheImpossible(subject: Subject, length: String) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nabc"
        try await answer(subject, text) { world async throws in
            try await world.fail(world.request(), .truncatedBody, .badServerResponse)
        }
    }

    @Test(arguments: Subject.wire)
    func floodsWithHeaders(subject: Subject) async throws {
        let lines = (0..<20_000).map { "X-\($0): \(String(repeating: "v", count: 20))\r\n" }
        let text = "HTTP/1.1 200 OK\r\n" + lines.joined() + "Content-Length: 0\r\n\r\n"
        try await answer(subject, text) { world async throws in
            try await world.fail(world.request(), .badServerResponse)
        }
    }

    @Test(arguments: Subject.wire)
    func hasAnEndlessHeaderLine(subject: Subject) async throws {
        let text =
            "HTTP/1.1 200 OK\r\nX-Long: " + String(repeating: "v", count: 1 << 20) + "\r\n\r\n"
        try await answer(subject, text) { world async throws in
            try await world.fail(world.request(), .badServerResponse)
        }
    }

    @Test(arguments: Subject.wire)
    func hasNulInAHeader(subject: Subject) async throws {
        let text = "HTTP/1.1 200 OK\r\nX-Nul: a\u{0}b\r\nContent-Length: 0\r\n\r\n"
        try await answer(subject, text) { world async throws in
            try await world.fail(world.request(), .badServerResponse)
        }
    }

    @Test(arguments: Subject.wire(with: .laxHeaders))
    func isLaxButClear(subject: Subject) async throws {
        let text = "HTTP/1.1 200 OK\nX-Tight:value\nContent-Length: 3\n\nabc"
        try await answer(subject, text) { world async throws in
            let record = try await world.succeed(world.request())
            #expect(record.body == Data("abc".utf8))
            #expect(HTTPField.Name("X-Tight").flatMap { record.head?.headers[$0] } == "value")
        }
    }

    @Test(arguments: Subject.wire(with: .latin1Headers))
    func hasLatin1Headers(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            var bytes = Data("HTTP/1.1 200 OK\r\nX-Text: gr".utf8)
            bytes.append(0xFC)
            bytes.append(contentsOf: "n\r\nContent-Length: 3\r\n\r\nabc".utf8)
            world.server.otherwise { [bytes] _ in LoopbackAnswer(steps: [.bytes(bytes)]) }
            let record = try await world.succeed(world.request())
            #expect(record.body == Data("abc".utf8))
        }
    }
}
