import TestSupport

/// Generates JSON texts, and changes some of their bytes.
struct JSONGenerator {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func one<Value>(_ values: [Value], else value: Value) -> Value {
        values.randomElement(using: &random) ?? value
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func space() -> String { one(["", "", "", " ", "\n", "\t\r\n  "], else: "") }

    mutating func string() -> String {
        let parts = [
            "a", "items", "é€😀", "\\n", "\\\"", "\\\\", "\\u0041", "\\uD83D\\uDE00", "\\/", "[",
            "}",
            ":", ",", "long text without any escape ", "'", "\u{7F}",
        ]
        return "\"" + (0..<number(0...4)).map { _ in one(parts, else: "") }.joined() + "\""
    }

    mutating func key() -> String {
        one(["\"a\"", "\"b\"", "\"items\"", "\"\\u0061\"", "\"\"", "\"i\\u0074ems\""], else: "")
            + space()
    }

    mutating func value(depth: Int = 3) -> String {
        let scalars = [
            "null", "true", "false", "0", "-0", "12", "-1.5", "1e5", "2E-10", "0.25e+3", "\"\"",
        ]
        let kind = number(0...(depth > 0 ? 7 : 4))
        var items: [String] = []
        switch kind {
        case 0...2: return one(scalars, else: "0")
        case 3, 4: return string()
        case 5:
            for _ in 0..<number(0...3) { items.append(space() + value(depth: depth - 1) + space()) }
            return "[" + (items.isEmpty ? space() : items.joined(separator: ",")) + "]"
        default:
            for _ in 0..<number(0...3) {
                items.append(space() + key() + ":" + space() + value(depth: depth - 1) + space())
            }
            return "{" + (items.isEmpty ? space() : items.joined(separator: ",")) + "}"
        }
    }

    /// Changes some bytes.
    mutating func mutate(_ bytes: inout [UInt8], special: String = "[]{}:,\"\\0123eE.+-tfn \n\u{1}")
    {
        for _ in 0..<number(1...2) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &random)
            let byte = one(Array(special.utf8), else: 0)
            switch number(0...3) {
            case 0: bytes[index] = byte
            case 1: bytes.insert(byte, at: index)
            case 2: bytes.remove(at: index)
            default: bytes.removeSubrange(index...)
            }
        }
    }
}
