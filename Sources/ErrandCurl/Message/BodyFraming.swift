package import HTTPTypes

/// The framing and content codings of a body, as announced in the head (RFC 9112 §6, RFC 9110
/// §8.4).
package struct BodyFraming: Sendable, Hashable {
    /// The announced length before decoding.
    package private(set) var contentLength: Int64?
    /// Whether the body is chunked.
    package private(set) var isChunked = false
    /// The content codings in the order of application, without `identity`.
    package private(set) var contentCodings: [String] = []
    /// Whether both a length and chunked coding were announced.
    ///
    /// The server and another recipient may disagree about the end of such a body (RFC 9112 §6.3),
    /// so the response is refused.
    package var isAmbiguous: Bool { isChunked && contentLength != nil }

    /// Whether the head has a `Transfer-Encoding` field.
    package private(set) var namesTransferCoding = false

    package init() {}

    /// Adds the value of a framing field.
    package mutating func add(
        _ field: HTTPField, meaning: FieldCache.Meaning
    ) throws(HeadParseError) {
        switch meaning {
        case .contentLength:
            let number = field.withUnsafeBytesOfValue { Self.number($0) }
            if let number { try addLength(number) } else { try addLengths(field.value) }
        case .transferEncoding: try addTransferCodings(field.value)
        case .contentEncoding:
            // "none" is not a registered coding; it is treated as `identity`.
            contentCodings += Self.tokens(in: field.value).filter {
                $0 != "identity" && $0 != "none"
            }
        case .ordinary, .connection, .secret: break
        }
    }

    /// Parses a length of up to 18 digits; `nil` for any other text.
    private static func number(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard (1...18).contains(bytes.count) else { return nil }
        var number: Int64 = 0
        for byte in bytes {
            guard (0x30...0x39).contains(byte) else { return nil }
            number = number * 10 + Int64(byte - 0x30)
        }
        return number
    }

    private mutating func addLength(_ length: Int64) throws(HeadParseError) {
        if let contentLength, contentLength != length {
            throw HeadParseError("Content-Length has two different values.")
        }
        contentLength = length
    }

    private mutating func addLengths(_ value: String) throws(HeadParseError) {
        // A list of equal numbers is one number (RFC 9110 §8.6).
        for digits in Self.elements(of: value) {
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let length = Int64(digits)
            else { throw HeadParseError("Content-Length is not a number of bytes.") }
            try addLength(length)
        }
    }

    private mutating func addTransferCodings(_ value: String) throws(HeadParseError) {
        namesTransferCoding = true
        for token in Self.tokens(in: value) {
            // "identity" is the absence of a coding (RFC 2616 §3.6), and chunked is the last one (RFC 9112 §6.1).
            if token == "identity", !isChunked { continue }
            guard token == "chunked" else {
                throw HeadParseError("The only supported transfer coding is chunked.")
            }
            guard !isChunked else {
                throw HeadParseError("The transfer coding chunked is announced twice.")
            }
            isChunked = true
        }
    }

    private static func tokens(in value: String) -> [String] {
        elements(of: value).filter { !$0.isEmpty }
    }

    /// The elements of a list without white space around them, with ASCII letters in lower case.
    ///
    /// This reads bytes: a `Character` may be a comma or a space with a combining mark, and
    /// `lowercased()` turns the Kelvin sign into an ASCII letter.
    private static func elements(of value: String) -> [String] {
        value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { part in
                var text = part
                while let first = text.first, isSpace(first) { text.removeFirst() }
                while let last = text.last, isSpace(last) { text.removeLast() }
                let lower = text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
                return String(decoding: lower, as: UTF8.self)
            }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
