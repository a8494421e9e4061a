// Performance annotations: decision 17.

/// An immutable JSON value: a reference into a parsed document that is cheap to copy.
///
/// For example:
///
///     let json = try JSON(parsing: #"{"users": [{"nick": "ann", "level": 3}]}"#)
///     json["users"][0]["nick"].string      // "ann"
///     json["users"][9]["nick"].string      // nil: a missing value is `absent`
///
/// Parsing loses no information: members keep their order and repeated keys, and numbers keep their
/// text. Strings and numbers are decoded on access. Every value keeps its whole document in memory.
public struct JSON: Sendable {
    @usableFromInline let tape: Tape
    @usableFromInline let index: Int

    @inlinable @inline(__always)
    init(tape: Tape, index: Int) {
        self.tape = tape
        self.index = index
    }

    /// The result of a subscript for a key or an index that does not exist.
    ///
    /// All of its accessors return nil, and its subscripts return `absent`.
    public static let absent = JSON(tape: .absent, index: 0)

    /// The value `null`.
    public static let null = JSON(trusting: Array("null".utf8))

    /// Parses a document strictly according to RFC 8259; it must be UTF-8.
    ///
    /// A leading byte order mark is skipped. The bytes are copied once.
    ///
    /// - Throws: `JSONError` with the line, column and byte offset of the first error.
    public init(
        parsing bytes: UnsafeRawBufferPointer, options: Options = Options()
    ) throws(JSONError) {
        self.init(tape: try Tape.parse(bytes, options: options), index: Tape.root)
    }

    /// Parses a document from an array of bytes.
    ///
    /// - Throws: `JSONError` with the line, column and byte offset of the first error.
    public init(parsing bytes: [UInt8], options: Options = Options()) throws(JSONError) {
        let result = bytes.withUnsafeBytes { JSON.attempt($0, options) }
        self = try result.get()
    }

    /// Parses a document from a string.
    ///
    /// - Throws: `JSONError` with the line, column and byte offset of the first error.
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

    /// Parses text that this module has written, without a depth limit.
    init(trusting text: [UInt8]) {
        let options = Options(maximumDepth: .max)
        self = (try? JSON(parsing: text, options: options)) ?? .absent
    }
}

extension JSON {
    /// The limits of the parser, and its treatment of repeated keys.
    public struct Options: Sendable, Hashable {
        /// The maximum nesting depth of arrays and objects; 512 by default, as in Foundation.
        public var maximumDepth: Int
        /// The maximum length of a document in bytes; `largestDocument` by default.
        public var maximumBytes: Int
        /// The treatment of repeated keys in an object; `.keep` by default.
        public var duplicateKeys: DuplicateKeys

        /// Creates options; each parameter has a default.
        public init(
            maximumDepth: Int = 512, maximumBytes: Int = Options.largestDocument,
            duplicateKeys: DuplicateKeys = .keep
        ) {
            self.maximumDepth = maximumDepth
            self.maximumBytes = maximumBytes
            self.duplicateKeys = duplicateKeys
        }

        /// The length in bytes of the longest document that the parser supports, 4 GB.
        public static let largestDocument = 4_000_000_000
    }

    /// The treatment of repeated keys in an object.
    public enum DuplicateKeys: Sendable, Hashable {
        /// All members are kept; a subscript returns the first.
        case keep
        /// Parsing throws a `JSONError` of kind `duplicateKey`.
        case reject
    }

    /// The kinds of JSON values.
    public enum Kind: Sendable, Hashable {
        /// No value: the key or index does not exist.
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
