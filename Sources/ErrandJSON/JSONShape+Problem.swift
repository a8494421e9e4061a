extension JSONShape {
    /// A description of an error in the shape itself; nil if there is none.
    ///
    /// Examples are a pattern that does not compile, an empty list of values and an empty range.
    /// Check it before sending a request.
    public var problem: String? { problem(at: ShapePath(), depth: 0) }

    private func problem(at path: ShapePath, depth: Int) -> String? {
        if depth > 512 { return "\(path): shapes are nested more than 512 levels deep." }
        func located(_ message: String) -> String { "\(path): \(message)" }
        func first(_ shapes: [JSONShape]) -> String? {
            shapes.lazy.compactMap { $0.problem(at: path, depth: depth + 1) }.first
        }
        switch rule {
        case .broken(let message): return located(message)
        case .integers(let range) where range.isEmpty: return located("The range is empty.")
        case .numbers(let range) where range.isEmpty:
            return located("The range is empty.")
        case .length(let range) where range.isEmpty || (range.upper ?? 0) < 0:
            return located("The range of lengths is empty.")
        case .enumeration(let values) where values.isEmpty: return located("The list is empty.")
        case .enumeration(let values) where values.contains { !$0.exists }:
            return located("The list contains an absent value.")
        case .oneOf(let shapes):
            return shapes.isEmpty ? located("`.oneOf` has no shapes.") : first(shapes)
        case .allOf(let shapes):
            return shapes.isEmpty ? located("`.allOf` has no shapes.") : first(shapes)
        case .null where nulls == .refused: return located("`null` is required but rejected.")
        case .tuple(let shapes): return first(shapes)
        case .array(let item): return item.shape.problem(at: path.item, depth: depth + 1)
        case .dictionary(let value): return value.shape.problem(at: path.item, depth: depth + 1)
        case .object(let members):
            if let key = firstRepeated(members.keys) { return located("Repeated key `\(key)`.") }
            return zip(members.keys, members.shapes).lazy.compactMap { key, shape in
                shape.problem(at: path.appending(.key(key)), depth: depth + 1)
            }.first
        // The document has checked it.
        case .defined: return nil
        case .choice(let choice): return choice.otherwise.problem(at: path, depth: depth + 1)
        case .positions(let positions):
            return first(positions.first)
                ?? positions.others.problem(at: path.item, depth: depth + 1)
        case .members(let rules):
            return first(Array(rules.keys.values)) ?? first(rules.patterns.map(\.shape))
                ?? rules.others.problem(at: path.item, depth: depth + 1)
        default: return nil
        }
    }

    private func firstRepeated(_ keys: [String]) -> String? {
        var seen: Set<String> = []
        return keys.first { !seen.insert($0).inserted }
    }
}
