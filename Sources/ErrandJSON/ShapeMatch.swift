// Performance annotations: decision 17.

/// The fast path of validation: it returns only whether a value matches.
struct ShapeMatch {
    let tape: Tape

    /// Validates a nested value with the prepared `step`; nil if the full rule is needed.
    @inline(__always)
    private func acceptsPrepared(_ step: ShapeStep, _ index: Int, isStrict: Bool) -> Bool? {
        let kind = tape.words[index] >> 60
        let sure = isStrict ? step.sureWhenStrict : step.sure
        if sure >> UInt16(truncatingIfNeeded: kind) & 1 == 1 { return true }
        if step.takesDoubles,
            kind == Word.Kind.integer.rawValue || kind == Word.Kind.real.rawValue
        {
            return tape.isWithinDouble(at: index)
        }
        let isStrict = isStrict || step.isStrict
        if kind == Word.Kind.object.rawValue, let members = step.members {
            return members._withUnsafeGuaranteedRef {
                acceptsMembers($0, index, isStrict: isStrict)
            }
        }
        if kind == Word.Kind.array.rawValue, let item = step.item {
            return item._withUnsafeGuaranteedRef {
                acceptsItems($0, index, .item, isStrict: isStrict)
            }
        }
        return nil
    }

    /// Whether the value at `index` has the shape.
    func accepts(
        _ shape: JSONShape, _ index: Int, _ place: ValuePosition, isStrict: Bool
    ) -> Bool {
        let kind = tape.kind(at: index)
        let isStrict = isStrict || shape.isStrict
        if kind == .null, let decision = shape.decidesNull(place, isStrict: isStrict) {
            return decision
        }
        switch shape.rule {
        case .object(let members):
            return kind == .object && acceptsMembers(members, index, isStrict: isStrict)
        case .array(let item):
            return kind == .array && acceptsItems(item, index, .item, isStrict: isStrict)
        case .dictionary(let value):
            return kind == .object && acceptsItems(value, index, .key, isStrict: isStrict)
        case .tuple(let items):
            return kind == .array && acceptsTuple(items, index, isStrict: isStrict)
        case .oneOf(let shapes):
            return shapes.contains { accepts($0, index, place, isStrict: isStrict) }
        case .allOf(let shapes):
            return shapes.allSatisfy { accepts($0, index, place, isStrict: isStrict) }
        case .defined(let inner, _):
            return accepts(inner.shape, index, place, isStrict: isStrict)
        case .reference(let reference):
            return accepts(reference.shape, index, place, isStrict: isStrict)
        case .choice, .positions, .members:
            return acceptsBySchema(shape.rule, index, place, isStrict: isStrict)
        default: return shape.rule.acceptsLeaf(JSON(tape: tape, index: index), kind)
        }
    }

    /// Works like `accepts` for the rules that only schemas have.
    @inline(never)
    private func acceptsBySchema(
        _ rule: JSONShape.Rule, _ index: Int, _ place: ValuePosition, isStrict: Bool
    ) -> Bool {
        let json = JSON(tape: tape, index: index)
        switch rule {
        case .choice(let choice):
            guard let variant = choice.shape(of: json) else { return false }
            return accepts(variant, index, place, isStrict: isStrict)
        case .positions(let positions):
            return json.kind == .array
                && json.enumerated().allSatisfy { position, item in
                    accepts(positions.shape(at: position), item.index, .item, isStrict: isStrict)
                }
        case .members(let rules):
            return json.kind == .object
                && (json.object ?? []).allSatisfy { key, value in
                    rules.shapes(for: key).allSatisfy {
                        accepts($0, value.index, .key, isStrict: isStrict)
                    }
                }
        default: return false
        }
    }

