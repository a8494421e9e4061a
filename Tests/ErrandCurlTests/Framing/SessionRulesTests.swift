import HTTPTypes
import Testing

@testable import ErrandCurl

/// Faults of the server, and the frames that the client sends in response.
struct SessionRulesTests {
    /// A server's bytes after the settings and a GET on stream 1, the events, and the client's frames.
    struct Case: Sendable, CustomTestStringConvertible {
        let rule: String
        let input: [UInt8]
        let events: [String]
        let written: [String]
        var testDescription: String { rule }

        init(_ rule: String, _ input: [[UInt8]], _ events: [String], _ written: [String]) {
            (self.rule, self.input) = (rule, input.flatMap(\.self))
            (self.events, self.written) = (events, written)
        }

        /// A connection error (RFC 9113 §5.4.1), after some events.
        static func connection(
            _ rule: String, _ code: String, after events: [String] = [], _ input: [UInt8]...
        ) -> Case {
            Case(rule, input, events + ["failed \(code)"], ["GOAWAY 0 0 \(code)"])
        }

        /// An error of stream 1 (RFC 9113 §5.4.2).
        static func stream(
            _ rule: String, _ end: String, _ code: String, after events: [String] = [],
            _ input: [UInt8]...
        ) -> Case {
            Case(rule, input, events + ["ended 1 \(end)"], ["RST_STREAM 1 \(code)"])
        }

        static func fine(
            _ rule: String, _ events: [String], _ input: [UInt8]..., written: [String] = []
        ) -> Case {
            Case(rule, input, events, written)
        }
    }

    private static let head = "head 1 200 receiving"
    private static let headers = Wire.headers(1)
    private static let whole = Wire.headers(1, ends: true)
    private static let ended = "head 1 200 ended"

