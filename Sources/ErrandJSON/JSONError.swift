/// Why bytes, or a value from elsewhere, are not JSON, and where.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    public var kind: Kind
    /// The line, counted from 1; 0 when the fault has no place in a text.
    public var line: Int
    /// The column in Unicode scalars, counted from 1; 0 when the fault has no place in a text.
    public var column: Int
    /// The offset in bytes from the start of the document.
    public var byteOffset: Int

    /// Makes an error; the parser fills in the place.
    public init(_ kind: Kind, line: Int = 0, column: Int = 0, byteOffset: Int = 0) {
        self.kind = kind
        self.line = line
        self.column = column
        self.byteOffset = byteOffset
    }

    /// A sentence with the place; it never quotes the document, which may hold secrets.
    public var description: String {
        guard line > 0 else { return kind.description }
        return "\(kind) at line \(line), column \(column) (byte \(byteOffset))"
    }
}

extension JSONError {
    /// The faults a document can have; more may be added.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        private let name: Name

        /// The document ends before its value does, or holds nothing.
        public static let unexpectedEnd = Kind(name: .unexpectedEnd)
        /// A byte stands where the grammar of RFC 8259 has no place for it.
        public static let unexpectedByte = Kind(name: .unexpectedByte)
        /// More than white space follows the value.
        public static let trailingContent = Kind(name: .trailingContent)
        /// A number breaks the grammar, for example with a leading zero.
        public static let invalidNumber = Kind(name: .invalidNumber)
        /// Bytes inside a string are not UTF-8.
        public static let invalidUTF8 = Kind(name: .invalidUTF8)
        /// A backslash is followed by something that is no escape.
        public static let invalidEscape = Kind(name: .invalidEscape)
        /// A `\u` escape names half of a surrogate pair without its other half.
        public static let loneSurrogate = Kind(name: .loneSurrogate)
        /// A control character stands in a string without being escaped.
        public static let controlCharacter = Kind(name: .controlCharacter)
        /// Arrays and objects are nested deeper than `JSON.Options.maximumDepth`.
        public static let tooDeep = Kind(name: .tooDeep)
        /// The document is longer than `JSON.Options.maximumBytes`, or one text than 256 MiB.
        public static let tooLarge = Kind(name: .tooLarge)
        /// An object has a key twice and `JSON.Options.duplicateKeys` refuses that.
        public static let duplicateKey = Kind(name: .duplicateKey)
        /// A value handed over for bridging has no form in JSON.
        public static let notRepresentable = Kind(name: .notRepresentable)

        /// The kind in words.
        public var description: String { name.rawValue }

        private enum Name: String {
            case unexpectedEnd = "The JSON text ends too early"
            case unexpectedByte = "A byte is not allowed here in JSON"
            case trailingContent = "More than white space follows the JSON value"
            case invalidNumber = "A number is not written as JSON demands"
            case invalidUTF8 = "A string is not valid UTF-8"
            case invalidEscape = "A backslash is followed by no known escape"
            case loneSurrogate = "An escape names half of a surrogate pair"
            case controlCharacter = "A string holds an unescaped control character"
            case tooDeep = "Arrays and objects are nested too deeply; raise `maximumDepth`"
            case tooLarge = "The JSON text is too large; raise `maximumBytes` if it may be"
            case duplicateKey = "An object has the same key twice"
            case notRepresentable = "The value has no form in JSON"
        }
    }

    /// The error for a fault at `offset`, its line and column counted from the document's bytes.
    @inline(never)
    static func located(
        _ kind: Kind, at offset: Int, in bytes: UnsafePointer<UInt8>, count: Int
    ) -> JSONError {
        let end = min(max(offset, 0), count)
        var line = 1
        var column = 1
        var index = 0
        while index < end {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
            index += 1
        }
        return JSONError(kind, line: line, column: column, byteOffset: end)
    }
}
