/// The arguments of a request: an ordered list of names and values; names can repeat.
///
/// Usually written as a literal:
///
///     ["user": name, "page": 2, "tags": ["a", "b"], "nickname": nil, "near": ["lat": 52.5, "lon": 13.4]]
///
/// `nil` becomes null. A nested literal is a dictionary, which is sorted by key and has values of one type. To
/// keep its order or to mix types, state its type: `["b": 1, "a": "x"] as Arguments`. For arrays of mixed
/// types use ``ArgumentList``. ``init(encoding:encoder:)`` takes the members of an `Encodable` value.
public struct Arguments: Sendable, Hashable {
    package struct Item: Sendable, Hashable {
        package var name: String
        package var node: Arguments.Node
        /// The origin of the name, which decides whether the strategies of a JSON encoder apply.
        package var source = Source.literal
        /// Whether it is a nil property of an encoded type: a null in queries and forms, and left out of JSON and
        /// property lists, as encoders do.
        package var isAbsent = false
    }

    /// The origin of a name.
    package enum Source: UInt8, Sendable, Hashable {
        /// Written as it is; strategies do not apply to it, nor to plain values below it.
        case literal
        /// A key of an encoded type; a key strategy converts it.
        case codingKey
        /// A key of an encoded dictionary, which is data: no strategy converts it.
        case dictionaryKey
    }

    package var items: [Item] = []
    /// The reason why a value could not be encoded; a request with these arguments fails with it.
    package var failure: Failure?

    /// An error, compared by identity.
    package final class Failure: Sendable, Hashable {
        package let error: RequestError

        package init(_ error: RequestError) { self.error = error }

        package static func == (left: Failure, right: Failure) -> Bool { left === right }
        package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    /// Creates empty arguments.
    public init() {}

    /// Creates arguments from pairs, in their order.
    public init(pairs: some Sequence<(String, (any ArgumentValue)?)>) {
        items = pairs.map { Item(name: $0, node: $1?.argumentNode ?? .null) }
    }

    /// Creates arguments from a dictionary, sorted by key.
    public init(dictionary: [String: (any ArgumentValue)?]) {
        items = dictionary.map { Item(name: $0, node: $1?.argumentNode ?? .null) }
        self = sorted()
    }

    /// Whether there are no arguments; false if a value could not be encoded.
    public var isEmpty: Bool { items.isEmpty && failure == nil }

    /// The number of top-level arguments.
    public var count: Int { items.count }

    /// The top-level names in order, including duplicates.
    public var names: [String] { items.map(\.name) }

    /// The first value with this name; `nil` if there is none.
    ///
    /// Setting a value replaces the first argument of that name in place and removes the others. Setting `nil`
    /// removes all of them; to set a null, assign ``Arguments/Node/null``.
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

    /// Appends an argument and keeps existing ones of the same name; `nil` appends a null.
    public mutating func append(_ name: String, _ value: (any ArgumentValue)?) {
        items.append(Item(name: name, node: value?.argumentNode ?? .null))
    }

    /// Returns these arguments with the shared arguments of a configuration before them.
    ///
    /// - Parameters:
    ///   - shared: The shared arguments. An argument in `self` replaces the shared ones of the same name.
    ///   - fixedNames: The names for which the shared argument replaces the ones in `self` (default none).
    public func merging(shared: Arguments, fixedNames: Set<String> = []) -> Arguments {
        guard !shared.isEmpty else { return self }
        guard !isEmpty else { return shared }
        let own = Set(items.lazy.map(\.name))
        let fixed = Set(shared.items.lazy.map(\.name)).intersection(fixedNames)
        var merged = Arguments()
        merged.failure = failure ?? shared.failure
        merged.items = shared.items.filter { fixed.contains($0.name) || !own.contains($0.name) }
        merged.items += items.lazy.filter { !fixed.contains($0.name) }
        return merged
    }

    /// Returns these arguments and the later ones, which replace arguments of the same name.
    public func merging(_ later: Arguments) -> Arguments { later.merging(shared: self) }

    /// Returns the arguments without those of some names, such as nonces and timestamps.
    public func without(_ names: Set<String>) -> Arguments {
        var copy = self
        copy.items.removeAll { names.contains($0.name) }
        return copy
    }

    /// Returns the arguments sorted by name in UTF-16 code units; equal names keep their order.
    ///
    /// Sorts only the top level. ``ArgumentEncoding/sortsKeys`` sorts every level.
    public func sorted() -> Arguments {
        var copy = self
        // The offset makes the sort stable, which the standard library does not guarantee.
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

    /// Fails if a value at the top level could not be encoded; writers call it for each level.
    package func check() throws(RequestError) {
        if let failure { throw failure.error }
    }

    /// Fails if a value at any level could not be encoded, for a closure that receives the arguments.
    package func checkAllLevels() throws(RequestError) {
        try check()
        for item in items { try item.node.checkAllLevels() }
    }

    private mutating func set(_ node: Arguments.Node, for name: String) {
        guard let first = items.firstIndex(where: { $0.name == name }) else {
            items.append(Item(name: name, node: node))
            return
        }
        items[first].node = node
        items[first].isAbsent = false
        let rest = items[(first + 1)...].filter { $0.name != name }
        items.replaceSubrange((first + 1)..., with: rest)
    }
}

extension Arguments: ExpressibleByDictionaryLiteral {
    /// Creates arguments from a literal, in its order; `nil` becomes null.
    public init(dictionaryLiteral elements: (String, (any ArgumentValue)?)...) {
        items.reserveCapacity(elements.count)
        for (name, value) in elements {
            items.append(Item(name: name, node: value?.argumentNode ?? .null))
        }
    }
}

extension Arguments.Node {
    fileprivate func checkAllLevels() throws(RequestError) {
        switch self {
        case .object(let arguments): try arguments.checkAllLevels()
        case .array(let nodes), .set(let nodes): for node in nodes { try node.checkAllLevels() }
        default: return
        }
    }
}

extension Arguments: ArgumentValue {
    /// The arguments as a nested object.
    public var argumentNode: Arguments.Node { .object(self) }
}

/// An array of values of different types: `["list": [1, "two", nil] as ArgumentList]`.
public struct ArgumentList: ArgumentValue, ExpressibleByArrayLiteral {
    /// The values as an array node.
    public let argumentNode: Arguments.Node

    /// Creates a list from a literal; `nil` becomes null.
    public init(arrayLiteral elements: (any ArgumentValue)?...) {
        self.init(elements)
    }

    /// Creates a list from a sequence; `nil` becomes null.
    public init(_ elements: some Sequence<(any ArgumentValue)?>) {
        argumentNode = .array(elements.map { $0?.argumentNode ?? .null })
    }
}
