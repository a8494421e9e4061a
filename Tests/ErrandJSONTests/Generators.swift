import ErrandJSON
import TestSupport

extension SeededGenerator {
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    mutating func chance(_ one: Int) -> Bool { below(one) == 0 }
}

/// Generates random documents with white space and escapes.
struct DocumentGenerator {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func document(depth: Int = 5) -> String { space() + value(depth) + space() }

    mutating func value(_ depth: Int) -> String {
        switch random.below(depth > 0 ? 9 : 6) {
        case 0: return "null"
        case 1: return random.chance(2) ? "true" : "false"
        case 2, 3: return number()
        case 4, 5: return string()
        case 6, 7:
            let members = (0..<random.below(5)).map { _ in
                space() + string() + space() + ":" + space() + value(depth - 1) + space()
            }
            return "{" + members.joined(separator: ",") + (members.isEmpty ? space() : "") + "}"
        default:
            let items = (0..<random.below(5)).map { _ in space() + value(depth - 1) + space() }
            return "[" + items.joined(separator: ",") + (items.isEmpty ? space() : "") + "]"
        }
    }

    mutating func space() -> String {
        guard random.chance(4) else { return "" }
        return (0..<random.below(12)).map { _ in
            [" ", " ", "\n", "\t", "\r"][random.below(5)]
        }.joined()
    }

    mutating func number() -> String {
        var text = random.chance(3) ? "-" : ""
        let digits = random.chance(20) ? random.below(40) + 1 : random.below(6) + 1
        text += "\(random.below(9) + 1)"
        for _ in 1..<max(digits, 2) { text += "\(random.below(10))" }
        if random.chance(8) { text = random.chance(2) ? "0" : "-0" }
        if random.chance(3) {
            text +=
                "."
                + (0...random.below(random.chance(10) ? 30 : 6)).map { _ in
                    "\(random.below(10))"
                }.joined()
        }
        if random.chance(5) {
            text += random.chance(2) ? "e" : "E"
            text += ["", "+", "-"][random.below(3)] + "\(random.below(25))"
        }
        return text
    }

    mutating func string() -> String {
        var text = "\""
        for _ in 0..<random.below(random.chance(10) ? 60 : 9) {
            switch random.below(12) {
            case 0:
                text += ["\\n", "\\t", "\\\"", "\\\\", "\\/", "\\b", "\\f", "\\r"][random.below(8)]
            case 1:
                let unit = String(random.below(0xD800), radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - unit.count) + unit
            case 2: text += "\\ud83d\\ude0" + "\(random.below(10))"
            case 3:
                text +=
                    ["é", "ß", "日", "本", "😀", "\u{7F}", "\u{2028}", "\u{10FFFF}"][random.below(8)]
            default: text.unicodeScalars.append(Unicode.Scalar(UInt8(random.below(26) + 97)))
            }
        }
        return text + "\""
    }
}
