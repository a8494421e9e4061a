import ErrandHTTP
import Foundation
import TestSupport
import Testing

@testable import ErrandCore

struct ServerSentEventTests {
    /// The events of a stream, and the state of the parser after it.
    struct Stream: Equatable {
        var events: [ServerSentEvent] = []
        var lastEventID = ""
        var reconnectionTime: Duration?
        var error: String?

        init(_ chunks: [[UInt8]], maximum: Int = 1000, lastEventID: String = "") {
            var parser = ServerSentEvent.Parser(
                maximumEventBytes: maximum, lastEventID: lastEventID)
            do {
                for chunk in chunks {
                    try chunk.asInput { input throws(RequestError) in
                        while let event = try parser.next(in: &input) { events.append(event) }
                        #expect(input.isEmpty)
                    }
                }
            } catch let fault {
                error = fault.message
            }
            self.lastEventID = parser.lastEventID
            reconnectionTime = parser.reconnectionTime
        }

        /// The stream in every split, after a check that all splits give the same.
        static func inEverySplit(
            _ bytes: [UInt8], maximum: Int = 1000, lastEventID: String = "",
            sourceLocation: SourceLocation = #_sourceLocation
        ) -> Stream {
            let whole = Stream([bytes], maximum: maximum, lastEventID: lastEventID)
            for chunks in Chunks.all(of: bytes) {
                let split = Stream(chunks, maximum: maximum, lastEventID: lastEventID)
                #expect(split == whole, "\(chunks)", sourceLocation: sourceLocation)
            }
            return whole
        }

        static func inEverySplit(
            _ text: String, maximum: Int = 1000, lastEventID: String = "",
            sourceLocation: SourceLocation = #_sourceLocation
        ) -> Stream {
            inEverySplit(
                Array(text.utf8), maximum: maximum, lastEventID: lastEventID,
                sourceLocation: sourceLocation)
        }
    }

    private static func events(
        _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [ServerSentEvent] {
        let stream = Stream.inEverySplit(text, sourceLocation: sourceLocation)
        #expect(stream.error == nil, sourceLocation: sourceLocation)
        return stream.events
    }

    // MARK: - Examples of the HTML standard

    @Test
    func eventWithThreeDataLines() {
        let events = Self.events("data: YHOO\ndata: +2\ndata: 10\n\n")
        #expect(events == [ServerSentEvent(data: "YHOO\n+2\n10")])
    }

    @Test
    func commentsAndIDsOfFourBlocks() {
        let stream = Stream.inEverySplit(
            """
            : test stream

            data: first event
            id: 1

            data:second event
            id

            data:  third event


            """)
        #expect(
            stream.events == [
                ServerSentEvent(data: "first event", id: "1"),
                ServerSentEvent(data: "second event", id: ""),
                ServerSentEvent(data: " third event", id: ""),
            ])
        #expect(stream.lastEventID == "")
    }

    @Test
    func dataWithoutValueAndIncompleteLastEvent() {
        let events = Self.events("data\n\ndata\ndata\n\ndata:")
        #expect(events == [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")])
    }

    @Test
    func spaceAfterTheColonIsOptional() {
        let events = Self.events("data:test\n\ndata: test\n\n")
        #expect(events == [ServerSentEvent(data: "test"), ServerSentEvent(data: "test")])
    }