    static let frames: [Case] = [
        .connection(
            "§4.2 a frame above SETTINGS_MAX_FRAME_SIZE", "FRAME_SIZE_ERROR",
            Wire.frame(0, stream: 1, length: 16_385)),
        .connection(
            "§4.2 a large HEADERS", "FRAME_SIZE_ERROR", Wire.frame(1, stream: 1, length: 16_385)),
        .fine("§4.1, §5.5 unknown frames", [], Wire.frame(0x16, flags: 0xFF, stream: 3, [1, 2])),
        .fine(
            "§4.1 the reserved bit of the stream", [head],
            Wire.frame(1, flags: 0x4, stream: 0x8000_0001, Wire.ok)),
        .connection(
            "§4.3 an interrupted header block", "PROTOCOL_ERROR",
            Wire.headers(1, endsHeaders: false), Wire.ping()),
        .connection(
            "§4.3 PRIORITY in a header block", "PROTOCOL_ERROR",
            Wire.headers(1, endsHeaders: false), Wire.priority(1)),
        .connection(
            "§5.5 an unknown frame in a header block", "PROTOCOL_ERROR",
            Wire.headers(1, endsHeaders: false), Wire.frame(0x16, stream: 1)),
        .connection(
            "§6.10 CONTINUATION of another stream", "PROTOCOL_ERROR",
            Wire.headers(1, endsHeaders: false), Wire.continuation(3)),
        .connection("§6.10 CONTINUATION alone", "PROTOCOL_ERROR", Wire.continuation(1, Wire.ok)),
        .connection(
            "§6.10 CONTINUATION after END_HEADERS", "PROTOCOL_ERROR", after: [head],
            headers, Wire.continuation(1, Wire.ok)),
        .connection(
            "§6.10 CONTINUATION on stream 0", "PROTOCOL_ERROR",
            Wire.headers(1, endsHeaders: false), Wire.continuation(0)),
        .fine(
            "§6.10 several CONTINUATION", [head], Wire.headers(1, [], endsHeaders: false),
            Wire.continuation(1, Wire.ok, endsHeaders: false), Wire.continuation(1)),
        .fine(
            "§6.1 padding", [head, "content 1 hi ended"], headers,
            Wire.data(1, "hi", ends: true, padding: 7)),
        .connection(
            "§6.1 padding of the payload's length", "PROTOCOL_ERROR", after: [head],
            headers, Wire.frame(0, flags: 0x8, stream: 1, [2, 0])),
        .connection(
            "§6.1 padding without its length", "FRAME_SIZE_ERROR", after: [head],
            headers, Wire.frame(0, flags: 0x8, stream: 1)),
        .connection("§6.1 DATA on stream 0", "PROTOCOL_ERROR", Wire.data(0, "x")),
        .fine(
            "§6.2 padding and priority", [ended],
            Wire.frame(1, flags: 0x2D, stream: 1, [2, 0x80, 0, 0, 3, 9, 0x88, 0, 0])),
        .connection(
            "§6.2 padding beyond the payload", "PROTOCOL_ERROR",
            Wire.frame(1, flags: 0xC, stream: 1, [2, 0x88])),
        .connection(
            "§6.2 priority without its bytes", "FRAME_SIZE_ERROR",
            Wire.frame(1, flags: 0x24, stream: 1, [0, 0, 0, 0])),
        .connection("§6.2 HEADERS on stream 0", "PROTOCOL_ERROR", Wire.headers(0)),
        .fine(
            "§6.3 PRIORITY in any state", [ended], Wire.priority(1), Wire.priority(7),
            whole, Wire.priority(1)),
        .connection("§6.3 PRIORITY on stream 0", "PROTOCOL_ERROR", Wire.priority(0)),
        .stream(
            "§6.3 the length of PRIORITY", "fault FRAME_SIZE_ERROR", "FRAME_SIZE_ERROR",
            Wire.frame(2, stream: 1, [0x80, 0, 0, 1])),
        .connection(
            "§6.3 the length of PRIORITY on a closed stream", "FRAME_SIZE_ERROR",
            after: [ended], whole, Wire.frame(2, stream: 1, [0x80, 0, 0, 1])),
        .connection("§6.4 RST_STREAM on stream 0", "PROTOCOL_ERROR", Wire.reset(0)),
        .fine(
            "§7 an unknown code of RST_STREAM", ["ended 1 reset 0xff"], Wire.reset(1, 0xFF),
            Wire.ping(), written: ["PING 0 0102030405060708 acknowledgement"]),
        .fine(
            "§7 an unknown code of GOAWAY", ["draining 0xff"], Wire.goAway(1, 0xFF), Wire.ping(),
            written: ["PING 0 0102030405060708 acknowledgement"]),
        .connection("§6.4 RST_STREAM on an idle stream", "PROTOCOL_ERROR", Wire.reset(3)),
        .connection(
            "§6.4 the length of RST_STREAM", "FRAME_SIZE_ERROR",
            Wire.frame(3, stream: 1, [0, 0, 0])),
        .connection(
            "§6.5 SETTINGS on a stream", "PROTOCOL_ERROR", Wire.frame(4, stream: 1)),
        .connection(
            "§6.5 an acknowledgement with a payload", "FRAME_SIZE_ERROR",
            Wire.frame(4, flags: 1, [0, 0, 0, 0, 0, 0])),
        .connection(
            "§6.5 the length of SETTINGS", "FRAME_SIZE_ERROR", Wire.frame(4, [0, 0, 0])),
        .connection(
            "§6.5.2 ENABLE_PUSH 1", "PROTOCOL_ERROR", Wire.settings((2, 1))),
        .connection(
            "§6.5.2 ENABLE_PUSH 2", "PROTOCOL_ERROR", Wire.settings((2, 2))),
        .connection(
            "§6.5.2 INITIAL_WINDOW_SIZE above 2^31-1", "FLOW_CONTROL_ERROR",
            Wire.settings((4, 0x8000_0000))),
        .connection(
            "§6.5.2 MAX_FRAME_SIZE below 2^14", "PROTOCOL_ERROR", Wire.settings((5, 16_383))),
        .connection(
            "§6.5.2 MAX_FRAME_SIZE above 2^24-1", "PROTOCOL_ERROR", Wire.settings((5, 1 << 24))),
        .connection(
            "RFC 8441 §3 ENABLE_CONNECT_PROTOCOL 2", "PROTOCOL_ERROR", Wire.settings((8, 2))),
        .connection(
            "RFC 8441 §3 ENABLE_CONNECT_PROTOCOL withdrawn", "PROTOCOL_ERROR",
            Wire.settings((8, 1), (8, 0))),
        .fine(
            "§6.5.2 unknown settings", ["changed"], Wire.settings((0xAAAA, 7)),
            written: ["SETTINGS 0 acknowledgement"]),
        .fine(
            "§6.5.3 acknowledgement", ["changed"], Wire.settings((3, 7)),
            written: ["SETTINGS 0 acknowledgement"]),
        .connection(
            "§6.6 PUSH_PROMISE", "PROTOCOL_ERROR", Wire.frame(5, flags: 4, stream: 1, [0, 0, 0, 2])),
        .fine("§6.7 PING", [], Wire.ping(), written: ["PING 0 0102030405060708 acknowledgement"]),
        .fine(
            "§6.7 acknowledgement", ["pong 72623859790382856"],
            Wire.ping(isAcknowledgement: true)),
        .connection(
            "§6.7 PING on a stream", "PROTOCOL_ERROR",
            Wire.frame(6, stream: 1, [UInt8](repeating: 0, count: 8))),
        .connection("§6.7 the length of PING", "FRAME_SIZE_ERROR", Wire.frame(6, [0, 0, 0, 0])),
        .connection(
            "§6.8 GOAWAY on a stream", "PROTOCOL_ERROR",
            Wire.frame(7, stream: 1, [UInt8](repeating: 0, count: 8))),
        .connection(
            "§6.8 the length of GOAWAY", "FRAME_SIZE_ERROR", Wire.frame(7, [0, 0, 0, 0])),
        .connection(
            "§6.9 an increment of 0 on the connection", "PROTOCOL_ERROR", Wire.windowUpdate(0, 0)),
        .stream(
            "§6.9 an increment of 0 on a stream", "fault PROTOCOL_ERROR", "PROTOCOL_ERROR",
            Wire.windowUpdate(1, 0)),
        .connection(
            "§6.9 an increment of 0 on an idle stream", "PROTOCOL_ERROR", Wire.windowUpdate(3, 0)),
        .connection(
            "§6.9 the length of WINDOW_UPDATE", "FRAME_SIZE_ERROR", Wire.frame(8, [0, 0, 1])),
        .connection(
            "§6.9.1 the connection's window above 2^31-1", "FLOW_CONTROL_ERROR",
            Wire.windowUpdate(0, 0x7FFF_FFFF)),
        .stream(
            "§6.9.1 a stream's window above 2^31-1", "fault FLOW_CONTROL_ERROR",
            "FLOW_CONTROL_ERROR", Wire.windowUpdate(1, 0x7FFF_FFFF)),
        .fine("§6.9 the reserved bit of the increment", [], Wire.windowUpdate(1, 0x8000_0001)),
        .connection(
            "§6.9.2 a new initial window raises a stream's above 2^31-1", "FLOW_CONTROL_ERROR",
            Wire.windowUpdate(1, 1), Wire.settings((4, 0x7FFF_FFFF))),
    ]