    /// Whether all items of an array, or all values of an object if `place` is `.key`, match.
    private func acceptsItems(
        _ box: JSONShape.Box, _ index: Int, _ place: ValuePosition, isStrict: Bool
    ) -> Bool {
        let step = place == .key ? box.keyStep : box.itemStep
        let sure = UInt64(isStrict ? step.sureWhenStrict : step.sure)
        let words = tape.words
        let stop = Word.end(words[index + 1])
        let skip = place == .key ? 1 : 0
        let inner = step.sureScalars(isStrict: isStrict)
        var next = index + 2 + skip
        while next < stop {
            let kind = words[next] >> 60
            if sure &>> kind & 1 == 0,
                inner == 0 || kind != Word.Kind.array.rawValue || !areScalars(next, by: inner)
            {
                let isAccepted =
                    acceptsPrepared(step, next, isStrict: isStrict)
                    ?? accepts(box.shape, next, place, isStrict: isStrict)
                guard isAccepted else { return false }
            }
            let isContainer = kind >= Word.Kind.array.rawValue
            next = (isContainer ? Word.end(words[next &+ 1]) : next &+ 1) &+ skip
        }
        return true
    }

    /// Whether all items of an array are scalars of the kinds in `sure`.
    ///
    /// Arrays of short number arrays, such as coordinates, are common; this check is inlined for
    /// them.
    private func areScalars(_ index: Int, by sure: UInt64) -> Bool {
        let words = tape.words
        let stop = Word.end(words[index &+ 1])
        var next = index &+ 2
        var all: UInt64 = 1
        while next < stop {
            all &= sure &>> (words[next] &>> 60)
            next &+= 1
        }
        return all == 1
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

    /// Whether the members of an object have their shapes.
    ///
    /// Most documents have members in the order of the shape. From the first member that differs,
    /// keys are searched for.
    private func acceptsMembers(
        _ members: JSONShape.Members, _ index: Int, isStrict: Bool
    ) -> Bool {
        let words = tape.words
        let bytes = tape.bytes
        let stop = Word.end(words[index + 1])
        let entries = members.entries
        var next = index + 2
        guard var entry = entries.baseAddress else {
            return acceptsRest(members, index, isStrict: isStrict, from: 0, at: next)
        }
        var number = 0
        while number < entries.count, next < stop {
            let key = words[next]
            guard key >> 32 == entry.pointee.head, entry.pointee.isKey(bytes + Word.offset(key))
            else { break }
            let value = next &+ 1
            let kind = words[value] >> 60
            let isContainer = kind >= Word.Kind.array.rawValue
            next = isContainer ? Word.end(words[value &+ 1]) : value &+ 1
            let sure = isStrict ? entry.pointee.step.sureWhenStrict : entry.pointee.step.sure
            if sure >> UInt16(truncatingIfNeeded: kind) & 1 == 0,
                !acceptsMember(members, number, value, isStrict: isStrict)
            {
                return false
            }
            entry += 1
            number &+= 1
        }
        if number == entries.count, !members.isClosed || next == stop { return true }
        return acceptsRest(members, index, isStrict: isStrict, from: number, at: next)
    }

    /// Whether the value of one member has its shape.
    @inline(never)
    private func acceptsMember(
        _ members: JSONShape.Members, _ number: Int, _ value: Int, isStrict: Bool
    ) -> Bool {
        acceptsPrepared(members.entries[number].step, value, isStrict: isStrict)
            ?? accepts(members.shapes[number], value, .key, isStrict: isStrict)
    }

    /// Works like `acceptsMembers` for entries from `first` on, whose members start at `place`.
    @inline(never)
    private func acceptsRest(
        _ members: JSONShape.Members, _ index: Int, isStrict: Bool, from first: Int, at place: Int
    ) -> Bool {
        var cursor = MemberCursor(tape: tape, object: index, from: place)
        var found = first
        let entries = members.entries
        var number = first
        while number < entries.count {
            let entry = entries[number]
            let value = cursor.findOnce(entry.key, bits: entry.bits)
            if value > 0 {
                found &+= 1
                guard acceptsMember(members, number, value, isStrict: isStrict) else {
                    return false
                }
            } else if !entry.step.isOptional {
                return false
            }
            number &+= 1
        }
        // If all members were found, no other key can exist unless one is repeated.
        return !members.isClosed || found == cursor.count
            || cursor.firstForeign(to: members, in: tape) == nil
    }
}

extension MemberCursor {
    /// The index of the first key that is not in the shape; nil if there is none.
    func firstForeign(to members: JSONShape.Members, in tape: Tape) -> Int? {
        let known = Set(members.keys.map { Array($0.utf8) })
        var place = first
        while place < stop {
            if !known.contains(tape.unescapedBytes(at: place)) { return place }
            place = tape.end(of: place + 1)
        }
        return nil
    }
}
