/// Breaks types that contain themselves.
enum Recursion {
    /// Marks unions in a circle as indirect, and the properties that close circles of structures.
    static func breakCircles(_ declarations: [Declaration]) {
        let byKey = Dictionary(declarations.map { ($0.key, $0) }) { first, _ in first }
        for declaration in declarations {
            guard case .union(var union) = declaration.body else { continue }
            if reaches(declaration.key, from: declaration, byKey) {
                union.isIndirect = true
                declaration.body = .union(union)
            }
        }
        var done: Set<TypeKey> = []
        for declaration in declarations { visit(declaration, byKey, [], &done) }
    }

    /// Removes cases by which a union is decoded as itself, without a member or an item between: reading it would not end.
    ///
    /// Returns the unions that lost a case.
    static func breakUnions(_ declarations: [Declaration]) -> [Declaration] {
        let byKey = Dictionary(declarations.map { ($0.key, $0) }) { first, _ in first }
        func reaches(_ key: TypeKey, from type: SwiftType, _ seen: inout Set<TypeKey>) -> Bool {
            guard case .declared(let next) = type, seen.insert(next).inserted else { return false }
            if next == key { return true }
            guard case .union(let union)? = byKey[next]?.body else { return false }
            return union.cases.contains { reaches(key, from: $0.type, &seen) }
        }
        return declarations.filter { declaration in
            guard case .union(var union) = declaration.body else { return false }
            let count = union.cases.count
            union.cases.removeAll { item in
                var seen: Set<TypeKey> = []
                return reaches(declaration.key, from: item.type, &seen)
            }
            declaration.body = .union(union)
            return union.cases.count < count
        }
    }

    private static func parts(of declaration: Declaration) -> [TypeKey] {
        let types: [SwiftType] =
            switch declaration.body {
            case .structure(let structure): structure.properties.map(\.type)
            case .union(let union): union.cases.map(\.type)
            case .enumeration: []
            }
        return types.compactMap { if case .declared(let key) = $0 { key } else { nil } }
    }

    private static func reaches(
        _ key: TypeKey, from start: Declaration, _ byKey: [TypeKey: Declaration]
    ) -> Bool {
        var seen: Set<TypeKey> = []
        var open = parts(of: start)
        while let next = open.popLast() {
            if next == key { return true }
            guard seen.insert(next).inserted, let declaration = byKey[next] else { continue }
            open += parts(of: declaration)
        }
        return false
    }

    private static func visit(
        _ declaration: Declaration, _ byKey: [TypeKey: Declaration], _ path: Set<TypeKey>,
        _ done: inout Set<TypeKey>
    ) {
        guard done.insert(declaration.key).inserted,
            case .structure(var structure) = declaration.body
        else { return }
        let path = path.union([declaration.key])
        for position in structure.properties.indices {
            guard case .declared(let key) = structure.properties[position].type,
                let part = byKey[key]
            else { continue }
            if path.contains(key) {
                structure.properties[position].isIndirect = true
                declaration.body = .structure(structure)
            } else {
                // A union that is not indirect is in no circle.
                visit(part, byKey, path, &done)
            }
        }
    }
}