    static let states: [Case] = [
        .connection("§5.1 DATA on an idle stream", "PROTOCOL_ERROR", Wire.data(3, "x")),
        .connection("§5.1 HEADERS on an idle stream", "PROTOCOL_ERROR", Wire.headers(101)),
        .connection("§5.1.1 HEADERS on an even stream", "PROTOCOL_ERROR", Wire.headers(2)),
        .connection(
            "§5.1 WINDOW_UPDATE on an idle stream", "PROTOCOL_ERROR", Wire.windowUpdate(3, 1)),
        .connection(
            "§5.1 WINDOW_UPDATE on an even stream", "PROTOCOL_ERROR", Wire.windowUpdate(2, 100)),
        .connection("§5.1 RST_STREAM on an even stream", "PROTOCOL_ERROR", Wire.reset(2)),
        .connection(
            "§5.1 DATA after END_STREAM", "STREAM_CLOSED", after: [ended], whole, Wire.data(1, "x")),
        .connection(
            "§5.1 HEADERS after END_STREAM", "STREAM_CLOSED", after: [ended], whole, headers),
        .fine(
            "§5.1 WINDOW_UPDATE and RST_STREAM after END_STREAM", [ended], whole,
            Wire.windowUpdate(1, 5), Wire.reset(1)),
        Case(
            "§5.1 DATA after RST_STREAM",
            [headers, Wire.reset(1), Wire.data(1, "x"), Wire.data(1, "x")],
            [head, "ended 1 reset CANCEL"], ["RST_STREAM 1 STREAM_CLOSED"]),
        Case(
            "§5.1 HEADERS after RST_STREAM", [headers, Wire.reset(1), headers],
            [head, "ended 1 reset CANCEL"], ["RST_STREAM 1 STREAM_CLOSED"]),
        .stream(
            "§8.1 DATA before the head", "malformed", "PROTOCOL_ERROR", Wire.data(1, "x")),
        .stream(
            "§8.1 END_STREAM before the head", "malformed", "PROTOCOL_ERROR",
            Wire.data(1, ends: true)),
        .stream(
            "§8.1 a second head", "malformed", "PROTOCOL_ERROR", after: [head], headers,
            Wire.headers(1, ends: true)),
        .stream(
            "§8.1 trailers without END_STREAM", "malformed", "PROTOCOL_ERROR", after: [head],
            headers, Wire.headers(1, Wire.block(("a", "b")))),
        .fine(
            "§8.1 trailers", [head, "content 1 x receiving", "trailers 1 ended"], headers,
            Wire.data(1, "x"), Wire.headers(1, Wire.block(("a", "b")), ends: true)),
        .fine(
            "§8.1 interim responses", ["interim 1 103", ended],
            Wire.headers(1, Wire.block((":status", "103"), ("link", "x"))), whole),
        .stream(
            "§8.1 an interim response with END_STREAM", "malformed", "PROTOCOL_ERROR",
            Wire.headers(1, Wire.block((":status", "103")), ends: true)),
        .stream(
            "§8.6 101", "malformed", "PROTOCOL_ERROR",
            Wire.headers(1, Wire.block((":status", "101")))),
    ]

