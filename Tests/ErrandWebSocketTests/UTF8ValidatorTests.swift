import TestSupport
import Testing

@testable import ErrandWebSocket

/// The validator compared with the decoder of the standard library.
struct UTF8ValidatorTests {
    /// Whether each beginning is valid, and whether the whole is complete.
    private static func check(_ bytes: [UInt8], in segments: [[UInt8]]) -> String {
        var validator = UTF8Validator()
        for segment in segments where !segment.withUnsafeBytes({ validator.append($0) }) {
            return "invalid"
        }
        return validator.isComplete ? "complete" : "incomplete"
    }

    private static func expected(_ bytes: [UInt8]) -> String {
        if String(validating: bytes, as: UTF8.self) != nil { return "complete" }
        return NaiveWebSocket.isBeginningOfText(bytes) ? "incomplete" : "invalid"
    }

    /// All sequences of two bytes.
    @Test func pairs() {
        for first in UInt8.min ... .max {
            for second in UInt8.min ... .max {
                let bytes = [first, second]
                let expected = Self.expected(bytes)
                guard Self.check(bytes, in: [bytes]) == expected,
                    Self.check(bytes, in: [[first], [second]]) == expected
                else {
                    Issue.record("\(bytes) is \(expected)")
                    continue
                }
            }
        }
    }

    /// The first bytes of characters of three and four bytes, and the bounds of those after them.
    @Test func bounds() {
        let further: [UInt8] = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for first in UInt8(0xDF)...0xF8 {
            for second in further {
                for third in further {
                    for fourth in further {
                        let bytes = [first, second, third, fourth]
                        let expected = Self.expected(bytes)
                        if Self.check(bytes, in: [bytes]) != expected
                            || Self.check(bytes, in: bytes.map { [$0] }) != expected
                        {
                            Issue.record("\(bytes) is \(expected)")
                        }
                    }
                }
            }
        }
    }

    /// The fault is found at the first byte that makes it one, whatever surrounds it.
    @Test(arguments: 0..<20)
    func failsAtTheFirstByte(_ place: Int) {
        var bytes = [UInt8](repeating: 0x61, count: place)
        bytes += Array("€".utf8) + [UInt8](repeating: 0x62, count: 20)
        #expect(Self.check(bytes, in: [bytes]) == "complete")
        for fault in [[0xFF], [0xC0], [0xED, 0xA0], [0xF4, 0x90], [0x80]] as [[UInt8]] {
            let faulty = bytes[..<place] + fault
            #expect(Self.check(Array(faulty), in: [Array(faulty)]) == "invalid")
            #expect(
                Self.check(Array(faulty.dropLast()), in: [Array(faulty.dropLast())])
                    == (fault.count == 1 ? "complete" : "incomplete"))
        }
    }

    @Test(arguments: UInt64(1)...20)
    func randomText(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<30 {
            var bytes = Array(random.text(upTo: 60).utf8)
            if !bytes.isEmpty, random.below(2) == 0 {
                bytes[random.below(bytes.count)] = UInt8(random.below(256))
            }
            let expected = Self.expected(bytes)
            for segments in Splits.all(bytes) {
                #expect(Self.check(bytes, in: segments) == expected)
            }
        }
    }
}
