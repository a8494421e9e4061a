/// The quick half of validation: one walk over the tape that only says yes or no.
struct ShapeMatch {
    let tape: Tape

    /// Whether the value at `index` has a shape inside another; nil if it takes more than `step`
    /// to tell.
    @inline(__always)
    private func quickly(_ step: ShapeStep, _ index: Int, isStrict: Bool) -> Bool? {
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

    /// Whether the value at `index` has a shape of any kind.
    func accepts(
        _ shape: JSONShape, _ index: Int, _ place: ShapePlace, isStrict: Bool
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
        default: return shape.rule.acceptsLeaf(JSON(tape: tape, index: index), kind)
        }
    }

    /// Whether all items of an array, or with `place` the values of an object, have a shape.
    private func acceptsItems(
        _ box: JSONShape.Box, _ index: Int, _ place: ShapePlace, isStrict: Bool
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
                inner == 0 || kind != Word.Kind.array.rawValue || !areSure(next, by: inner)
            {
                let isAccepted =
                    quickly(step, next, isStrict: isStrict)
                    ?? accepts(box.shape, next, place, isStrict: isStrict)
                guard isAccepted else { return false }
            }
            let isContainer = kind >= Word.Kind.array.rawValue
            next = (isContainer ? Word.end(words[next &+ 1]) : next &+ 1) &+ skip
        }
        return true
    }

    /// Whether all items of an array are scalars of the kinds in `sure`: arrays of numbers in arrays
    /// are common, short and many.
    @inline(__always)
    private func areSure(_ index: Int, by sure: UInt64) -> Bool {
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

    private func acceptsMembers(
        _ members: JSONShape.Members, _ index: Int, isStrict: Bool
    ) -> Bool {
        var cursor = MemberCursor(tape: tape, object: index)
        var found = 0
        let entries = members.entries
        var number = 0
        while number < entries.count {
            let entry = entries[number]
            let value = cursor.findOnce(entry.key, bits: entry.bits)
            if value > 0 {
                found &+= 1
                let isAccepted =
                    quickly(entry.step, value, isStrict: isStrict)
                    ?? accepts(members.shapes[number], value, .key, isStrict: isStrict)
                guard isAccepted else { return false }
            } else if !entry.step.isOptional {
                return false
            }
            number &+= 1
        }
        // With as many keys as were found, none can be foreign, unless one is repeated.
        return !members.isClosed || found == cursor.count
            || cursor.firstForeign(to: members, in: tape) == nil
    }
}

extension MemberCursor {
    /// The index of the first key that the shape does not have.
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
