/// The arguments of a request: names and values, in the author's order, duplicates and all.
///
/// Written as a literal:
///
///     ["user": name, "page": 2, "tags": ["a", "b"], "nickname": nil, "near": ["lat": 52.5, "lon": 13.4]]
///
/// `nil` is null. A nested literal is a plain dictionary, sorted by key; where its order counts, or it mixes
/// kinds of values, name its type: `["b": 1, "a": "x"] as Arguments`, and ``ArgumentList`` for arrays.
public struct Arguments: Sendable, Hashable {
    package struct Item: Sendable, Hashable {
        package var name: String
        package var node: ArgumentNode
    }

    package var items: [Item] = []

    /// No arguments.
    public init() {}

    /// The pairs in their order.
    public init(pairs: some Sequence<(String, (any ArgumentValue)?)>) {
        items = pairs.map { Item(name: $0, node: $1?.argumentNode ?? .null) }
    }

    /// The entries of a dictionary, sorted by key.
    public init(dictionary: [String: (any ArgumentValue)?]) {
        items = dictionary.map { Item(name: $0, node: $1?.argumentNode ?? .null) }
        self = sorted()
    }

    /// Whether there is nothing in it.
    public var isEmpty: Bool { items.isEmpty }

    /// How many pairs there are at the top.
    public var count: Int { items.count }

    /// The names at the top, in order, as often as they occur.
    public var names: [String] { items.map(\.name) }

    /// The first value with this name; `nil` where there is none.
    ///
    /// Setting a value replaces the first one of that name in its place and drops the others; setting `nil`
    /// drops them all. For a null, set ``ArgumentNode/null``.
    public subscript(name: String) -> (any ArgumentValue)? {
        get { items.first { $0.name == name }?.node }
        set {
            guard let newValue else {
                items.removeAll { $0.name == name }
                return
            }
            set(newValue.argumentNode, for: name)
        }
    }

    /// Adds a pair at the end, whatever is there already; `nil` adds a null.
    public mutating func append(_ name: String, _ value: (any ArgumentValue)?) {
        items.append(Item(name: name, node: value?.argumentNode ?? .null))
    }

    /// Adds the shared arguments of a configuration in front of these (row CFG-3).
    ///
    /// - Parameters:
    ///   - shared: They give way to arguments of the same name in `self`,
    ///   - fixedNames: unless their names are among these: then it is `self` that gives way.
    public func merging(shared: Arguments, fixedNames: Set<String> = []) -> Arguments {
        guard !shared.isEmpty else { return self }
        guard !isEmpty else { return shared }
        let own = Set(items.lazy.map(\.name))
        let fixed = Set(shared.items.lazy.map(\.name)).intersection(fixedNames)
        var merged = Arguments()
        merged.items = shared.items.filter { fixed.contains($0.name) || !own.contains($0.name) }
        merged.items += items.lazy.filter { !fixed.contains($0.name) }
        return merged
    }

    /// These arguments and later ones, which win over arguments of the same name.
    public func merging(_ later: Arguments) -> Arguments { later.merging(shared: self) }

    /// The same pairs sorted by name, by code units; equal names keep their order.
    ///
    /// Only at the top: ``ArgumentEncoding/sortsKeys`` sorts at every level.
    public func sorted() -> Arguments {
        var copy = self
        // NB: the standard library's sort is stable, though it does not promise it; hence the offset.
        copy.items = items.enumerated()
            .sorted { left, right in
                let names = (left.element.name.utf16, right.element.name.utf16)
                if names.0.lexicographicallyPrecedes(names.1) { return true }
                if names.1.lexicographicallyPrecedes(names.0) { return false }
                return left.offset < right.offset
            }
            .map(\.element)
        return copy
    }

    private mutating func set(_ node: ArgumentNode, for name: String) {
        guard let first = items.firstIndex(where: { $0.name == name }) else {
            items.append(Item(name: name, node: node))
            return
        }
        items[first].node = node
        let rest = items[(first + 1)...].filter { $0.name != name }
        items.replaceSubrange((first + 1)..., with: rest)
    }
}

extension Arguments: ExpressibleByDictionaryLiteral {
    /// The pairs of a literal in their order; `nil` is null.
    public init(dictionaryLiteral elements: (String, (any ArgumentValue)?)...) {
        items.reserveCapacity(elements.count)
        for (name, value) in elements {
            items.append(Item(name: name, node: value?.argumentNode ?? .null))
        }
    }
}

extension Arguments: ArgumentValue {
    /// These arguments as a value within others.
    public var argumentNode: ArgumentNode { .object(self) }
}

/// Values of different kinds in order: `["list": [1, "two", nil] as ArgumentList]`.
public struct ArgumentList: ArgumentValue, ExpressibleByArrayLiteral {
    /// The values as one node.
    public let argumentNode: ArgumentNode

    /// The values of a literal; `nil` is null.
    public init(arrayLiteral elements: (any ArgumentValue)?...) {
        self.init(elements)
    }

    /// The values of a sequence; `nil` is null.
    public init(_ elements: some Sequence<(any ArgumentValue)?>) {
        argumentNode = .array(elements.map { $0?.argumentNode ?? .null })
    }
}
