import ErrandHTTP
import TestSupport
import Testing

@testable import ErrandWebSocket

/// Conversations of an open connection, in every split of the server's bytes.
struct WebSocketStateTests {
    /// A server's bytes, the events, and the client's frames.
    struct Case: Sendable, CustomTestStringConvertible {
        let rule: String
        let bytes: [UInt8]
        let events: [String]
        let written: [String]
        var testDescription: String { rule }

        init(_ rule: String, _ events: [String], _ bytes: [UInt8]..., written: [String] = []) {
            (self.rule, self.bytes) = (rule, bytes.flatMap(\.self))
            (self.events, self.written) = (events, written)
        }

        /// The connection fails with a code, after some events.
        static func failed(
            _ rule: String, _ code: Int, after events: [String] = [], _ bytes: [UInt8]...
        ) -> Case {
            // What follows a fault has no meaning.
            Case(
                rule, events + ["failed \(code)"], bytes.flatMap(\.self) + ServerBytes.text("late"),
                written: ["close \(code)"])
        }
    }

    private static let invalid: [UInt8] = [0xC3, 0x28]

    static let messages: [Case] = [
        Case("§5.6 text", ["text Hello"], ServerBytes.text("Hello")),
        Case("§5.6 binary", ["binary fe.ff"], ServerBytes.frame(2, [0xFE, 0xFF])),
        Case(
            "§5.6 empty messages", ["text ", "binary "], ServerBytes.text(""), ServerBytes.frame(2)),
        Case(
            "§5.4 fragments", ["text Hello, you"], ServerBytes.text("Hel", final: false),
            ServerBytes.more("lo, ", final: false), ServerBytes.more("you")),
        Case(
            "§5.4 empty fragments", ["text a"], ServerBytes.text("", final: false),
            ServerBytes.more("", final: false), ServerBytes.more("a", final: false),
            ServerBytes.more("")),
        Case(
            "§5.4, §5.5 control frames between fragments", ["text ab"],
            ServerBytes.text("a", final: false), ServerBytes.ping("1"), ServerBytes.frame(10),
            ServerBytes.more("b"), written: ["pong 1"]),
        .failed("§5.4 a continuation alone", 1002, ServerBytes.more("a")),
        .failed(
            "§5.4 a continuation after a message", 1002, after: ["text a"], ServerBytes.text("a"),
            ServerBytes.more("b", final: false)),
        .failed(
            "§5.4 a message within a message", 1002, ServerBytes.text("a", final: false),
            ServerBytes.text("b")),
        .failed("§5.1 a masked frame", 1002, ServerBytes.frame(1, [1], mask: [1, 2, 3, 4])),
        .failed("§5.2 RSV1 without an extension", 1002, ServerBytes.frame(1, reserved: 4)),
        Case("§5.6 characters of two to four bytes", ["text é€😀"], ServerBytes.text("é€😀")),
        Case(
            "§5.6 a character in two fragments", ["text €"],
            ServerBytes.frame(1, [0xE2, 0x82], final: false), ServerBytes.frame(0, [0xAC])),
        .failed("§8.1 invalid text", 1007, ServerBytes.frame(1, invalid)),
        .failed(
            "§8.1 invalid text across fragments", 1007,
            ServerBytes.frame(1, [0xE2], final: false), ServerBytes.frame(0, [0x28], final: false)),
        .failed("§8.1 text that ends in a character", 1007, ServerBytes.frame(1, [0xE2, 0x82])),
        .failed(
            "§8.1 a character that no fragment completes", 1007,
            ServerBytes.frame(1, [0xE2], final: false), ServerBytes.frame(0)),
        .failed("§8.1 a surrogate", 1007, ServerBytes.frame(1, [0xED, 0xA0, 0x80])),
        Case("§5.6 invalid text as binary", ["binary c3.28"], ServerBytes.frame(2, invalid)),
    ]