    private static func malformed(_ rule: String, _ fields: (String, String)...) -> Case {
        .stream(
            rule, "malformed", "PROTOCOL_ERROR",
            Wire.headers(1, fields.flatMap { Wire.block($0) }, ends: true))
    }

    static let heads: [Case] = [
        malformed("§8.3.2 no status", ("a", "b")),
        .stream(
            "§8.3.2 no status in a head that does not end the stream", "malformed",
            "PROTOCOL_ERROR", Wire.headers(1, Wire.block(("a", "b")))),
        .stream(
            "§8.3 a status below 100 that does not end the stream", "malformed",
            "PROTOCOL_ERROR", Wire.headers(1, Wire.block((":status", "099")))),
        malformed("§8.3.2 two statuses", (":status", "200"), (":status", "200")),
        malformed("§8.3 a status after a field", ("a", "b"), (":status", "200")),
        malformed(
            "§8.3 a status after content-length", ("content-length", "0"), (":status", "200")),
        malformed("§8.3 an unknown pseudo-header field", (":status", "200"), (":a", "b")),
        malformed("§8.3 a request's pseudo-header field", (":status", "200"), (":path", "/")),
        malformed("§8.3 a status below 100", (":status", "099")),
        malformed("§8.3 a status of two digits", (":status", "20")),
        malformed("§8.3 a status of four digits", (":status", "2000")),
        malformed("§8.3 a status that is no number", (":status", "2OO")),
        malformed("§8.3 an empty status", (":status", "")),
        malformed("§8.2 an upper-case name", (":status", "200"), ("Server", "x")),
        malformed("§8.2.1 an empty name", (":status", "200"), ("", "x")),
        malformed("§8.2.1 a blank in a name", (":status", "200"), ("a b", "x")),
        malformed("§8.2.1 a colon in a name", (":status", "200"), ("a:b", "x")),
        malformed("§8.2.1 a control character in a name", (":status", "200"), ("a\u{1}", "x")),
        malformed("§8.2.1 DEL in a name", (":status", "200"), ("a\u{7F}", "x")),
        malformed("§8.2.1 a byte beyond ASCII in a name", (":status", "200"), ("ä", "x")),
        malformed("§8.2.1 CR in a value", (":status", "200"), ("a", "x\ry")),
        malformed("§8.2.1 LF in a value", (":status", "200"), ("a", "x\ny")),
        malformed("§8.2.1 NUL in a value", (":status", "200"), ("a", "x\0y")),
        malformed("§8.2.1 a blank before a value", (":status", "200"), ("a", " x")),
        malformed("§8.2.1 a blank after a value", (":status", "200"), ("a", "x ")),
        malformed("§8.2.1 a tab after a value", (":status", "200"), ("a", "x\t")),
        malformed("§8.2.2 connection", (":status", "200"), ("connection", "x")),
        malformed("§8.2.2 proxy-connection", (":status", "200"), ("proxy-connection", "x")),
        malformed("§8.2.2 keep-alive", (":status", "200"), ("keep-alive", "timeout=5")),
        malformed("§8.2.2 transfer-encoding", (":status", "200"), ("transfer-encoding", "chunked")),
        malformed("§8.2.2 upgrade", (":status", "200"), ("upgrade", "h2c")),
        malformed("§8.2.2 te", (":status", "200"), ("te", "gzip")),
        .fine(
            "§8.2.2 te: trailers", [ended],
            Wire.headers(1, Wire.block((":status", "200"), ("te", "trailers")), ends: true)),
        .stream(
            "§8.3 a pseudo-header field in trailers", "malformed", "PROTOCOL_ERROR", after: [head],
            headers, Wire.headers(1, Wire.block((":status", "200")), ends: true)),
        .stream(
            "§8.2.2 a connection-specific field in trailers", "malformed", "PROTOCOL_ERROR",
            after: [head], headers, Wire.headers(1, Wire.block(("connection", "x")), ends: true)),
        malformed(
            "§8.1.1 different content-lengths", (":status", "200"), ("content-length", "1"),
            ("content-length", "2")),
        malformed(
            "§8.1.1 content-length is no number", (":status", "200"), ("content-length", "-1")),
        .stream(
            "§8.1.1 END_STREAM without the announced content", "truncated", "PROTOCOL_ERROR",
            Wire.headers(1, Wire.block((":status", "200"), ("content-length", "1")), ends: true)),
        .stream(
            "§8.1.1 less content than announced", "truncated", "PROTOCOL_ERROR",
            after: [head, "content 1 x receiving"],
            Wire.headers(1, Wire.block((":status", "200"), ("content-length", "2"))),
            Wire.data(1, "x", ends: true)),
        .stream(
            "§8.1.1 less content than announced, and trailers", "truncated", "PROTOCOL_ERROR",
            after: [head, "content 1 x receiving"],
            Wire.headers(1, Wire.block((":status", "200"), ("content-length", "2"))),
            Wire.data(1, "x"), Wire.headers(1, Wire.block(("a", "b")), ends: true)),
        .stream(
            "§8.1.1 more content than announced", "malformed", "PROTOCOL_ERROR", after: [head],
            Wire.headers(1, Wire.block((":status", "200"), ("content-length", "1"))),
            Wire.data(1, "xy")),
        .fine(
            "§8.1.1 the announced content", [head, "content 1 xy ended"],
            Wire.headers(1, Wire.block((":status", "200"), ("content-length", "2"))),
            Wire.data(1, "xy", ends: true)),
        .stream(
            "RFC 9110 §15.3.5 content of 204", "malformed", "PROTOCOL_ERROR",
            after: ["head 1 204 receiving"], Wire.headers(1, [0x89]), Wire.data(1, "x")),
        .fine(
            "RFC 9110 §15.4.5 the length of 304", ["head 1 304 ended"],
            Wire.headers(1, Wire.block((":status", "304"), ("content-length", "5")), ends: true)),
        .connection(
            "§4.3 a malformed header block", "COMPRESSION_ERROR", Wire.headers(1, [0x40])),
        .connection(
            "§4.3 a malformed header block on an idle stream", "COMPRESSION_ERROR",
            Wire.headers(0x0100_0000, [0x40], ends: true)),
        .connection(
            "§4.3 a malformed header block on a closed stream", "COMPRESSION_ERROR",
            after: [ended], whole, Wire.headers(1, [0x40])),
        .fine(
            "§4.1 undefined flags", [],
            Wire.frame(6, flags: 0x16, [1, 2, 3, 4, 5, 6, 7, 8]),
            written: ["PING 0 0102030405060708 acknowledgement"]),
        .fine(
            "§4.1 the reserved bit of stream 0", [],
            Wire.frame(6, stream: 0x8000_0000, [1, 2, 3, 4, 5, 6, 7, 8]),
            written: ["PING 0 0102030405060708 acknowledgement"]),
    ]

