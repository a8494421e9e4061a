/// Validation of shapes without nested shapes.
extension JSONShape.Rule {
    /// Whether a rule without nested shapes accepts a value.
    func acceptsLeaf(_ json: JSON, _ kind: Word.Kind) -> Bool {
        switch self {
        case .any: return kind != .absent
        case .null: return kind == .null
        case .bool: return kind == .true || kind == .false
        case .string: return kind == .string || kind == .escaped
        case .number:
            return kind == .integer || kind == .real || kind == .true || kind == .false
        case .int:
            return kind == .integer || (kind == .real && json.isIntegral)
        case .double:
            return (kind == .integer || kind == .real) && json.tape.isWithinDouble(at: json.index)
        case .anyArray: return kind == .array
        case .anyObject: return kind == .object
        case .integers(let range): return json.isInteger(in: range)
        case .numbers(let range): return json.isNumber(in: range)
        case .length(let range): return json.string.map { range.contains(Int64($0.count)) } ?? false
        case .pattern(let pattern): return json.string.map(pattern.isFound) ?? false
        case .enumeration(let values): return kind != .absent && values.contains(json)
        case .custom(_, let test): return kind != .absent && test(json)
        case .object, .dictionary, .array, .tuple, .oneOf, .allOf, .broken: return false
        case .defined, .reference, .choice, .positions, .members: return false
        }
    }
}

extension Tape {
    /// Whether a number is within the range of `Double`.
    ///
    /// The range ends above 10^308, so a number with fewer than 300 digits and no exponent is not
    /// parsed.
    func isWithinDouble(at index: Int) -> Bool {
        let word = words[index]
        guard Word.length(word) > 300 || hasExponent(word) else { return true }
        return double(at: index) != nil
    }

    private func hasExponent(_ number: UInt64) -> Bool {
        if number >> 60 == Word.Kind.integer.rawValue { return false }
        var next = bytes + Word.offset(number)
        var rest = Word.length(number)
        while true {
            // Of all characters in a number only the exponent's letter has this bit. Words may
            // extend beyond the number into the tape's padding.
            var letters = Scan.word(next) & 0x4040_4040_4040_4040
            if rest < 8 { letters &= (1 &<< UInt64(rest &* 8)) &- 1 }
            if letters != 0 { return true }
            if rest <= 8 { return false }
            next += 8
            rest &-= 8
        }
    }
}

extension JSON {
    /// Whether a number is an integer of any size.
    var isIntegral: Bool {
        let exact = ExactNumber(tape.text(at: index))
        return exact.exponent >= 0
    }

    /// Whether a number is an integer within a range.
    ///
    /// If a bound is missing, integers beyond `Int64` on that side are accepted.
    func isInteger(in range: JSONShape.NumberRange<Int64>) -> Bool {
        if let value = int64 { return range.contains(value) }
        guard kind == .number, isIntegral else { return false }
        return isNegative ? range.lower == nil : range.upper == nil
    }

    /// Whether a number is within a range; numbers beyond `Double` count as infinite.
    func isNumber(in range: JSONShape.NumberRange<Double>) -> Bool {
        if let value = double { return range.contains(value) }
        guard kind == .number else { return false }
        return range.contains(isNegative ? -.infinity : .infinity)
    }

    private var isNegative: Bool { tape.text(at: index).first == UInt8(ascii: "-") }
}