    static let controls: [Case] = [
        Case("§5.5.2 PING", [], ServerBytes.ping("now"), written: ["pong now"]),
        Case("§5.5.2 an empty PING", [], ServerBytes.ping(), written: ["pong"]),
        Case(
            "§5.5.3 each PING has a PONG", [], ServerBytes.ping("1"), ServerBytes.ping("2"),
            written: ["pong 1", "pong 2"]),
        Case(
            "§5.5.3 PONG without PING", [], ServerBytes.frame(10, Array("x".utf8)),
            ServerBytes.frame(10, [0, 0, 0, 0, 0, 0, 0, 1])),
        Case(
            "§5.5.1 a close frame", ["closed 1000 bye"], ServerBytes.close(1000, Array("bye".utf8)),
            written: ["close 1000"]),
        Case("§7.1.5 without a code", ["closed 1005 "], ServerBytes.close(), written: ["close"]),
        Case(
            "§1.4 nothing follows a close frame", ["closed 1001 "], ServerBytes.close(1001),
            ServerBytes.text("late"), ServerBytes.ping(), [0xFF, 0xFF], written: ["close 1001"]),
        Case(
            "§5.5.1 a close frame within a message", ["closed 1000 "],
            ServerBytes.text("a", final: false), ServerBytes.close(1000), written: ["close 1000"]),
        .failed("§5.5.1 half a code", 1002, ServerBytes.frame(8, [3])),
        .failed("§5.5.1 a reason that is not UTF-8", 1007, ServerBytes.close(1000, invalid)),
        .failed(
            "§5.5.1 a reason that ends in a character", 1007, ServerBytes.close(1000, [0xE2, 0x82])),
    ]

    @Test(arguments: messages + controls)
    func rule(_ rule: Case) {
        for segments in Splits.all(rule.bytes) {
            let connection = TestConnection()
            #expect(connection.receive(segments) == rule.events)
            let written = connection.written()
            #expect(written.map { Self.withoutReason($0) } == rule.written)
            // One end, and no more.
            let hasEnded = rule.events.contains { !$0.hasPrefix("text") && !$0.hasPrefix("binary") }
            #expect(connection.state.hasEnded == hasEnded)
            #expect((connection.inputEnded() == nil) == hasEnded)
            #expect(connection.inputEnded() == nil)
        }
    }

    private static func withoutReason(_ frame: String) -> String {
        frame.hasPrefix("close") ? String(frame.prefix(10)) : frame
    }

    /// §7.4.1, §7.4.2: the codes that a close frame may have.
    @Test func closeCodes() {
        let allowed = Set(
            [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014]
                + Array(3000...4999))
        for code in [Int](0...5100) + [65_535] {
            let connection = TestConnection()
            let events = connection.receive(ServerBytes.close(code))
            #expect(events == [allowed.contains(code) ? "closed \(code) " : "failed 1002"])
            let sender = TestConnection()
            #expect(sender.close(CloseCode(rawValue: UInt16(code))) == allowed.contains(code))
            #expect(sender.written() == (allowed.contains(code) ? ["close \(code)"] : []))
        }
    }

    /// Text fails before its message, its frame and even its character are complete.
    @Test func textFailsFast() {
        let connection = TestConnection()
        let frame = ServerBytes.frame(1, Array("abc".utf8) + Self.invalid + Array("abc".utf8))
        #expect(connection.receive(Array(frame[..<6])) == [])
        #expect(connection.receive([frame[6]]) == ["failed 1007"])
    }

    // MARK: - The end

    @Test func closeHandshake() {
        let connection = TestConnection()
        #expect(connection.close(.goingAway, "away"))
        #expect(connection.written() == ["close 1001"])
        #expect(!connection.state.isOpen && !connection.state.hasEnded)
        // §5.5.1: no frame follows the close frame; those of the server may be on their way.
        #expect(!connection.send([1]) && !connection.send(fragment: [1]))
        #expect(!connection.close(.normal))
        #expect(connection.receive(ServerBytes.text("x") + ServerBytes.ping()) == ["text x"])
        #expect(connection.receive(ServerBytes.close(1001)) == ["closed 1001 "])
        #expect(connection.written() == [])
        #expect(connection.inputEnded() == nil && connection.check() == "wait")
    }

