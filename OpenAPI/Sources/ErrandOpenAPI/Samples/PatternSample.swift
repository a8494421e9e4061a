/// Text that a simple regular expression matches.
enum PatternSample {
    /// The text; `nil` for expressions with alternatives, look-ahead and other parts that are not known.
    static func text(for pattern: String) -> String? {
        var text = ""
        var rest = Substring(pattern)
        if rest.first == "^" { rest.removeFirst() }
        if rest.last == "$" { rest.removeLast() }
        while let character = rest.first {
            rest.removeFirst()
            guard let unit = unit(character, &rest) else { return nil }
            text += String(repeating: unit, count: count(&rest))
        }
        guard let regex = try? Regex(pattern), text.firstMatch(of: regex) != nil else { return nil }
        return text
    }

    private static func unit(_ character: Character, _ rest: inout Substring) -> String? {
        switch character {
        case "[":
            guard let first = rest.first, first != "^", let end = rest.firstIndex(of: "]") else {
                return nil
            }
            rest = rest[rest.index(after: end)...]
            return String(first == "\\" ? "a" : first)
        case "\\":
            guard let escaped = rest.popFirst() else { return nil }
            switch escaped {
            case "d": return "1"
            case "w": return "a"
            case "s": return " "
            case let other where !other.isLetter && !other.isNumber: return String(other)
            default: return nil
            }
        case ".": return "a"
        case "(", ")", "|", "*", "+", "?", "{", "}": return nil
        default: return String(character)
        }
    }

    private static func count(_ rest: inout Substring) -> Int {
        switch rest.first {
        case "*", "?":
            rest.removeFirst()
            return 0
        case "+":
            rest.removeFirst()
            return 1
        case "{":
            guard let end = rest.firstIndex(of: "}") else { return 1 }
            let digits = rest[rest.index(after: rest.startIndex)..<end].prefix { $0.isNumber }
            rest = rest[rest.index(after: end)...]
            return min(Int(digits) ?? 1, 10_000)
        default: return 1
        }
    }
}
