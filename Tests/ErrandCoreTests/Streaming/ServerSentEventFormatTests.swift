import Foundation
import Testing

@testable import ErrandCore

/// Event streams with unusual forms, as the HTML standard (§9.2.5 and §9.2.6) defines their meaning.
struct ServerSentEventFormatTests {
    private typealias Stream = ServerSentEventTests.Stream

    /// A stream, its events, and the last event ID after it.
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var text: String
        var events: [ServerSentEvent]
        var lastEventID = ""
    }

    private static let manyComments = String(repeating: ": keep-alive\r\n:\n", count: 30)

    private static let cases: [Case] = [
        Case(
            testDescription: "byte order mark before a comment",
            text: "\u{FEFF}:first\ndata: a\n\n", events: [ServerSentEvent(data: "a")]),
        Case(
            testDescription: "byte order mark before an event type",
            text: "\u{FEFF}event: x\ndata: a\n\n", events: [ServerSentEvent(type: "x", data: "a")]),
        Case(
            testDescription: "the second of two byte order marks is part of a name",
            text: "\u{FEFF}\u{FEFF}id: 1\ndata: a\n\n", events: [ServerSentEvent(data: "a")]),
        Case(
            testDescription: "part of a byte order mark is part of a name",
            text: "\u{FEF0}data: a\ndata: b\n\n", events: [ServerSentEvent(data: "b")]),
        Case(
            testDescription: "comments between fields and events",
            text: manyComments + "data: a\n" + manyComments + "data: b\n\n" + manyComments,
            events: [ServerSentEvent(data: "a\nb")]),
        Case(
            testDescription: "comment that contains fields",
            text: ":data: a\n: id: 1\n:event:x\ndata\n\n", events: [ServerSentEvent(data: "")]),
        Case(
            testDescription: "comments alone are no event", text: ":\n:a\n\n:\n\n", events: []),
        Case(
            testDescription: "fields of an incomplete last block have no effect",
            text: "retry: 5\ndata: a\n\nid: 9\ndata: b\n", events: [ServerSentEvent(data: "a")]),
        Case(
            testDescription: "event type that is a space",
            text: "event: \ndata: a\n\n", events: [ServerSentEvent(data: "a")]),
        Case(
            testDescription: "event type of two spaces",
            text: "event:  \ndata: a\n\n", events: [ServerSentEvent(type: " ", data: "a")]),
        Case(
            testDescription: "event type without a colon",
            text: "event\ndata: a\n\n", events: [ServerSentEvent(data: "a")]),
        Case(
            testDescription: "event type is not that of the previous event",
            text: "event: x\ndata: a\n\ndata: b\n\n",
            events: [ServerSentEvent(type: "x", data: "a"), ServerSentEvent(data: "b")]),
        Case(
            testDescription: "ID after the data, and persistence",
            text: "data: a\nid: 1\n\ndata: b\n\ndata: c\n\n",
            events: ["a", "b", "c"].map { ServerSentEvent(data: $0, id: "1") },
            lastEventID: "1"),
        Case(
            testDescription: "ID without data is that of the next event",
            text: "id: 1\n\n: x\n\ndata: a\n\n", events: [ServerSentEvent(data: "a", id: "1")],
            lastEventID: "1"),
        Case(
            testDescription: "empty ID resets it",
            text: "id: 1\ndata: a\n\nid:\ndata: b\n\nid: 2\ndata: c\n\nid\ndata: d\n\n",
            events: [
                ServerSentEvent(data: "a", id: "1"), ServerSentEvent(data: "b"),
                ServerSentEvent(data: "c", id: "2"), ServerSentEvent(data: "d"),
            ]),
        Case(
            testDescription: "ID of one space is empty",
            text: "id: 1\n\nid: \ndata: a\n\n", events: [ServerSentEvent(data: "a")]),
        Case(
            testDescription: "ID with NUL at any place is ignored",
            text: "id: 1\n\nid: \0\nid:2\0\nid: \0x\nid:\0\0\ndata: a\n\n",
            events: [ServerSentEvent(data: "a", id: "1")], lastEventID: "1"),
        Case(
            testDescription: "ID with other characters is kept",
            text: "id: …é\t:x \ndata: a\n\n",
            events: [ServerSentEvent(data: "a", id: "…é\t:x ")], lastEventID: "…é\t:x "),
        Case(
            testDescription: "ID with another control character is ignored",
            text: "id: 1\n\nid: \u{1}\nid: a\u{1F}b\nid: \u{7F}\nid:\u{1B}[0m\ndata: a\n\n",
            events: [ServerSentEvent(data: "a", id: "1")], lastEventID: "1"),
        Case(
            testDescription: "names that only resemble the known ones",
            text: "DATA: 1\ndata : 2\ndat: 3\ndataa: 4\nda-ta: 5\n\0data: 6\ndata\0: 7\n data: 8\n"
                + "Id: 9\nID: 9\nEvent: x\nEVENT: x\nRetry: 1\ndata: end\n\n",
            events: [ServerSentEvent(data: "end")]),
        Case(
            testDescription: "unknown fields do not end a block",
            text: "data: a\nname: x\njustaname\ndata: b\n=\n\n",
            events: [ServerSentEvent(data: "a\nb")]),
        Case(
            testDescription: "only one leading space is removed, and no tab",
            text: "data:\ta\rdata:  b\ndata: \tc\ndata: \ndata:d\n\n",
            events: [ServerSentEvent(data: "\ta\n b\n\tc\n\nd")]),
        Case(
            testDescription: "other spaces are not removed",
            text: "data:\u{A0}a\ndata:\u{3000}b\n\n",
            events: [ServerSentEvent(data: "\u{A0}a\n\u{3000}b")]),
        Case(
            testDescription: "terminators of all kinds in one block",
            text: "data: a\r\ndata: b\rdata: c\ndata: d\r\r\n",
            events: [ServerSentEvent(data: "a\nb\nc\nd")]),
        Case(
            testDescription: "LF CR is two terminators",
            text: "data: a\n\rdata: b\n\r", events: ["a", "b"].map { ServerSentEvent(data: $0) }),
        Case(
            testDescription: "other line separators belong to the data",
            text: "data: a\u{85}b\u{2028}c\u{2029}d\u{B}e\u{C}f\n\n",
            events: [ServerSentEvent(data: "a\u{85}b\u{2028}c\u{2029}d\u{B}e\u{C}f")]),
        Case(
            testDescription: "NUL is data", text: "data: \0\n\n\n\ndata:\0\0\n\n",
            events: [ServerSentEvent(data: "\0"), ServerSentEvent(data: "\0\0")]),
        Case(
            testDescription: "empty data fields",
            text: "data:\n\ndata\ndata\n\ndata:test\n\n",
            events: ["", "\n", "test"].map { ServerSentEvent(data: $0) }),
        Case(
            testDescription: "colons after the first one are data",
            text: "data::\ndata: :a:\nevent::x\n\n",
            events: [ServerSentEvent(type: ":x", data: ":\n:a:")]),
        Case(
            testDescription: "UTF-8 of one to four bytes",
            text: "data: o\u{308}é…日本\u{1F600}\u{10FFFF}\n\n",
            events: [ServerSentEvent(data: "o\u{308}é…日本\u{1F600}\u{10FFFF}")]),
    ]

    @Test(arguments: cases)
    func streamHasTheMeaningOfTheStandard(_ expected: Case) {
        let stream = Stream.inEverySplit(expected.text)
        #expect(stream.events == expected.events)
        #expect(stream.lastEventID == expected.lastEventID)
        #expect(stream.error == nil)
    }

    private static let times: [(text: String, time: Duration?)] = [
        ("retry: 3000\n", .seconds(3)), ("retry:3000", nil), ("retry:3000\r", .seconds(3)),
        ("retry: 1000\nretry: 200\n", .milliseconds(200)), ("retry: 1000\nretry\n", .seconds(1)),
        ("retry: 1000\nretry:\n", .seconds(1)), ("retry: 1000\nretry: \n", .seconds(1)),
        ("retry: 1000x\n", nil), ("retry: x1000\n", nil), ("retry: 10 00\n", nil),
        ("retry: 0x10\n", nil), ("retry: 1000\t\n", nil), ("retry: \u{FF11}\n", nil),
        ("retry: 1\0\n", nil), ("retry : 1000\n", nil), ("Retry: 1000\n", nil),
        ("\u{FEFF}retry: 7\n", .milliseconds(7)), (":retry: 7\n", nil),
        ("retry: 0\n", .zero), ("retry: 00\n", .zero),
    ]

    @Test(arguments: times)
    func reconnectionTimeIsSetByCompleteLinesOfDigits(text: String, time: Duration?) {
        #expect(Stream.inEverySplit(text).reconnectionTime == time)
    }

    @Test
    func invalidUTF8InEachFieldIsReplacedAndCannotFormATerminator() {
        // An overlong LF, a continuation byte alone, and a sequence that LF interrupts.
        let bytes =
            Array("data: ".utf8) + [0xC0, 0x8A] + Array("\ndata: ".utf8) + [0x80]
            + Array("\ndata: ".utf8) + [0xE2, 0x80, 0x0A, 0x0A]
        let stream = Stream.inEverySplit(bytes)
        #expect(
            stream.events == [ServerSentEvent(data: "\u{FFFD}\u{FFFD}\n\u{FFFD}\n\u{FFFD}")])
        // An invalid byte in a name is another name.
        let names = Stream.inEverySplit(
            Array("data".utf8) + [0xFF] + Array(": a\ndata: b\n\n".utf8))
        #expect(names.events == [ServerSentEvent(data: "b")])
    }
}