    @Test func reasonIsSentWhole() throws {
        let connection = TestConnection()
        #expect(connection.close(.normal, "ok €"))
        let bytes = Array(connection.output.contents)
        let (frame, _) = try #require(NaiveWebSocket.frame(bytes[...]))
        #expect(frame.payload == [0x03, 0xE8] + Array("ok €".utf8))
    }

    /// §5.5: a close frame has at most 125 bytes; the reason is cut between two characters.
    @Test(arguments: 118...124)
    func longReasonIsCut(_ count: Int) throws {
        let connection = TestConnection()
        let text = String(repeating: "a", count: count)
        #expect(connection.close(.normal, text + "€€"))
        let bytes = Array(connection.output.contents)
        let (frame, _) = try #require(NaiveWebSocket.frame(bytes[...]))
        let reason = String(validating: frame.payload.dropFirst(2), as: UTF8.self)
        let expected = count <= 117 ? "€€" : count <= 120 ? "€" : ""
        #expect(reason == String((text + expected).prefix(count <= 120 ? 200 : 123)))
        #expect(frame.payload.count <= 125)
    }

    @Test func serverEndsWithoutCloseFrame() {
        let connection = TestConnection()
        #expect(connection.receive(ServerBytes.text("a", final: false)) == [])
        #expect(connection.inputEnded() == "lost 1006")
        #expect(connection.written() == [])
        #expect(!connection.send([1]))
        #expect(connection.receive(ServerBytes.text("b")) == [])
    }

    @Test func serverEndsInPlaceOfItsCloseFrame() {
        let connection = TestConnection()
        #expect(connection.close(.normal))
        #expect(connection.inputEnded() == "lost 1000")
    }

    @Test func faultAfterCloseFrame() {
        let connection = TestConnection()
        #expect(connection.close(.normal))
        _ = connection.written()
        #expect(connection.receive([0xFF, 0xFF]) == ["failed 1002"])
        // A second close frame is never sent.
        #expect(connection.written() == [])
    }

    @Test func closeTimeout() {
        var limits = WebSocketState.Limits()
        limits.closeTimeout = .seconds(3)
        let connection = TestConnection(limits)
        #expect(connection.close(.normal))
        #expect(connection.check() == "wait until \(Duration.seconds(103))")
        connection.now += .milliseconds(2_999)
        #expect(connection.check() == "wait until \(Duration.seconds(103))")
        connection.now += .milliseconds(1)
        #expect(connection.check() == "failed 1000")
        #expect(connection.check() == "wait")
        #expect(connection.receive(ServerBytes.close(1000)) == [])
    }

    // MARK: - Limits

    @Test func messageLimit() {
        var limits = WebSocketState.Limits()
        limits.messageBytes = 10
        let exact = ServerBytes.text("12345", final: false) + ServerBytes.more("67890")
        for segments in Splits.all(exact) {
            #expect(TestConnection(limits).receive(segments) == ["text 1234567890"])
        }
        #expect(TestConnection(limits).receive(ServerBytes.text("1234567890")).count == 1)
        let larger = ServerBytes.text("12345", final: false) + ServerBytes.more("678901")
        for segments in Splits.all(larger) {
            #expect(TestConnection(limits).receive(segments) == ["failed 1009"])
        }
        // The header suffices.
        let header = ServerBytes.frame(2, announced: 11)
        #expect(TestConnection(limits).receive(header) == ["failed 1009"])
        let huge =
            ServerBytes.frame(2, [1], final: false) + ServerBytes.frame(0, announced: 1 << 63 - 1)
        #expect(TestConnection(limits).receive(huge) == ["failed 1009"])
    }

