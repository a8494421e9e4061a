extension JSONShape {
    /// A schema that references lead to, by its pointer.
    //
    // @unchecked: the shape is set under the lock of its document, before a shape that refers to it leaves the document.
    final class Definition: @unchecked Sendable {
        let name: String
        var shape = JSONShape.any

        init(_ name: String) { self.name = name }
    }

    /// A shape by its definition, which may contain it; the document of the outermost shape keeps it alive.
    final class Reference: Sendable {
        private unowned let definition: Definition

        init(_ definition: Definition) { self.definition = definition }

        var name: String { definition.name }
        var shape: JSONShape { definition.shape }
    }

    /// The shapes of an object's variants, by the value of one of its members.
    final class Choice: Sendable {
        let key: String
        /// The shapes by the bytes of the member's value.
        let shapes: [[UInt8]: JSONShape]
        /// The shape of a value without that member.
        let otherwise: JSONShape

        init(key: String, shapes: [[UInt8]: JSONShape], otherwise: JSONShape) {
            self.key = key
            self.shapes = shapes
            self.otherwise = otherwise
        }

        /// The variant of a value; `nil` if its member names none.
        func shape(of json: JSON) -> JSONShape? {
            let member = json[key]
            guard member.exists else { return otherwise }
            return member.string.flatMap { shapes[Array($0.utf8)] }
        }
    }

    /// The shapes of the first items of an array, and of the others.
    final class Positions: Sendable {
        let first: [JSONShape]
        let others: JSONShape

        init(first: [JSONShape], others: JSONShape) {
            self.first = first
            self.others = others
        }

        func shape(at position: Int) -> JSONShape {
            first.indices.contains(position) ? first[position] : others
        }
    }

    /// The shapes of an object's members by key, by pattern, and of the others.
    final class MemberRules: Sendable {
        /// The shapes by the bytes of their keys.
        let keys: [[UInt8]: JSONShape]
        let patterns: [(pattern: ShapePattern, shape: JSONShape)]
        /// The shape of members that no key and no pattern names.
        let others: JSONShape

        init(
            keys: [[UInt8]: JSONShape], patterns: [(pattern: ShapePattern, shape: JSONShape)],
            others: JSONShape
        ) {
            self.keys = keys
            self.patterns = patterns
            self.others = others
        }

        /// The shapes that the value of a key must have.
        func shapes(for key: String) -> [JSONShape] {
            var shapes = patterns.filter { $0.pattern.isFound(in: key) }.map(\.shape)
            if let shape = keys[Array(key.utf8)] { shapes.append(shape) }
            return shapes.isEmpty ? [others] : shapes
        }
    }
}
