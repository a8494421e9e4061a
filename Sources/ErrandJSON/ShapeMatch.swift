/// The quick half of validation: one walk over the tape that only says yes or no.
struct ShapeMatch {
    let tape: Tape

    func accepts(
        _ shape: JSONShape, _ index: Int, _ place: ShapePlace, isStrict: Bool
    ) -> Bool {
        let kind = tape.kind(at: index)
        let isStrict = isStrict || shape.isStrict
        if kind == .null, let decision = shape.decidesNull(place, isStrict: isStrict) {
            return decision
        }
        switch shape.rule {
        case .string: return kind == .string || kind == .escaped
        case .number: return kind == .integer || kind == .real || kind == .true || kind == .false
        case .object(let members):
            return kind == .object && acceptsMembers(members, index, isStrict: isStrict)
        case .array(let item):
            return kind == .array && acceptsItems(item.shape, index, isStrict: isStrict)
        case .tuple(let items):
            return kind == .array && acceptsTuple(items, index, isStrict: isStrict)
        case .dictionary(let value):
            return kind == .object && acceptsValues(value.shape, index, isStrict: isStrict)
        case .oneOf(let shapes):
            return shapes.contains { accepts($0, index, place, isStrict: isStrict) }
        default: return shape.rule.acceptsLeaf(JSON(tape: tape, index: index), kind)
        }
    }

    private func acceptsItems(_ item: JSONShape, _ index: Int, isStrict: Bool) -> Bool {
        let stop = tape.end(of: index)
        var place = index + 2
        while place < stop {
            guard accepts(item, place, .item, isStrict: isStrict) else { return false }
            place = tape.end(of: place)
        }
        return true
    }

    private func acceptsTuple(_ items: [JSONShape], _ index: Int, isStrict: Bool) -> Bool {
        guard Word.count(tape.words[index + 1]) == items.count else { return false }
        var place = index + 2
        for item in items {
            guard accepts(item, place, .item, isStrict: isStrict) else { return false }
            place = tape.end(of: place)
        }
        return true
    }

    private func acceptsValues(_ value: JSONShape, _ index: Int, isStrict: Bool) -> Bool {
        let stop = tape.end(of: index)
        var place = index + 2
        while place < stop {
            guard accepts(value, place + 1, .key, isStrict: isStrict) else { return false }
            place = tape.end(of: place + 1)
        }
        return true
    }

    private func acceptsMembers(
        _ members: JSONShape.Members, _ index: Int, isStrict: Bool
    ) -> Bool {
        var cursor = MemberCursor(tape: tape, object: index)
        var found = 0
        for number in members.shapes.indices {
            let value = members.withKey(number) { cursor.find($0) }
            if let value {
                found += 1
                guard accepts(members.shapes[number], value, .key, isStrict: isStrict) else {
                    return false
                }
            } else if !members.shapes[number].isOptional {
                return false
            }
        }
        // With as many keys as were found, none can be foreign, unless one is repeated.
        return !members.isClosed || found == cursor.count
            || cursor.firstForeign(to: members) == nil
    }
}

extension JSONShape.Members {
    @inline(__always)
    func withKey<R>(_ number: Int, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        text.withUnsafeBufferPointer { text in
            let start = number == 0 ? 0 : ends[number - 1]
            return body(UnsafeBufferPointer(rebasing: text[start..<ends[number]]))
        }
    }
}

extension JSONShape.Rule {
    /// Whether a rule without inner shapes accepts a value.
    func acceptsLeaf(_ json: JSON, _ kind: Word.Kind) -> Bool {
        switch self {
        case .any: return kind != .absent
        case .null: return kind == .null
        case .bool: return kind == .true || kind == .false
        case .int:
            return kind == .integer || (kind == .real && json.isIntegral)
        case .double: return json.double != nil
        case .anyArray: return kind == .array
        case .anyObject: return kind == .object
        case .integers(let range): return json.int64.map(range.contains) ?? false
        case .numbers(let range): return json.double.map(range.contains) ?? false
        case .length(let range): return json.string.map { range.contains(Int64($0.count)) } ?? false
        case .pattern(let pattern): return json.string.map(pattern.isFound) ?? false
        case .enumeration(let values): return kind != .absent && values.contains(json)
        case .custom(_, let test): return kind != .absent && test(json)
        case .string, .number, .object, .dictionary, .array, .tuple, .oneOf, .broken: return false
        }
    }
}

extension JSON {
    /// Whether a number is an integer, of whatever size.
    var isIntegral: Bool {
        let exact = ExactNumber(tape.text(at: index))
        return exact.exponent >= 0
    }
}

extension MemberCursor {
    /// The index of the first key that the shape does not have.
    func firstForeign(to members: JSONShape.Members) -> Int? {
        let known = Set(members.keys.map { Array($0.utf8) })
        var place = first
        while place < stop {
            if !known.contains(tape.unescapedBytes(at: place)) { return place }
            place = tape.end(of: place + 1)
        }
        return nil
    }
}
