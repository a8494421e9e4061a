/// Header names and values as text, in order; names may repeat.
///
/// They are checked when the request is built, so that text from elsewhere needs no check of its own. A dictionary
/// literal makes one, also with equal names:
///
///     override var headerFieldValues: HeaderPairs { ["X-Trace": trace, "X-Tag": "a", "X-Tag": "b"] }
public struct HeaderPairs: Sendable {
    private var pairs: [Element] = []

    /// Creates no pairs.
    public init() {}

    /// Creates pairs from a sequence, in its order.
    public init(_ pairs: some Sequence<(String, String)>) {
        self.pairs = pairs.map { (name: $0.0, value: $0.1) }
    }

    /// Creates pairs from a dictionary, sorted by name.
    public init(_ dictionary: [String: String]) {
        pairs = dictionary.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    /// Adds a pair at the end; earlier pairs with the name are kept.
    public mutating func append(_ name: String, _ value: String) { pairs.append((name, value)) }

    /// The values of a name, joined with `, `; `nil` if there are none.
    ///
    /// Letter case does not matter. Setting a value replaces all values of the name; `nil` removes them.
    public subscript(_ name: String) -> String? {
        get {
            let values = pairs.filter { Self.isSame($0.name, name) }.map(\.value)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            pairs.removeAll { Self.isSame($0.name, name) }
            if let newValue { append(name, newValue) }
        }
    }

    private static func isSame(_ name: String, _ other: String) -> Bool {
        name.lowercasedASCII() == other.lowercasedASCII()
    }
}

extension HeaderPairs: RandomAccessCollection {
    /// A name and a value.
    public typealias Element = (name: String, value: String)

    /// The position of the first pair.
    public var startIndex: Int { pairs.startIndex }
    /// The position after the last pair.
    public var endIndex: Int { pairs.endIndex }

    /// The pair at a position.
    public subscript(position: Int) -> Element { pairs[position] }
}

extension HeaderPairs: ExpressibleByDictionaryLiteral {
    /// Creates pairs from a literal, in its order; names may repeat.
    public init(dictionaryLiteral elements: (String, String)...) { self.init(elements) }
}

extension HeaderPairs: Equatable {
    /// Whether both have equal pairs in the same order.
    public static func == (left: HeaderPairs, right: HeaderPairs) -> Bool {
        left.elementsEqual(right, by: ==)
    }
}

extension HeaderPairs: CustomStringConvertible, CustomReflectable {
    /// The names; values may be secret.
    public var description: String { "HeaderPairs: \(pairs.map(\.name))" }
    /// The names; values may be secret.
    public var customMirror: Mirror { Mirror(self, children: ["names": pairs.map(\.name)]) }
}