    @Test
    func eventsOfSeveralTypes() {
        let events = Self.events(
            "event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\nevent: add\ndata: 113411\n\n"
        )
        #expect(
            events == [
                ServerSentEvent(type: "add", data: "73857293"),
                ServerSentEvent(type: "remove", data: "2153"),
                ServerSentEvent(type: "add", data: "113411"),
            ])
    }

    // MARK: - Rules

    private static let cases: [(text: String, events: [ServerSentEvent])] = [
        // Terminators, also mixed within a block.
        ("data: a\r\rdata: b\r\n\r\ndata: c\n\n", ["a", "b", "c"].map { .init(data: $0) }),
        ("data: a\rdata: b\r\ndata: c\n\r", [.init(data: "a\nb\nc")]),
        ("data: a\r\n\n", [.init(data: "a")]),
        ("data: a\n\n\n\r\n\rdata: b\n\n", [.init(data: "a"), .init(data: "b")]),
        // One byte order mark at the start is ignored.
        ("\u{FEFF}data: a\n\n", [.init(data: "a")]),
        ("\u{FEFF}\ndata: a\n\n", [.init(data: "a")]),
        ("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [.init(data: "b")]),
        ("data: a\n\n\u{FEFF}data: b\n\n", [.init(data: "a")]),
        ("data: \u{FEFF}a\n\n", [.init(data: "\u{FEFF}a")]),
        // Names are compared exactly; other fields and comments are ignored.
        ("Data: a\n data: b\ndata : c\ndatum: d\n:data: e\ndata: f\n\n", [.init(data: "f")]),
        (":\n:comment\ndata: a\n: comment\n\n", [.init(data: "a")]),
        ("data\u{301}: a\ndata: b\n\n", [.init(data: "b")]),
        // One space is removed; only the first colon separates.
        ("data:   a: b \n\n", [.init(data: "  a: b ")]),
        ("data:\ta\n\n", [.init(data: "\ta")]),
        ("data: \n\n", [.init(data: "")]),
        ("data:\ndata:\ndata:\n\n", [.init(data: "\n\n")]),
        // A block without data is not an event and resets the type.
        ("event: x\n\ndata: a\n\n", [.init(data: "a")]),
        ("event: x\nevent: y\ndata: a\n\n", [.init(type: "y", data: "a")]),
        ("event: x\nevent\ndata: a\n\n", [.init(data: "a")]),
        ("event: message\u{0} \ndata: a\n\n", [.init(type: "message\u{0} ", data: "a")]),
        // The ID persists; one that contains NUL is ignored.
        (
            "id: 1\ndata: a\n\ndata: b\n\nid:2\nid: x\0\ndata: c\n\n",
            [.init(data: "a", id: "1"), .init(data: "b", id: "1"), .init(data: "c", id: "2")]
        ),
        ("id: 1\n\ndata: a\n\n", [.init(data: "a", id: "1")]),
        // The end of the stream discards an incomplete event.
        ("data: a\n", []),
        ("data: a\n\ndata: b\r\n", [.init(data: "a")]),
        ("data: a\n\ndata: b", [.init(data: "a")]),
        ("", []), ("\n\n", []), ("\u{FEFF}", []),
        ("data: ä€😀\ndata: \0\n\n", [.init(data: "ä€😀\n\0")]),
    ]

    @Test(arguments: cases)
    func fieldsAreInterpretedAsTheStandardSays(text: String, events: [ServerSentEvent]) {
        #expect(Self.events(text) == events)
    }

    private static let times: [(value: String, time: Duration?)] = [
        (": 1500", .milliseconds(1500)), (":0", .zero), (": 007", .milliseconds(7)),
        (": 1500 ", nil), (":  1", nil), (": -1", nil), (": +1", nil), (": 1.5", nil), (":", nil),
        ("", nil), (": 1e3", nil), (": ١", nil),
        (": 99999999999999999999999999", .seconds(1 << 32)),
    ]

    @Test(arguments: times)
    func reconnectionTimeConsistsOfDigits(value: String, time: Duration?) {
        let stream = Stream.inEverySplit("retry\(value)\n")
        #expect(stream.reconnectionTime == time)
        #expect(stream.events.isEmpty)
        // An invalid value does not change the time.
        let second = Stream.inEverySplit("retry: 3\nretry\(value)\n\n")
        #expect(second.reconnectionTime == time ?? .milliseconds(3))
    }

    @Test
    func lastEventIDChangesAtABlankLineAndStartsWithThatOfThePreviousStream() {
        #expect(Stream.inEverySplit("id: 7\n").lastEventID == "")
        #expect(Stream.inEverySplit("id: 7\n\n").lastEventID == "7")
        let continued = Stream.inEverySplit("data: a\n\n", lastEventID: "5")
        #expect(continued.events == [ServerSentEvent(data: "a", id: "5")])
        #expect(continued.lastEventID == "5")
        #expect(Stream.inEverySplit("id\n\n", lastEventID: "5").lastEventID == "")
    }

    @Test
    func invalidUTF8IsReplaced() {
        let stream = Stream.inEverySplit(
            Array("event: ".utf8) + [0xFF, 0x0A] + Array("id:".utf8) + [0xE2, 0x82, 0x0A]
                + Array("data: a".utf8) + [0xF0, 0x9F, 0x0D] + Array("data: ".utf8)
                + [0xED, 0xA0, 0x80, 0x62, 0x0A, 0x0A])
        #expect(
            stream.events == [
                ServerSentEvent(
                    type: "\u{FFFD}", data: "a\u{FFFD}\n\u{FFFD}\u{FFFD}\u{FFFD}b",
                    id: "\u{FFFD}")
            ])
    }

    // MARK: - Limits

    @Test
    func dataAtTheLimitIsAnEvent() {
        for text in [
            "data: 12345678\n\n", "data: 123\ndata:4567\n\n", "\u{FEFF}data: 12345678\n\n",
        ] {
            let stream = Stream.inEverySplit(text, maximum: 8)
            #expect(stream.events.map(\.data.utf8.count) == [8])
            #expect(stream.error == nil)
        }
    }

    @Test
    func eventAboveTheLimitFailsAfterTheEventsBeforeIt() {
        let error =
            "The server-sent event of line 4 exceeds the limit of 8 bytes. Raise "
            + "maximumEventBytes if such events are expected."
        for rest in [
            "data: x\ndata: 1234567\n\n", ":\ndata: 123456789\n\n", ":\nevent: 123456789\n",
            ":\nid:123456789\n", ":\nretry:123456789\n", ":\n:123456789\n\n",
        ] {
            let stream = Stream.inEverySplit("data: a\n\n\(rest)", maximum: 8)
            #expect(stream.events == [ServerSentEvent(data: "a")])
            #expect(stream.error == error, "\(rest)")
        }
    }

    @Test
    func lineAboveTheLimitFailsWithoutItsEnd() {
        let stream = Stream.inEverySplit("data: a\n\ndata: 1234567890123456", maximum: 8)
        #expect(stream.events == [ServerSentEvent(data: "a")])
        #expect(stream.error?.contains("Line 3 of the body exceeds the limit of") == true)
        #expect(stream.error?.contains("Raise maximumEventBytes") == true)
    }

    @Test
    func errorRepeatsAndTheClosureReceivesTheEventsBeforeIt() {
        var parser = ServerSentEvent.Parser(maximumEventBytes: 2)
        var events: [ServerSentEvent] = []
        for text in ["data: a\n\ndata: abc\n\n", "data: b\n\n"] {
            let error = #expect(throws: RequestError.self) {
                try parser.parse(Data(text.utf8)) { events.append($0) }
            }
            #expect(error?.code == .bodyTooLarge)
        }
        #expect(events == [ServerSentEvent(data: "a")])
    }

    // MARK: - Comparison

    @Test(arguments: 0..<8)
    func eventsEqualThoseOfANaiveParser(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let parts = [
            "data: x\n", "data:\r\n", "id: 1\n", "event: e\r", "data", "data", "event", "id",
            "retry", ":", ":", ":", " ", "\n", "\n", "\n",
            "\n\n", "\n\n", "\r", "\r\n", "\r\n\r\n", "a", "b", "12", "\0", "\u{FEFF}", "é", "Data",
        ]
        var total = 0
        for _ in 0..<400 {
            var bytes: [UInt8] = Bool.random(using: &random) ? [] : [0xEF, 0xBB, 0xBF]
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                bytes += (parts.randomElement(using: &random) ?? "").utf8
                if Int.random(in: 0..<30, using: &random) == 0 {
                    bytes.append([0xFF, 0xE2, 0x80, 0xF0].randomElement(using: &random) ?? 0)
                }
            }
            let expected = NaiveEventStream(bytes)
            total += expected.events.count
            let time = expected.retry.map { Duration.milliseconds(Int64($0) ?? .max).clamped }
            for chunks in [[bytes], bytes.map { [$0] }, Chunks.random(of: bytes, using: &random)] {
                let stream = Stream(chunks, maximum: 10_000)
                let events = stream.events.map {
                    NaiveEventStream.Event(type: $0.type, data: $0.data, id: $0.id)
                }
                let text = String(decoding: bytes, as: UTF8.self).debugDescription
                #expect(events == expected.events, "\(text) in \(chunks)")
                #expect(stream.lastEventID == expected.lastEventID, "\(text)")
                #expect(stream.reconnectionTime == time, "\(text)")
                #expect(stream.error == nil, "\(text)")
            }
        }
        #expect(total > 150)
    }
}
