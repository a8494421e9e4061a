/// Parses one `WWW-Authenticate` field (RFC 9110 §11.6.1).
///
/// A comma separates challenges and also the parameters within one challenge.
package struct ChallengeParser {
    private let bytes: [UInt8]
    private var position = 0
    private var challenges: [AuthenticationChallenge] = []

    package init(_ field: String) { bytes = Array(field.utf8) }

    package mutating func parse() -> [AuthenticationChallenge] {
        while true {
            skip { Self.isSpace($0) || $0 == UInt8(ascii: ",") }
            guard position < bytes.count else { return challenges }
            if !readItem() { skipToComma() }
        }
    }

    /// Reads one list item: a parameter of the current challenge, or the start of the next challenge.
    private mutating func readItem() -> Bool {
        let start = position
        guard let word = readToken() else { return false }
        skip(while: Self.isSpace)
        if current == UInt8(ascii: "=") {
            position = start
            guard !challenges.isEmpty, let parameter = readParameter() else { return false }
            challenges[challenges.count - 1].parameters.append(parameter)
            return isAtEndOfItem
        }
        challenges.append(AuthenticationChallenge(scheme: word))
        if isAtEndOfItem { return true }
        if let token = readToken68() {
            challenges[challenges.count - 1].token = token
            return true
        }
        guard let parameter = readParameter() else { return false }
        challenges[challenges.count - 1].parameters.append(parameter)
        return isAtEndOfItem
    }

    private mutating func readParameter() -> AuthenticationChallenge.Parameter? {
        guard let name = readToken() else { return nil }
        skip(while: Self.isSpace)
        guard current == UInt8(ascii: "=") else { return nil }
        position += 1
        skip(while: Self.isSpace)
        guard let value = current == UInt8(ascii: "\"") ? readQuoted() : readToken() else {
            return nil
        }
        skip(while: Self.isSpace)
        return AuthenticationChallenge.Parameter(name: name.lowercasedASCII(), value: value)
    }

    /// Reads a `token68` value (RFC 9110 §11.2): letters, digits, `-._~+/`, then any number of `=`.
    private mutating func readToken68() -> String? {
        let start = position
        skip { Self.isAlphanumeric($0) || "-._~+/".utf8.contains($0) }
        guard position > start else { return nil }
        skip { $0 == UInt8(ascii: "=") }
        let end = position
        skip(while: Self.isSpace)
        guard isAtEndOfItem else {
            position = start
            return nil
        }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    private mutating func readToken() -> String? {
        let start = position
        skip { Self.isAlphanumeric($0) || "!#$%&'*+-.^_`|~".utf8.contains($0) }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    private mutating func readQuoted() -> String? {
        position += 1
        var content: [UInt8] = []
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = current else { return nil }
                content.append(escaped)
                position += 1
            default: content.append(byte)
            }
        }
        return nil
    }

    /// Skips malformed text; a comma inside a quoted string does not end it.
    private mutating func skipToComma() {
        while let byte = current, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") {
                guard readQuoted() != nil else { return }
            } else {
                position += 1
            }
        }
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }
    private var isAtEndOfItem: Bool { current == nil || current == UInt8(ascii: ",") }

    private mutating func skip(while predicate: (UInt8) -> Bool) {
        while position < bytes.count, predicate(bytes[position]) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
    }
}
