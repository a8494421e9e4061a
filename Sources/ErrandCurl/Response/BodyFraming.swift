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
    /// Whether both a length and chunked coding were announced; the body is read, but its
    /// connection is not reused.
    package var isSuspicious: Bool { isChunked && contentLength != nil }

    /// Whether a transfer coding without effect, `identity` or empty, was announced together with a
    /// length.
    ///
    /// libcurl then waits for the connection to close, but the length determines the end of the
    /// body.
    package var hidesLength: Bool { namesTransferCoding && !isChunked && contentLength != nil }
    private var namesTransferCoding = false

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
        case .ordinary, .secret: break
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
        for token in value.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = Self.trimmed(token)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let length = Int64(digits)
            else { throw HeadParseError("Content-Length is not a number of bytes.") }
            try addLength(length)
        }
    }

    private mutating func addTransferCodings(_ value: String) throws(HeadParseError) {
        namesTransferCoding = true
        for token in Self.tokens(in: value) where token != "identity" {
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
        value.split(separator: ",").compactMap { part in
            let token = trimmed(part).lowercased()
            return token.isEmpty ? nil : token
        }
    }

    /// The text without leading and trailing white space.
    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.utf8.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.utf8.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }
}
