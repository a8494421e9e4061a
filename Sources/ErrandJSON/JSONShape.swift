// Performance annotations: decision 17.

/// A description of valid JSON, written as a literal and checked without decoding the value.
///
/// For example:
///
///     let shape: JSONShape = [
///         "total": .int,
///         "users": [["id": .number, "nick": .string, "bio": .optional(.string)]],
///     ]
///     try shape.validate(json)
///
/// - A dictionary requires an object with these keys, in any order; other keys are ignored. Use
///   `.closed([…])` to reject other keys and `.optional(…)` for a key that may be missing.
/// - An array requires an array in which every item has the shape of the first element; `[]`
///   accepts any array. Use `.tuple([…])` for a separate shape at each position.
/// - `null` passes as the value of a key, whatever its shape, and fails as an item of an array or
///   at the top level, for compatibility with YTKNetwork's JSON validator. `strict` rejects it
///   everywhere; `.nullable(…)` accepts it and `.nonNull(…)` rejects it in one position.
/// - `true` and `false` pass as `.number`, for the same compatibility, but not as `.int` or
///   `.double`.
public struct JSONShape: Sendable {
    /// The rule for values other than `null`.
    var rule: Rule
    /// Whether the key may be missing.
    var isOptional = false
    var nulls = Nulls.byPlace
    /// Whether `null` is rejected at this level and below unless a shape accepts it explicitly.
    var isStrict = false

    /// Whether a response without a body fails validation; false by default.
    public var requiresBody = false

    /// How `null` is decided; with `byRule` it is a value like any other.
    enum Nulls: Sendable { case byPlace, accepted, refused, byRule }

    init(_ rule: Rule) { self.rule = rule }

    /// The rule for values other than `null`.
    enum Rule: Sendable {
        case any, null, bool, string, number, int, double, anyArray, anyObject
        case object(Members)
        /// An object in which every value has the given shape.
        case dictionary(Box)
        case array(Box)
        case tuple([JSONShape])
        case integers(NumberRange<Int64>)
        case numbers(NumberRange<Double>)
        /// A string whose number of characters is within the range.
        case length(NumberRange<Int64>)
        case pattern(ShapePattern)
        case enumeration([JSON])
        case oneOf([JSONShape])
        case allOf([JSONShape])
        case custom(name: String, test: @Sendable (JSON) -> Bool)
        /// A shape, with the document that the references in it lead into.
        case defined(Box, SchemaDocument)
        case reference(Reference)
        case choice(Choice)
        case positions(Positions)
        case members(MemberRules)
        /// An invalid shape, with an error message.
        case broken(String)
    }

    /// A nested shape, by reference.
    //
    // @unchecked: all state is immutable; the steps point to objects that `shape` keeps alive.
    final class Box: @unchecked Sendable {
        let shape: JSONShape

        /// The shape as an array item, prepared for fast validation.
        let itemStep: ShapeStep
        /// The shape as the value of a key, prepared for fast validation.
        let keyStep: ShapeStep

        init(_ shape: JSONShape) {
            self.shape = shape
            itemStep = ShapeStep(shape, place: .item)
            keyStep = ShapeStep(shape, place: .key)
        }
    }

    /// The keys and shapes of an object, in the order of the literal.
    //
    // @unchecked: all state is immutable; the steps point to objects that `shapes` keeps alive.
    final class Members: @unchecked Sendable {
        let keys: [String]
        let shapes: [JSONShape]
        /// The keys and shapes, prepared for fast validation.
        let entries: UnsafeBufferPointer<Entry>
        private let text: UnsafeMutablePointer<UInt8>
        let isClosed: Bool

        /// A key and the shape of its value, prepared for fast validation.
        struct Entry {
            let key: UnsafeBufferPointer<UInt8>
            /// The upper half of the key's tape word (kind and length) if the key has no escapes.
            let head: UInt64
            let prefix: TextPrefix
            let isLong: Bool
            /// The bits of the key in `MemberCursor`'s filter.
            let bits: UInt64
            let step: ShapeStep

            /// Creates an entry.
            ///
            /// - Parameter start: The start of the key; `TextPrefix.capacity` bytes are readable.
            init(
                _ key: UnsafeBufferPointer<UInt8>, _ start: UnsafePointer<UInt8>, _ shape: JSONShape
            ) {
                self.key = key
                // A tape cannot contain a longer key, so `head` never matches.
                head =
                    key.count <= Word.maximumLength
                    ? Word.make(.string, length: key.count, offset: 0) >> 32 : .max
                prefix = TextPrefix(start, count: key.count)
                isLong = key.count > TextPrefix.capacity
                bits = MemberCursor.bits(key.baseAddress, key.count)
                step = ShapeStep(shape, place: .key)
            }

            /// Whether a key is this one, given that its `head` is equal.
            @inline(__always)
            func isKey(_ text: UnsafePointer<UInt8>) -> Bool {
                guard prefix.begins(text) else { return false }
                guard isLong, let base = key.baseAddress else { return true }
                return Bytes.areEqual(text, base, count: key.count)
            }
        }

        init(_ members: [(key: String, shape: JSONShape)], isClosed: Bool) {
            keys = members.map(\.key)
            shapes = members.map(\.shape)
            self.isClosed = isClosed
            let length = keys.reduce(0) { $0 + $1.utf8.count } + TextPrefix.capacity
            text = UnsafeMutablePointer<UInt8>.allocate(capacity: length)
            text.initialize(repeating: 0, count: length)
            let entries = UnsafeMutableBufferPointer<Entry>.allocate(capacity: members.count)
            var next = text
            for (number, member) in members.enumerated() {
                let start = UnsafePointer(next)
                for byte in member.key.utf8 {
                    next.pointee = byte
                    next += 1
                }
                let key = UnsafeBufferPointer(start: start, count: UnsafePointer(next) - start)
                entries.initializeElement(at: number, to: Entry(key, start, member.shape))
            }
            self.entries = UnsafeBufferPointer(entries)
        }

        deinit {
            entries.deallocate()
            text.deallocate()
        }
    }

    /// A range in which either bound may be missing.
    struct NumberRange<Bound: Comparable & Sendable>: Sendable {
        var lower: Bound?
        var upper: Bound?
        /// Whether the upper bound is excluded.
        var excludesUpper = false

        func contains(_ value: Bound) -> Bool {
            if let lower, value < lower { return false }
            guard let upper else { return true }
            return excludesUpper ? value < upper : value <= upper
        }

        var isEmpty: Bool {
            guard let lower, let upper else { return false }
            return excludesUpper ? lower >= upper : lower > upper
        }
    }
}

extension JSONShape: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Creates an object shape with these keys.
    public init(dictionaryLiteral members: (String, JSONShape)...) {
        self.init(members)
    }

    /// Creates an array shape from the shape of its items; without elements it accepts any array.
    public init(arrayLiteral elements: JSONShape...) {
        guard let first = elements.first else {
            self.init(.anyArray)
            return
        }
        self.init(.array(Box(first)))
    }

    /// Creates an object shape from an array, for shapes that are built at run time.
    public init(_ members: [(String, JSONShape)]) {
        self.init(.object(Members(members.map { (key: $0.0, shape: $0.1) }, isClosed: false)))
    }
}
