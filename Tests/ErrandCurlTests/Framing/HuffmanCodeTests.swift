import TestSupport
import Testing

@testable import ErrandCurl

/// The Huffman code of HPACK (RFC 7541 §5.2, Appendix B).
struct HuffmanCodeTests {
    private static func encode(_ text: [UInt8]) -> [UInt8] {
        text.withUnsafeBytes { text in
            let limit = HuffmanCode.encodedLimit(of: text.count)
            var room = [UInt8](repeating: 0xAA, count: limit)
            let count = room.withUnsafeMutableBytes { HuffmanCode.encode(text, into: $0) }
            return Array(room[..<count])
        }
    }

    private static func decode(_ text: [UInt8]) -> [UInt8]? {
        let limit = HuffmanCode.maximumDecodedCount(of: text.count)
        var room = [UInt8](repeating: 0, count: limit)
        let count = text.withUnsafeBytes { text in
            room.withUnsafeMutableBytes { HuffmanCode.decode(text, into: $0) }
        }
        return count.map { Array(room[..<$0]) }
    }

    /// Each byte alone and in pairs, against the codes of the RFC in the naive decoder.
    @Test func allBytes() {
        for byte in UInt8.min...UInt8.max {
            for text in [[byte], [byte, byte], [0x61, byte, 0x7A], [byte, 0xFF, byte, 0x0A]] {
                let encoded = Self.encode(text)
                #expect(Self.decode(encoded) == text)
                var naive = NaiveHPACK()
                let block =
                    [0, 1, 0x61] + Wire.integer(encoded.count, prefix: 7, flags: 0x80) + encoded
                #expect(naive.decode(block)?.first?.value == text)
            }
        }
    }

    @Test func empty() {
        #expect(Self.encode([]) == [])
        #expect(Self.decode([]) == [])
    }

    /// All texts of up to two bytes, and random ones, are decoded like the naive decoder does it.
    @Test func allShortTexts() {
        var naive = NaiveHPACK()
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                let text = [first, second]
                let expected = naive.decode([0, 1, 0x61, 0x82] + text)?.first?.value
                if Self.decode(text) != expected { Issue.record("\(text)") }
            }
        }
        var random = SeededGenerator(seed: 7)
        for _ in 0..<3_000 {
            let text =
                random.bytes(random.next(12)) + [UInt8](repeating: 0xFF, count: random.next(5))
            let expected = naive.decode([0, 1, 0x61, 0x80 | UInt8(text.count)] + text)?.first?.value
            #expect(Self.decode(text) == expected)
        }
    }

    @Test func randomTexts() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            let text = random.bytes(random.next(200))
            #expect(Self.decode(Self.encode(text)) == text)
        }
    }
}