    /// Faults of HPACK (RFC 7541).
    static let blocks: [Case] =
        [
            ("§2.3.3 an index beyond the tables", [0xBE]),
            ("§2.3.3 a name beyond the tables", [0x7F, 0x00, 1, 0x62]),
            ("§4.2 a size update after a field", [0x88, 0x20]),
            (
                "§4.2 a size update at the end, after an insertion",
                [0x88, 0x40, 1, 0x61, 1, 0x62, 0x20]
            ),
            ("§5.1 an integer of too many bytes", [0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]),
            ("§5.2 a string beyond the block", [0x88, 0x00, 5, 0x61]),
            ("§5.2 a value without its length", [0x88, 0x00, 1, 0x61]),
            ("§5.2 padding of more than 7 bits", [0x88, 0x00, 1, 0x61, 0x82, 0x1F, 0xFF]),
            ("§5.2 padding of zeros", [0x88, 0x00, 1, 0x61, 0x81, 0x18]),
            ("§5.2 EOS", [0x88, 0x00, 1, 0x61, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]),
            ("§6.1 the index 0", [0x80]),
            ("§6.3 a table above SETTINGS_HEADER_TABLE_SIZE", [0x3F, 0xE2, 0x1F, 0x88]),
        ].map { rule, block in
            .connection("RFC 7541 " + rule, "COMPRESSION_ERROR", Wire.headers(1, block, ends: true))
        } + [
            .fine(
                "RFC 7541 §4.2 size updates before the first field", [ended],
                Wire.headers(1, [0x20, 0x3F, 0xE1, 0x1F, 0x88], ends: true)),
            .fine(
                "RFC 7541 §5.2 padding of 7 bits", [ended],
                Wire.headers(1, [0x88, 0x00, 1, 0x61, 0x84, 0xFF, 0xFF, 0xFF, 0x7F], ends: true)),
        ]

