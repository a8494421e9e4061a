import HTTPTypes

/// A parsed `Content-Disposition` field (RFC 6266); a strict, pure parser.
///
/// A malformed field gives `nil`, because a partial file name is worse than none.
package struct ContentDisposition: Equatable {
    /// The disposition type in lower case, such as `attachment` or `inline`.
    package var type: String
    /// The file name as the server wrote it; `filename*` takes precedence (RFC 6266 §4.3).
    package var filename: String?

    package init?(_ field: String) {
        var reader = FieldReader(field)
        guard let type = reader.token(), reader.skipSpaces() else { return nil }
        self.type = type.lowercasedASCII()
        var plain: String?
        var extended: String?
        while reader.take(UInt8(ascii: ";")) {
            _ = reader.skipSpaces()
            // A trailing semicolon is not in the grammar, but harmless.
            if reader.isAtEnd { break }
            guard let name = reader.token()?.lowercasedASCII(), reader.skipSpaces(),
                reader.take(UInt8(ascii: "=")), reader.skipSpaces()
            else { return nil }
            let isQuoted = reader.current == UInt8(ascii: "\"")
            guard let value = isQuoted ? reader.quoted() : reader.token(), reader.skipSpaces()
            else { return nil }
            switch name {
            case "filename": plain = plain ?? value
            case "filename*" where !isQuoted: extended = extended ?? Self.decoded(value)
            default: break
            }
        }
        guard reader.isAtEnd else { return nil }
        filename = extended ?? plain
    }

    /// Decodes an extended value with charset and language (RFC 8187 §3.2); `nil` if malformed.
    private static func decoded(_ text: String) -> String? {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let escapes = parts[2]
        var index = escapes.startIndex
        while let percent = escapes[index...].firstIndex(of: UInt8(ascii: "%")) {
            let digits = escapes[percent...].dropFirst().prefix(2)
            guard digits.count == 2, digits.allSatisfy(ByteSet.hexDigits.contains) else {
                return nil
            }
            index = digits.endIndex
        }
        let bytes = PercentEncoding.decode(escapes)
        switch String(Substring(parts[0])).lowercasedASCII() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1":
            return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }
}

/// Reads the tokens of a field value from left to right (RFC 9110 §5.6).
package struct FieldReader {
    private var rest: Substring.UTF8View

    package init(_ field: String) {
        rest = field[...].utf8
        _ = skipSpaces()
    }

    package var isAtEnd: Bool { rest.isEmpty }
    package var current: UInt8? { rest.first }

    /// Skips spaces and tabs; always returns true, so that it can be part of a condition.
    mutating func skipSpaces() -> Bool {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        return true
    }

    package mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Reads a token; `nil` if there is none.
    package mutating func token() -> String? {
        let token = rest.prefix(while: Self.tokenBytes.contains)
        guard !token.isEmpty else { return nil }
        rest = rest.dropFirst(token.count)
        return String(Substring(token))
    }

    /// Reads a quoted string and removes its quotes and escapes; `nil` if it is not closed.
    package mutating func quoted() -> String? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                bytes.append(escaped)
            default: bytes.append(byte)
            }
        }
        return nil
    }

    /// Reads a parameter value that is not quoted, also one that is no token, up to a separator; `nil` if it is empty.
    mutating func unquoted() -> String? {
        let text = rest.prefix {
            $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",")
                && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">")
        }
        guard !text.isEmpty else { return nil }
        rest = rest.dropFirst(text.count)
        return String(Substring(text))
    }

    /// Skips a member of a list up to its comma, which quoted strings and angle brackets do not contain.
    ///
    /// - Returns: Whether the member has an end; false for a quoted string or a bracket that is not closed.
    mutating func skipMember() -> Bool {
        while let byte = rest.first, byte != UInt8(ascii: ",") {
            switch byte {
            case UInt8(ascii: "\""):
                guard quoted() != nil else { return false }
            case UInt8(ascii: "<"):
                guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
                rest = rest[rest.index(after: end)...]
            default: rest = rest.dropFirst()
            }
        }
        return true
    }

    /// Reads text between angle brackets; `nil` if there are none, or if it contains white space, control
    /// characters, quotes or another opening bracket.
    package mutating func bracketed() -> String? {
        guard take(UInt8(ascii: "<")) else { return nil }
        let text = rest.prefix { $0 != UInt8(ascii: ">") }
        rest = rest.dropFirst(text.count)
        let isValid = text.allSatisfy {
            $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "\"")
        }
        guard take(UInt8(ascii: ">")), isValid else { return nil }
        return String(Substring(text))
    }

    private static let tokenBytes = ByteSet.alphanumeric.union("!#$%&'*+-.^_`|~")
}
