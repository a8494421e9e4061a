/// Breaks types that contain themselves.
enum Recursion {
    /// Marks unions in a circle as indirect, and the properties that close circles of structures.
    static func breakCircles(_ declarations: [Declaration]) {
        let byKey = Dictionary(declarations.map { ($0.key, $0) }) { first, _ in first }
        let circles = Circles(byKey.mapValues(parts))
        for declaration in declarations {
            guard case .union(var union) = declaration.body, circles.contain(declaration.key)
            else { continue }
            union.isIndirect = true
            declaration.body = .union(union)
        }
        var done: Set<TypeKey> = []
        var path: Set<TypeKey> = []
        for declaration in declarations { visit(declaration, byKey, &path, &done) }
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

    private static func visit(
        _ declaration: Declaration, _ byKey: [TypeKey: Declaration], _ path: inout Set<TypeKey>,
        _ done: inout Set<TypeKey>
    ) {
        guard done.insert(declaration.key).inserted,
            case .structure(var structure) = declaration.body
        else { return }
        path.insert(declaration.key)
        defer { path.remove(declaration.key) }
        for position in structure.properties.indices {
            guard case .declared(let key) = structure.properties[position].type,
                let part = byKey[key]
            else { continue }
            if path.contains(key) {
                structure.properties[position].isIndirect = true
                declaration.body = .structure(structure)
            } else {
                // A union that is not indirect is in no circle.
                visit(part, byKey, &path, &done)
            }
        }
    }
}

/// The types that lead back to themselves: those of the strongly connected parts of a graph (Tarjan's algorithm).
struct Circles {
    private let parts: [TypeKey: [TypeKey]]
    private var members: Set<TypeKey> = []
    private var numbers: [TypeKey: Int] = [:]
    private var lows: [TypeKey: Int] = [:]
    private var stack: [TypeKey] = []
    private var open: Set<TypeKey> = []

    init(_ parts: [TypeKey: [TypeKey]]) {
        self.parts = parts
        for key in parts.keys where numbers[key] == nil { visit(key) }
    }

    func contain(_ key: TypeKey) -> Bool { members.contains(key) }

    private mutating func visit(_ key: TypeKey) {
        let number = numbers.count
        numbers[key] = number
        var low = number
        stack.append(key)
        open.insert(key)
        for next in parts[key] ?? [] where parts[next] != nil {
            if next == key { members.insert(key) }
            if numbers[next] == nil { visit(next) }
            if open.contains(next) { low = min(low, lows[next] ?? numbers[next] ?? low) }
        }
        lows[key] = low
        guard low == number else { return }
        let start = stack.lastIndex(of: key) ?? 0
        let part = stack[start...]
        if part.count > 1 { members.formUnion(part) }
        open.subtract(part)
        stack.removeSubrange(start...)
    }
}
