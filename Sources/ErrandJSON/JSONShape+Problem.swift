extension JSONShape {
    /// A mistake in the shape itself, in words, so that it can be refused before anything is sent;
    /// nil if there is none.
    ///
    /// For example a pattern that does not compile, an empty list of values or an empty range.
    public var problem: String? { problem(at: ShapePath(), depth: 0) }

    private func problem(at path: ShapePath, depth: Int) -> String? {
        if depth > 512 { return "\(path): shapes nest more than 512 deep." }
        func tell(_ words: String) -> String { "\(path): \(words)" }
        func first(_ shapes: [JSONShape]) -> String? {
            shapes.lazy.compactMap { $0.problem(at: path, depth: depth + 1) }.first
        }
        switch rule {
        case .broken(let words): return tell(words)
        case .integers(let range) where range.isEmpty: return tell("The range is empty.")
        case .numbers(let range) where range.isEmpty:
            return tell("The range is empty.")
        case .length(let range) where range.isEmpty || (range.upper ?? 0) < 0:
            return tell("The range of lengths is empty.")
        case .enumeration(let values) where values.isEmpty: return tell("The list is empty.")
        case .enumeration(let values) where values.contains { !$0.exists }:
            return tell("The list has an absent value.")
        case .oneOf(let shapes):
            return shapes.isEmpty ? tell("There is no shape to choose.") : first(shapes)
        case .null where nulls == .refused: return tell("Only null, and never null.")
        case .tuple(let shapes): return first(shapes)
        case .array(let item): return item.shape.problem(at: path.item, depth: depth + 1)
        case .dictionary(let value): return value.shape.problem(at: path.item, depth: depth + 1)
        case .object(let members):
            if let key = firstRepeated(members.keys) { return tell("`\(key)` is there twice.") }
            return zip(members.keys, members.shapes).lazy.compactMap { key, shape in
                shape.problem(at: path.appending(.key(key)), depth: depth + 1)
            }.first
        default: return nil
        }
    }

    private func firstRepeated(_ keys: [String]) -> String? {
        var seen: Set<String> = []
        return keys.first { !seen.insert($0).inserted }
    }
}
