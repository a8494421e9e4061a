/// An error in JSON text, or in a value that is converted to JSON, with its position.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error.
    public var kind: Kind
    /// The line, counted from 1; 0 if the error has no position in a text.
    public var line: Int
    /// The column in Unicode scalars, counted from 1; 0 if the error has no position in a text.
    public var column: Int
    /// The offset in bytes from the start of the document.
    public var byteOffset: Int

    /// Creates an error; the position is zero by default.
    public init(_ kind: Kind, line: Int = 0, column: Int = 0, byteOffset: Int = 0) {
        self.kind = kind
        self.line = line
        self.column = column
        self.byteOffset = byteOffset
    }

    /// A sentence with the kind and the position.
    ///
    /// It never contains text of the document, which may hold secrets.
    public var description: String {
        guard line > 0 else { return kind.description }
        return "\(kind) at line \(line), column \(column) (byte \(byteOffset))"
    }
}

extension JSONError {
    /// The kinds of errors; later versions may add more.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        private let name: Name

        /// The document is empty or ends before its value is complete.
        public static let unexpectedEnd = Kind(name: .unexpectedEnd)
        /// A byte is not allowed at this position by the grammar of RFC 8259.
        public static let unexpectedByte = Kind(name: .unexpectedByte)
        /// The document contains text other than white space after its value.
        public static let trailingContent = Kind(name: .trailingContent)
        /// A number does not match the grammar, for example because of a leading zero.
        public static let invalidNumber = Kind(name: .invalidNumber)
        /// A string contains bytes that are not valid UTF-8.
        public static let invalidUTF8 = Kind(name: .invalidUTF8)
        /// A backslash is not followed by a valid escape sequence.
        public static let invalidEscape = Kind(name: .invalidEscape)
        /// A `\u` escape is one half of a surrogate pair without the other half.
        public static let loneSurrogate = Kind(name: .loneSurrogate)
        /// A string contains an unescaped control character.
        public static let controlCharacter = Kind(name: .controlCharacter)
        /// Arrays and objects are nested deeper than `JSON.Options.maximumDepth`.
        public static let tooDeep = Kind(name: .tooDeep)
        /// The document is longer than `JSON.Options.maximumBytes`, or one string or number exceeds
        /// 256 MiB.
        public static let tooLarge = Kind(name: .tooLarge)
        /// An object has a repeated key and `JSON.Options.duplicateKeys` is `.reject`.
        public static let duplicateKey = Kind(name: .duplicateKey)
        /// A value to be converted cannot be represented in JSON.
        public static let notRepresentable = Kind(name: .notRepresentable)

        /// A description of the kind.
        public var description: String { name.rawValue }

        private enum Name: String {
            case unexpectedEnd = "Unexpected end of the JSON text"
            case unexpectedByte = "Unexpected character in the JSON text"
            case trailingContent = "Unexpected text after the JSON value"
            case invalidNumber = "Invalid number in the JSON text"
            case invalidUTF8 = "A JSON string is not valid UTF-8"
            case invalidEscape = "Invalid escape sequence in a JSON string"
            case loneSurrogate = "Unpaired surrogate escape in a JSON string"
            case controlCharacter = "Unescaped control character in a JSON string"
            case tooDeep = "The JSON is nested too deeply; increase `maximumDepth` to allow it"
            case tooLarge = "The JSON text is too large; increase `maximumBytes` to allow it"
            case duplicateKey = "Repeated key in a JSON object"
            case notRepresentable = "The value cannot be represented in JSON"
        }
    }

    /// Creates an error at `offset` and computes its line and column from the document.
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
