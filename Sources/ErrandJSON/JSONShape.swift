/// What an answer must look like: a value written as a literal, checked without building anything.
///
/// For example:
///
///     let shape: JSONShape = [
///         "total": .int,
///         "users": [["id": .number, "nick": .string, "bio": .optional(.string)]],
///     ]
///     try shape.validate(json)
///
/// - A dictionary demands an object with these keys, in any order; other keys are ignored. Write
///   `.closed([…])` to refuse them, `.optional(…)` for a key that may be missing.
/// - An array demands an array in which every item has the shape of the first element; `[]` takes
///   any array. For a shape of each position write `.tuple([…])`.
/// - `null` passes under a key, whatever is demanded, and fails as an item of an array or at the
///   top: that is how validators of this family have always read it. `strict` refuses it
///   everywhere; `.nullable(…)` allows it and `.nonNull(…)` refuses it at one place.
/// - `true` and `false` pass as `.number` (they always have), not as `.int` or `.double`.
public struct JSONShape: Sendable {
    /// What the value itself must be.
    var rule: Rule
    /// Whether a key with this shape may be missing.
    var isOptional = false
    var nulls = Nulls.byPlace
    /// Whether `null` is refused from here on downwards, unless a shape allows it.
    var isStrict = false

    /// Whether an answer without a body fails; by default there is nothing to check in it and
    /// it passes.
    public var requiresBody = false

    enum Nulls: Sendable { case byPlace, accepted, refused }

    init(_ rule: Rule) { self.rule = rule }

    /// What a value must be, apart from `null`.
    enum Rule: Sendable {
        case any, null, bool, string, number, int, double, anyArray, anyObject
        case object(Members)
        /// An object whose values all have one shape.
        case dictionary(Box)
        case array(Box)
        case tuple([JSONShape])
        case integers(NumberRange<Int64>)
        case numbers(NumberRange<Double>)
        /// A string with so many characters.
        case length(NumberRange<Int64>)
        case pattern(ShapePattern)
        case enumeration([JSON])
        case oneOf([JSONShape])
        case custom(name: String, test: @Sendable (JSON) -> Bool)
        /// A mistake in the shape, in words.
        case broken(String)
    }

    /// A shape inside a shape.
    //
    // @unchecked: everything is immutable; the steps point to what `shape` keeps alive.
    final class Box: @unchecked Sendable {
        let shape: JSONShape

        /// The shape as an array's item, for the quick walk.
        let itemStep: ShapeStep
        /// The shape as the value of any key, for the quick walk.
        let keyStep: ShapeStep

        init(_ shape: JSONShape) {
            self.shape = shape
            itemStep = ShapeStep(shape, place: .item)
            keyStep = ShapeStep(shape, place: .key)
        }
    }

    /// The keys of an object's shape in the author's order.
    //
    // @unchecked: everything is immutable; the steps point to what `shapes` keeps alive.
    final class Members: @unchecked Sendable {
        let keys: [String]
        let shapes: [JSONShape]
        /// Both once more, for the quick walk.
        let entries: UnsafeBufferPointer<Entry>
        private let text: UnsafeMutablePointer<UInt8>
        let isClosed: Bool

        /// What the quick walk needs to know about a key and its value.
        struct Entry {
            let key: UnsafeBufferPointer<UInt8>
            /// Kind and length of the key's word in a tape, if it has no escapes.
            let head: UInt64
            let prefix: TextPrefix
            let isLong: Bool
            /// What `MemberCursor` tells the keys apart by.
            let bits: UInt64
            let step: ShapeStep

            /// - Parameter start: Where the key begins; `TextPrefix.capacity` bytes may be read.
            init(
                _ key: UnsafeBufferPointer<UInt8>, _ start: UnsafePointer<UInt8>, _ shape: JSONShape
            ) {
                self.key = key
                // No tape has longer keys than a word can describe.
                head =
                    key.count <= Word.maximumLength
                    ? Word.make(.string, length: key.count, offset: 0) >> 32 : .max
                prefix = TextPrefix(start, count: key.count)
                isLong = key.count > TextPrefix.capacity
                bits = MemberCursor.bits(key.baseAddress, key.count)
                step = ShapeStep(shape, place: .key)
            }

            /// Whether a key that has `head` is this one.
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

    /// Bounds of which either may be missing.
    struct NumberRange<Bound: Comparable & Sendable>: Sendable {
        var lower: Bound?
        var upper: Bound?
        /// Whether the upper bound itself is outside.
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
    /// An object with these keys.
    public init(dictionaryLiteral members: (String, JSONShape)...) {
        self.init(members)
    }

    /// An array whose items all have the first element's shape; without one, any array.
    public init(arrayLiteral elements: JSONShape...) {
        guard let first = elements.first else {
            self.init(.anyArray)
            return
        }
        self.init(.array(Box(first)))
    }

    /// An object with these keys, for shapes that are put together at run time.
    public init(_ members: [(String, JSONShape)]) {
        self.init(.object(Members(members.map { (key: $0.0, shape: $0.1) }, isClosed: false)))
    }
}
