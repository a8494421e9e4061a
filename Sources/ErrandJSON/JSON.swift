/// A JSON value: a place in a parsed document, cheap to pass about and never changed.
///
/// For example:
///
///     let json = try JSON(parsing: #"{"users": [{"nick": "ann", "level": 3}]}"#)
///     json["users"][0]["nick"].string      // "ann"
///     json["users"][9]["nick"].string      // nil: what is not there is `absent`
///
/// Nothing is lost between text and value: members keep their order and repeated keys, numbers
/// keep their text. Strings and numbers are decoded when they are asked for. Every value keeps its
/// whole document in memory.
public struct JSON: Sendable {
    @usableFromInline let tape: Tape
    @usableFromInline let index: Int

    @inlinable @inline(__always)
    init(tape: Tape, index: Int) {
        self.tape = tape
        self.index = index
    }

    /// What a subscript gives for a key or an index that is not there.
    ///
    /// All of its accessors are nil, and its subscripts give `absent` again.
    public static let absent = JSON(tape: .absent, index: 0)

    /// The value `null`.
    public static let null = JSON(trusting: Array("null".utf8))

    /// Parses a document: RFC 8259 and UTF-8, strictly.
    ///
    /// A byte order mark in front is skipped. The bytes are copied once.
    ///
    /// - Throws: `JSONError` with line, column and byte of the first fault.
    public init(
        parsing bytes: UnsafeRawBufferPointer, options: Options = Options()
    ) throws(JSONError) {
        self.init(tape: try Tape.parse(bytes, options: options), index: Tape.root)
    }

    /// Parses a document held in an array of bytes.
    ///
    /// - Throws: `JSONError` with line, column and byte of the first fault.
    public init(parsing bytes: [UInt8], options: Options = Options()) throws(JSONError) {
        let result = bytes.withUnsafeBytes { JSON.attempt($0, options) }
        self = try result.get()
    }

    /// Parses a document held in a string.
    ///
    /// - Throws: `JSONError` with line, column and byte of the first fault.
    public init(parsing string: String, options: Options = Options()) throws(JSONError) {
        var string = string
        let result = string.withUTF8 { JSON.attempt(UnsafeRawBufferPointer($0), options) }
        self = try result.get()
    }

    static func attempt(
        _ bytes: UnsafeRawBufferPointer, _ options: Options
    ) -> Result<JSON, JSONError> {
        Result { () throws(JSONError) in try JSON(parsing: bytes, options: options) }
    }

    /// Parses text this module has written itself, which nests as deeply as it likes.
    init(trusting text: [UInt8]) {
        let options = Options(maximumDepth: .max)
        self = (try? JSON(parsing: text, options: options)) ?? .absent
    }
}

extension JSON {
    /// What a parser accepts beyond the grammar.
    public struct Options: Sendable, Hashable {
        /// How deep arrays and objects may nest; by default 512, as in Foundation.
        public var maximumDepth: Int
        /// How long a document may be, in bytes; by default 4 GB, which is also the most.
        public var maximumBytes: Int
        /// What becomes of an object that has a key twice; by default both are kept.
        public var duplicateKeys: DuplicateKeys

        /// Options, each with its default.
        public init(
            maximumDepth: Int = 512, maximumBytes: Int = Options.largestDocument,
            duplicateKeys: DuplicateKeys = .keep
        ) {
            self.maximumDepth = maximumDepth
            self.maximumBytes = maximumBytes
            self.duplicateKeys = duplicateKeys
        }

        /// The longest document that can be parsed at all, in bytes.
        public static let largestDocument = 4_000_000_000
    }

    /// What becomes of an object that has the same key twice.
    public enum DuplicateKeys: Sendable, Hashable {
        /// All members stay; a subscript finds the first.
        case keep
        /// The document is refused.
        case reject
    }

    /// What kinds of values there are.
    public enum Kind: Sendable, Hashable {
        /// Nothing: a missing key or index.
        case absent
        /// The value `null`.
        case null
        /// `true` or `false`.
        case bool
        /// A number of any size and precision.
        case number
        /// A string.
        case string
        /// An array.
        case array
        /// An object.
        case object
    }
}