    static let all = frames + states + heads + blocks

    @Test(arguments: all)
    func rule(_ item: Case) {
        let client = TestSession()
        client.open()
        _ = client.written()
        #expect(client.receive(item.input) == item.events)
        #expect(client.written() == item.written)
    }

    /// All events are the same, and all frames, if each byte arrives alone.
    @Test(arguments: all)
    func ruleByteByByte(_ item: Case) {
        let client = TestSession()
        client.open()
        _ = client.written()
        var events: [String] = []
        for byte in item.input { events += client.receive([byte]) }
        // Parts of content are events of their own.
        let isContent: (String) -> Bool = { $0.hasPrefix("content") }
        #expect(events.filter { !isContent($0) } == item.events.filter { !isContent($0) })
        #expect(client.written() == item.written)
    }

    @Test func contentOfHEAD() {
        let client = TestSession()
        client.open("HEAD")
        _ = client.written()
        let head = Wire.headers(1, Wire.block((":status", "200"), ("content-length", "5")))
        #expect(
            client.receive(head, Wire.data(1, "x")) == [
                "head 1 200 receiving", "ended 1 malformed",
            ])
        client.open("HEAD")
        let end = Wire.headers(
            3, Wire.block((":status", "200"), ("content-length", "5")), ends: true)
        #expect(client.receive(end) == ["head 3 200 ended"])
    }
}
