/// The slow path of validation: it tracks the path and collects faults.
struct ShapeFaultSearch {
    let tape: Tape
    let limit: Int
    private(set) var faults: [JSONShape.Fault] = []
    private var path = ShapePath()

    init(tape: Tape, limit: Int) {
        self.tape = tape
        self.limit = limit
    }

    private var isFull: Bool { faults.count >= limit }

    mutating func visit(
        _ shape: JSONShape, _ index: Int, _ place: ValuePosition, isStrict: Bool
    ) {
        if isFull { return }
        let kind = tape.kind(at: index)
        let isStrict = isStrict || shape.isStrict
        if kind == .null, let decision = shape.decidesNull(place, isStrict: isStrict) {
            if !decision { add(shape, index) }
            return
        }
        switch shape.rule {
        case .object(let members) where kind == .object:
            visitMembers(members, index, isStrict: isStrict)
        case .array(let item) where kind == .array:
            visitItems(index) { _ in
                item.shape
            } isStrict: {
                isStrict
            }
        case .tuple(let items) where kind == .array:
            if Word.count(tape.words[index + 1]) != items.count {
                add(shape, index)
            } else {
                visitItems(index) {
                    items[$0]
                } isStrict: {
                    isStrict
                }
            }
        case .dictionary(let value) where kind == .object:
            visitValues(value.shape, index, isStrict: isStrict)
        case .allOf(let shapes):
            for shape in shapes where !isFull { visit(shape, index, place, isStrict: isStrict) }
        case .defined(let inner, _): visit(inner.shape, index, place, isStrict: isStrict)
        case .reference(let reference): visit(reference.shape, index, place, isStrict: isStrict)
        case .choice(let choice) where kind == .object:
            visitVariant(choice, index, place, isStrict: isStrict)
        case .positions(let positions) where kind == .array:
            visitItems(index) {
                positions.shape(at: $0)
            } isStrict: {
                isStrict
            }
        case .members(let rules) where kind == .object:
            visitRules(rules, index, isStrict: isStrict)
        default:
            let match = ShapeMatch(tape: tape)
            if !match.accepts(shape, index, place, isStrict: isStrict) { add(shape, index) }
        }
    }

    private mutating func visitVariant(
        _ choice: JSONShape.Choice, _ index: Int, _ place: ValuePosition, isStrict: Bool
    ) {
        let json = JSON(tape: tape, index: index)
        if let variant = choice.shape(of: json) {
            visit(variant, index, place, isStrict: isStrict)
            return
        }
        path.push(.key(choice.key))
        let names = choice.shapes.keys.map { String(decoding: $0, as: UTF8.self) }.sorted()
            .joined(separator: ", ")
        faults.append(
            JSONShape.Fault(
                steps: path.faultSteps, expected: "one of \(names)",
                found: json[choice.key].kindInWords))
        path.pop()
    }

    private mutating func visitRules(
        _ rules: JSONShape.MemberRules, _ index: Int, isStrict: Bool
    ) {
        for (key, value) in JSON(tape: tape, index: index).object ?? [] where !isFull {
            path.push(.key(key))
            for shape in rules.shapes(for: key) where !isFull {
                visit(shape, value.index, .key, isStrict: isStrict)
            }
            path.pop()
        }
    }

    private mutating func visitItems(
        _ index: Int, _ shape: (Int) -> JSONShape, isStrict: () -> Bool
    ) {
        let stop = tape.end(of: index)
        var place = index + 2
        var position = 0
        while place < stop, !isFull {
            path.push(.position(position))
            visit(shape(position), place, .item, isStrict: isStrict())
            path.pop()
            place = tape.end(of: place)
            position += 1
        }
    }

    private mutating func visitValues(_ shape: JSONShape, _ index: Int, isStrict: Bool) {
        let stop = tape.end(of: index)
        var place = index + 2
        while place < stop, !isFull {
            path.push(.key(tape.string(at: place)))
            visit(shape, place + 1, .key, isStrict: isStrict)
            path.pop()
            place = tape.end(of: place + 1)
        }
    }

    private mutating func visitMembers(
        _ members: JSONShape.Members, _ index: Int, isStrict: Bool
    ) {
        var cursor = MemberCursor(tape: tape, object: index)
        for (number, shape) in members.shapes.enumerated() where !isFull {
            path.push(.key(members.keys[number]))
            let value = cursor.find(members.entries[number].key)
            if value > 0 {
                visit(shape, value, .key, isStrict: isStrict)
            } else if !shape.isOptional {
                faults.append(
                    JSONShape.Fault(
                        steps: path.faultSteps, expected: shape.expectation,
                        found: "nothing: the key is missing"))
            }
            path.pop()
        }
        guard members.isClosed, !isFull, let place = cursor.firstForeign(to: members, in: tape)
        else {
            return
        }
        path.push(.key(tape.string(at: place)))
        faults.append(
            JSONShape.Fault(
                steps: path.faultSteps, expected: "no such key",
                found: JSON(tape: tape, index: place + 1).kindInWords))
        path.pop()
    }

    private mutating func add(_ shape: JSONShape, _ index: Int) {
        faults.append(
            JSONShape.Fault(
                steps: path.faultSteps, expected: shape.expectation,
                found: JSON(tape: tape, index: index).kindInWords))
    }
}

extension JSON {
    /// The kind of a value for error messages.
    ///
    /// It never contains the value itself, which may be secret.
    var kindInWords: String {
        switch kind {
        case .absent: "nothing"
        case .null: "null"
        case .bool: "a Bool"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array of \(count)"
        case .object: "an object"
        }
    }
}

extension JSONShape {
    /// The expected value for error messages.
    var expectation: String {
        let text = rule.expectation
        return nulls == .accepted ? text + " or null" : text
    }
}

extension JSONShape.Rule {
    var expectation: String {
        switch self {
        case .any: "any value"
        case .null: "null"
        case .bool: "a Bool"
        case .string: "a string"
        case .number: "a number"
        case .int: "an integer"
        case .double: "a number within the range of Double"
        case .anyArray, .array: "an array"
        case .anyObject, .object, .dictionary: "an object"
        case .tuple(let items): "an array of \(items.count)"
        case .integers(let range): "an integer \(range.inWords)"
        case .numbers(let range):
            range.inWords.isEmpty ? "a number" : "a number \(range.inWords)"
        case .length(let range): "a string with a length \(range.inWords)"
        case .pattern(let pattern):
            "a string of at most \(ShapePattern.maximumTextBytes) bytes matching \(pattern.expression)"
        case .enumeration(let values):
            "one of " + values.map(\.description).joined(separator: ", ")
        case .oneOf(let shapes):
            shapes.map(\.expectation).joined(separator: " or ")
        case .allOf(let shapes):
            shapes.map(\.expectation).joined(separator: " and ")
        case .custom(let name, _): name
        case .defined(let inner, _): inner.shape.expectation
        case .reference(let reference): "a value of \(reference.name)"
        case .choice(let choice): "an object with \(choice.key)"
        case .positions: "an array"
        case .members: "an object"
        case .broken(let text): text
        }
    }
}

extension JSONShape.NumberRange {
    var inWords: String {
        let low = lower.map { "from \($0)" }
        let high = upper.map { excludesUpper ? "below \($0)" : "up to \($0)" }
        return [low, high].compactMap { $0 }.joined(separator: " ")
    }
}