    @Test func noMessageLimit() {
        var limits = WebSocketState.Limits()
        limits.messageBytes = nil
        let connection = TestConnection(limits)
        let bytes = [UInt8](repeating: 0x61, count: 3 << 20)
        #expect(connection.receive(ServerBytes.frame(2, bytes)) == ["binary \(3 << 20) bytes"])
        // A sum of lengths beyond 64 bits is no limit either.
        let huge =
            ServerBytes.frame(2, [1], final: false)
            + ServerBytes.frame(0, [2], announced: 1 << 63 - 1)
        #expect(connection.receive(huge) == [])
    }

    // MARK: - Output

    @Test func sentMessages() {
        let connection = TestConnection()
        #expect(connection.send(Array("Hello".utf8), isText: true))
        #expect(connection.send([0xFF]))
        #expect(connection.send([]))
        #expect(connection.written() == ["text Hello", "binary ff", "binary"])
    }

    @Test func sentFragments() {
        let connection = TestConnection()
        #expect(connection.send(fragment: Array("a".utf8), isText: true))
        // §5.4: no other message in between, but control frames.
        #expect(!connection.send([1]))
        #expect(connection.receive(ServerBytes.ping("p")) == [])
        #expect(connection.send(fragment: []))
        #expect(connection.send(fragment: Array("b".utf8), ends: true))
        #expect(connection.send([0x32], isText: true))
        #expect(
            connection.written() == [
                "text unfinished a", "pong p", "more unfinished", "more b", "text 2",
            ])
        #expect(connection.send(fragment: [0x33], ends: true))
        #expect(connection.written() == ["binary 3"])
    }

    // MARK: - Second opinion

    @Test(arguments: UInt64(1)...60)
    func randomConversations(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var limits = WebSocketState.Limits()
        limits.messageBytes = 200
        for _ in 0..<60 {
            let bytes = Self.conversation(&random)
            let expected = NaiveWebSocket.events(bytes, limit: 200)
            let events = expected.filter { !$0.hasPrefix("ping") }
            var pongs = expected.filter { $0.hasPrefix("ping") }.map { event in
                "pong" + (event == "ping " ? "" : event.dropFirst(4))
            }
            if let last = expected.last, last.hasPrefix("closed") || last.hasPrefix("failed") {
                let code = last.split(separator: " ")[1]
                pongs.append(code == "1005" ? "close" : "close \(code)")
            }
            for segments in [[bytes], bytes.map { [$0] }, Splits.random(bytes, &random)] {
                let connection = TestConnection(limits)
                #expect(connection.receive(segments) == events)
                #expect(connection.written().map { Self.withoutReason($0) } == pongs)
            }
        }
    }

    private static func conversation(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        var isOpen = false
        for _ in 0..<random.below(9) {
            let isStrange = random.below(25) == 0
            var opcode = isOpen ? 0 : 1 + random.below(2)
            if random.below(4) == 0 { opcode = 9 + random.below(2) }
            if random.below(20) == 0 { opcode = 8 }
            if isStrange { opcode = random.below(16) }
            let isFinal = opcode >= 8 || random.below(3) == 0
            if opcode < 3 { isOpen = !isFinal }
            var payload = Array(random.text(upTo: 12).utf8)
            if opcode == 8 {
                payload = ServerBytes.close([1000, 1005, 1011, 3000][random.below(4)], payload)
                payload = Array(payload.dropFirst(2).prefix(random.below(30)))
            } else if random.below(30) == 0 {
                payload = random.bytes(random.below(130))
            }
            bytes += ServerBytes.frame(
                opcode, payload, final: isFinal,
                reserved: isStrange ? UInt8(random.below(8)) : 0,
                mask: random.below(90) == 0 ? [1, 2, 3, 4] : nil)
        }
        if random.below(4) == 0 { bytes.removeLast(min(bytes.count, random.below(20))) }
        return bytes
    }
}
