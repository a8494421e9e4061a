import TestSupport
import Testing

@testable import ErrandWebSocket

/// The rules of RFC 6455 §5.2 and §5.5, in every split of the bytes.
struct WebSocketFrameParserTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let rule: String
        let bytes: [UInt8]
        let items: [String]
        var testDescription: String { rule }

        init(_ rule: String, _ bytes: [UInt8], _ items: String...) {
            (self.rule, self.bytes, self.items) = (rule, bytes, items)
        }
    }

    private static func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }
    private static func letters(_ count: Int) -> String { String(repeating: "a", count: count) }

    static let cases: [Case] = [
        Case(
            "§5.7 a text frame", [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], "text 5 final",
            "end Hello", "boundary"),
        Case(
            "§5.7 two fragments", [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], "text 3",
            "end Hel", "continuation 2 final", "end lo", "boundary"),
        Case("§5.7 PING", [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], "ping Hello", "boundary"),
        Case("§5.2 an empty frame", ServerBytes.frame(2), "binary 0 final", "end ", "boundary"),
        Case("§5.2 an empty control frame", ServerBytes.frame(10), "pong ", "boundary"),
        Case(
            "§5.2 a frame that is not complete", [0x82, 0x02, 0x61], "binary 2 final", "part a",
            "within a frame"),
        Case("§5.2 RSV1", ServerBytes.frame(1, reserved: 4), "failed 1002"),
        Case("§5.2 RSV2", ServerBytes.frame(1, reserved: 2), "failed 1002"),
        Case("§5.2 RSV3", ServerBytes.frame(1, reserved: 1), "failed 1002"),
        Case("§5.2 RSV1 of a control frame", ServerBytes.frame(9, reserved: 4), "failed 1002"),
        Case("§5.2 the opcode 3", [0x83], "failed 1002"),
        Case("§5.2 the opcode 7", [0x87], "failed 1002"),
        Case("§5.2 the opcode 11", [0x8B], "failed 1002"),
        Case("§5.2 the opcode 15", [0x8F], "failed 1002"),
        Case(
            "§5.1 a masked frame", ServerBytes.frame(1, bytes(3), mask: [1, 2, 3, 4]), "failed 1002"
        ),
        Case("§5.1 a masked control frame", [0x89, 0x80], "failed 1002"),
        Case("§5.5 a fragmented PING", [0x09], "failed 1002"),
        Case("§5.5 a fragmented close frame", [0x08], "failed 1002"),
        Case(
            "§5.5 a control frame of 125 bytes", ServerBytes.frame(9, bytes(125)),
            "ping \(letters(125))", "boundary"),
        Case("§5.5 a control frame of 126 bytes", [0x89, 126], "failed 1002"),
        Case("§5.5 a control frame of 64 bits", [0x8A, 127], "failed 1002"),
        Case(
            "§5.2 126 bytes", ServerBytes.frame(2, bytes(126)), "binary 126 final",
            "end \(letters(126))", "boundary"),
        Case(
            "§5.2 125 bytes in 16 bits", ServerBytes.frame(2, bytes(125), length: .two),
            "failed 1002"),
        Case(
            "§5.2 0 bytes in 16 bits", ServerBytes.frame(2, length: .two), "failed 1002"),
        Case(
            "§5.2 65535 bytes in 64 bits", ServerBytes.frame(2, length: .eight, announced: 65_535),
            "failed 1002"),
        Case(
            "§5.2 65535 bytes", ServerBytes.frame(2, announced: 65_535), "binary 65535 final",
            "within a frame"),
        Case(
            "§5.2 65536 bytes", ServerBytes.frame(2, announced: 65_536), "binary 65536 final",
            "within a frame"),
        Case(
            "§5.2 63 bits", ServerBytes.frame(2, bytes(1), announced: 1 << 63 - 1),
            "binary 9223372036854775807 final", "part a", "within a frame"),
        Case(
            "§5.2 64 bits fail at their first byte", [0x82, 127, 0x80], "failed 1002"),
    ]

    @Test(arguments: cases)
    func rule(_ rule: Case) {
        for segments in Splits.all(rule.bytes) {
            #expect(FrameTexts.read(segments) == rule.items)
        }
    }

    /// RFC 7692 §6: RSV1 is a bit of the first frame of a message.
    @Test func compressedFrames() {
        let compressed: (Int) -> [String] = { opcode in
            FrameTexts.read([ServerBytes.frame(opcode, reserved: 4)], allowsCompression: true)
        }
        #expect(compressed(1) == ["text 0 final compressed", "end ", "boundary"])
        #expect(compressed(2) == ["binary 0 final compressed", "end ", "boundary"])
        for opcode in [0, 8, 9, 10] { #expect(compressed(opcode) == ["failed 1002"]) }
        for reserved: UInt8 in [1, 2, 3, 5, 6, 7] {
            let bytes = ServerBytes.frame(1, reserved: reserved)
            #expect(FrameTexts.read([bytes], allowsCompression: true) == ["failed 1002"])
        }
    }

    /// A frame that announces 2^63 - 1 bytes needs no memory for them.
    @Test func announcedLengthsNeedNoMemory() {
        let bytes = ServerBytes.frame(2, [1, 2], announced: 1 << 63 - 1)
        #expect(FrameTexts.read(bytes.map { [$0] }).first == "binary 9223372036854775807 final")
    }

    /// A part of the payload stays in the input until it is taken.
    @Test func payloadIsTakenInPieces() {
        let bytes = ServerBytes.text("Hello, WebSocket") + ServerBytes.ping("x")
        for segments in Splits.all(bytes) {
            let items = FrameTexts.read(segments, take: { min($0, 3) })
            #expect(items == ["text 16 final", "end Hello, WebSocket", "ping x", "boundary"])
        }
    }

    @Test(arguments: UInt64(1)...40)
    func randomFrames(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var bytes: [UInt8] = []
            for _ in 0..<random.below(8) { bytes += Self.frame(&random) }
            if random.below(3) == 0 { bytes.removeLast(min(bytes.count, random.below(30))) }
            let whole = FrameTexts.read([bytes])
            #expect(
                whole.filter { !["boundary", "within a frame"].contains($0) } == Self.naive(bytes))
            #expect(FrameTexts.read(bytes.map { [$0] }) == whole)
            #expect(FrameTexts.read(Splits.random(bytes, &random)) == whole)
        }
    }

    private static func frame(_ random: inout SeededGenerator) -> [UInt8] {
        let isStrange = random.below(12) == 0
        let opcode = isStrange ? random.below(16) : [0, 1, 2, 9, 10][random.below(5)]
        let count =
            opcode < 8 && random.below(8) == 0 ? 120 + random.below(12) : random.below(40)
        return ServerBytes.frame(
            opcode, random.bytes(random.below(900) == 0 ? 65_530 + random.below(10) : count),
            final: opcode >= 8 || random.below(2) == 0,
            reserved: isStrange ? UInt8(random.below(8)) : 0,
            length: random.below(30) == 0 ? .two : .shortest)
    }

    /// The items of the naive reader, without the last one.
    private static func naive(_ bytes: [UInt8]) -> [String] {
        var items: [String] = []
        var rest = bytes[...]
        while let first = rest.first {
            let opcode = first & 0xF
            let isKnown = [0, 1, 2, 8, 9, 10].contains(opcode)
            if !isKnown || first & 0x70 != 0 || opcode >= 8 && first < 0x80 {
                return items + ["failed 1002"]
            }
            if rest.count > 1, opcode >= 8, Array(rest)[1] > 125 { return items + ["failed 1002"] }
            guard let (frame, count) = NaiveWebSocket.frame(rest) else { break }
            guard frame.isMinimal else { return items + ["failed 1002"] }
            rest = rest.dropFirst(count)
            if frame.isControl {
                guard frame.isComplete else { break }
                items.append(
                    "\(opcode == 8 ? "close" : opcode == 9 ? "ping" : "pong") \(NaiveWebSocket.shown(frame.payload))"
                )
                continue
            }
            let name = opcode == 0 ? "continuation" : opcode == 1 ? "text" : "binary"
            items.append("\(name) \(frame.length)\(frame.isFinal ? " final" : "")")
            if frame.isComplete {
                items.append("end \(NaiveWebSocket.shown(frame.payload))")
            } else if !frame.payload.isEmpty {
                items.append("part \(NaiveWebSocket.shown(frame.payload))")
            }
        }
        return items
    }
}
