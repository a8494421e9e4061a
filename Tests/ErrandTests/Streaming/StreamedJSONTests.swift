import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

struct ExportedRow: Decodable, Equatable, Sendable {
    var id: Int
    var userName: String?
}

/// An endpoint with a decoder of its own.
private final class Export: BaseRequest {
    override var url: EndpointURL { "x" }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.json.keys = .snakeCase
    }
}

/// The sequences of JSON values of a streamed response.
@Suite(.limited) struct StreamedJSONTests {
    private let fixture = AgentFixture()

    private static let rows = [
        ExportedRow(id: 1), ExportedRow(id: 2, userName: "é😀"), ExportedRow(id: 3),
    ]

    /// A body, and the way to read it.
    struct Format: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var body: String
        var values: @Sendable (ResponseStream) -> ResponseStream.JSONValues<ExportedRow>
    }

    private static let formats: [Format] = [
        Format(
            testDescription: "lines",
            body: #"{"id":1}"# + "\n" + #"{"userName":"é😀","id":2}"#
                + "\r\n\n \r\n" + #" {"id": 3}"#,
            values: { $0.jsonLines(of: ExportedRow.self) }),
        Format(
            testDescription: "sequence",
            body: "\u{1E}{\"id\":1}\n\u{1E}\u{1E}"
                + "{\"userName\":\n\"\\u00e9\\uD83D\\uDE00\",\"id\":2}\n\u{1E}{\"id\":3}\n",
            values: { $0.jsonSequence(of: ExportedRow.self) }),
        Format(
            testDescription: "root array",
            body: #"[{"id":1}, {"userName":"é😀","id":2} ,{"id":3}]"#,
            values: { $0.jsonElements(of: ExportedRow.self) }),
        Format(
            testDescription: "nested array",
            body: #"{"items":{},"d":{"x":[{"id":9}],"it\u0065ms":[{"id":1},{"userName":"#
                + #""é😀","id":2},{"id":3}],"more":[4]}}"#,
            values: { $0.jsonElements(of: ExportedRow.self, at: "$.d.items[*]") }),
    ]

    @Test(arguments: formats)
    func everySplitOfABodyGivesTheSameValues(format: Format) async throws {
        let found = try await fixture.readInEverySplit(Data(format.body.utf8)) {
            await read(format.values($0))
        }
        #expect(found.whole.error == nil && found.whole.values == Self.rows)
        #expect(found.differing.isEmpty)
    }

    @Test func emptyBodyHasNoLinesAndNoTexts() async throws {
        for body in [[], [Data("\n \r\n".utf8)]] {
            let lines = try await fixture.stream(body).jsonLines(of: ExportedRow.self)
            #expect(await read(lines) == Elements())
        }
        let texts = try await fixture.stream([]).jsonSequence(of: ExportedRow.self)
        #expect(await read(texts) == Elements())
        let elements = await read(try await fixture.stream([]).jsonElements(of: ExportedRow.self))
        #expect(elements.error?.code == .undecodable)
        #expect(elements.error?.message.contains("ends at byte 0") == true)
        #expect(
            await read(
                try await fixture.stream([Data("[]".utf8)]).jsonElements(of: ExportedRow.self))
                == Elements())
    }

    // MARK: - Errors

    private static let faulty: [(format: Format, place: String)] = [
        (
            Format(
                testDescription: "lines", body: "{\"id\":1}\n\n{\"id\":\"x\"}\n{\"id\":3}\n",
                values: { $0.jsonLines(of: ExportedRow.self) }), "line 3"
        ),
        (
            Format(
                testDescription: "sequence",
                body: "\u{1E}{\"id\":1}\n\u{1E}{\"id\":\"x\"}\n\u{1E}{\"id\":3}\n",
                values: { $0.jsonSequence(of: ExportedRow.self) }), "text 2 of the JSON sequence"
        ),
        (
            Format(
                testDescription: "elements", body: #"{"a":[{"id":1},{"id":"x"},{"id":3}]}"#,
                values: { $0.jsonElements(of: ExportedRow.self, at: "$.a[*]") }),
            "element 2 of $.a[*]"
        ),
    ]

    @Test(arguments: faulty)
    func valueThatCannotBeDecodedIsAnErrorAndTheNextOneFollows(
        format: Format, place: String
    ) async throws {
        let body = Data(format.body.utf8)
        for index in body.indices.dropFirst() {
            let stream = try await fixture.stream(
                [body[..<index], body[index...]].map { Data($0) })
            var iterator = format.values(stream).makeAsyncIterator()
            #expect(try await iterator.next() == ExportedRow(id: 1))
            let error = await #expect(throws: RequestError.self) { try await iterator.next() }
            #expect(error?.code == .undecodable && error?.endpoint == "InlineRequest")
            #expect(error?.message.contains(place) == true)
            #expect(error?.message.contains("$.id") == true, "\(error?.message ?? "")")
            #expect(try await iterator.next() == ExportedRow(id: 3))
            #expect(try await iterator.next() == nil)
            #expect(try await iterator.next() == nil)
        }
    }

    @Test func malformedLineIsAnErrorAndTheNextOneFollows() async throws {
        let stream = try await fixture.stream([Data("{\"id\":1\n{\"id\":2}\n{".utf8)])
        var iterator = stream.jsonLines(of: ExportedRow.self).makeAsyncIterator()
        let first = await #expect(throws: RequestError.self) { try await iterator.next() }
        #expect(first?.message.contains("line 1") == true)
        #expect(try await iterator.next() == ExportedRow(id: 2))
        // The last line has no terminator.
        let last = await #expect(throws: RequestError.self) { try await iterator.next() }
        #expect(last?.code == .undecodable && last?.message.contains("line 3") == true)
        #expect(try await iterator.next() == nil)
    }

    private static let refused: [(body: String, path: String, text: String)] = [
        (#"{"items":[{"id":1}"#, "$.items[*]", "which is incomplete"),
        (#"{"items":[{"id":1}, {"id"#, "$.items[*]", "element 2 of $.items[*]"),
        (#"{"items":[{"id":1}],"x":"#, "$.items[*]", "which is incomplete"),
        (#"{"other":[{"id":1}]}"#, "$.items[*]", "has no array at $.items"),
        (#"{"items":{"id":1}}"#, "$.items[*]", "has an object at $.items"),
        ("7", "$[*]", "has a number at $"),
        (#"[{"id":1}] x"#, "$[*]", "not valid JSON"),
        (#"[{"id":1}]"#, "$.items", "does not end with [*]"),
        (#"[{"id":1}]"#, "items[*]", "does not begin with $"),
        ("", "$..items[*]", "select more than one member"),
    ]

    @Test(arguments: refused)
    func documentOrPathThatCannotBeReadIsAnError(
        body: String, path: String, text: String
    ) async throws {
        let found = try await fixture.readInEverySplit(Data(body.utf8)) {
            await read($0.jsonElements(of: ExportedRow.self, at: path))
        }
        let isPath = text.contains("begin") || text.contains("end with") || text.contains("select")
        #expect(found.whole.error?.code == (isPath ? .unsupported : .undecodable))
        #expect(found.whole.error?.message.contains(text) == true, "\(found.whole)")
        #expect(found.whole.error?.endpoint == "InlineRequest")
        #expect(found.differing.isEmpty)
    }

    @Test func valueAboveTheLimitEndsTheSequence() async throws {
        let body = Data("{\"id\":1}\n{\"id\":22}\n{\"id\":3}\n".utf8)
        let lines = try await fixture.readInEverySplit(body) {
            await read($0.jsonLines(of: ExportedRow.self, maximumLineBytes: 8))
        }
        #expect(lines.whole.values == [ExportedRow(id: 1)] && lines.differing.isEmpty)
        #expect(lines.whole.error?.code == .bodyTooLarge)
        let texts = try await fixture.readInEverySplit(
            Data("\u{1E}{\"id\":1}\n\u{1E}{\"id\":22}\n".utf8)
        ) { await read($0.jsonSequence(of: ExportedRow.self, maximumTextBytes: 8)) }
        #expect(texts.whole.values == [ExportedRow(id: 1)] && texts.differing.isEmpty)
        #expect(texts.whole.error?.code == .bodyTooLarge)
        let elements = try await fixture.readInEverySplit(Data("[{\"id\":1},{\"id\":22}]".utf8)) {
            await read($0.jsonElements(of: ExportedRow.self, maximumElementBytes: 8))
        }
        #expect(elements.whole.values == [ExportedRow(id: 1)] && elements.differing.isEmpty)
        #expect(elements.whole.error?.code == .bodyTooLarge)
    }

    @Test func interruptionIsAnErrorAfterTheCompleteValues() async throws {
        fixture.transport.on(
            .get, "/x", .chunks([Data("{\"id\":1}\n{\"id\":2}".utf8)], then: [.interruption]))
        let stream = try await InlineRequest("x").stream(on: fixture.agent)
        let found = await read(stream.jsonLines(of: ExportedRow.self))
        #expect(found.values == [ExportedRow(id: 1)])
        #expect(found.error?.code == .connectionLost && found.error?.bytesReceived == 17)
    }

    // MARK: - Decoder

    @Test func decoderIsThatOfTheEndpointOrOfTheConfiguration() async throws {
        let body = Data("{\"id\":1,\"user_name\":\"a\"}\n".utf8)
        let expected = [ExportedRow(id: 1, userName: "a")]
        fixture.transport.on(.get, "/x", .chunks([body]))
        let own = try await Export().stream(on: fixture.agent)
        #expect(await read(own.jsonLines(of: ExportedRow.self)).values == expected)
        let other = try await InlineRequest("x").stream(on: fixture.agent)
        #expect(await read(other.jsonLines(of: ExportedRow.self)).values == [ExportedRow(id: 1)])
        let configured = AgentFixture { $0.json.keys = .snakeCase }
        let texts = [Data("\u{1E}".utf8) + body]
        #expect(
            await read(try await configured.stream(texts).jsonSequence(of: ExportedRow.self)).values
                == expected)
        let array = [Data("[".utf8) + body + Data("]".utf8)]
        #expect(
            await read(try await configured.stream(array).jsonElements(of: ExportedRow.self)).values
                == expected)
    }
}
