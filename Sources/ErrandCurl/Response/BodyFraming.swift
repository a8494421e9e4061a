package import HTTPTypes

/// What a head says about its body (RFC 9112 §6, RFC 9110 §8.4).
package struct BodyFraming: Sendable, Hashable {
    /// The announced length on the wire.
    package private(set) var contentLength: Int64?
    /// Whether the body comes in chunks.
    package private(set) var isChunked = false
    /// The content codings in the order they were applied; `identity` left out.
    package private(set) var contentCodings: [String] = []
    /// Whether both a length and chunks were announced: the body is read, its connection not used again.
    package var isSuspicious: Bool { isChunked && contentLength != nil }

    /// Whether a transfer coding was named that changes nothing, `identity` or an empty one, beside a length.
    ///
    /// libcurl then waits for the connection's end, and the length is what says where the body ends.
    package var hidesLength: Bool { namesTransferCoding && !isChunked && contentLength != nil }
    private var namesTransferCoding = false

    package init() {}

    /// Takes the value of a framing field.
    package mutating func add(
        _ field: HTTPField, meaning: FieldCache.Meaning
    ) throws(HeadFault) {
        switch meaning {
        case .contentLength:
            let number = field.withUnsafeBytesOfValue { Self.number($0) }
            if let number { try addLength(number) } else { try addLengths(field.value) }
        case .transferEncoding: try addTransferCodings(field.value)
        case .contentEncoding:
            // "none" is no coding that was ever registered, and means what it says.
            contentCodings += Self.tokens(in: field.value).filter {
                $0 != "identity" && $0 != "none"
            }
        case .ordinary, .secret: break
        }
    }

    /// Digits alone, as nearly every length is written; `nil` for anything else, and for what is too large.
    private static func number(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
        guard (1...18).contains(bytes.count) else { return nil }
        var number: Int64 = 0
        for byte in bytes {
            guard (0x30...0x39).contains(byte) else { return nil }
            number = number * 10 + Int64(byte - 0x30)
        }
        return number
    }

    private mutating func addLength(_ length: Int64) throws(HeadFault) {
        if let contentLength, contentLength != length {
            throw HeadFault("There are two different values of Content-Length.")
        }
        contentLength = length
    }

    private mutating func addLengths(_ value: String) throws(HeadFault) {
        // A list of equal numbers is one number (RFC 9110 §8.6).
        for token in value.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = Self.trimmed(token)
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let length = Int64(digits)
            else { throw HeadFault("Content-Length is not a number of bytes.") }
            try addLength(length)
        }
    }

    private mutating func addTransferCodings(_ value: String) throws(HeadFault) {
        namesTransferCoding = true
        for token in Self.tokens(in: value) where token != "identity" {
            guard token == "chunked" else {
                throw HeadFault("The transfer coding is not chunked, and no other was asked for.")
            }
            guard !isChunked else { throw HeadFault("The body is said to be chunked twice.") }
            isChunked = true
        }
    }

    private static func tokens(in value: String) -> [String] {
        value.split(separator: ",").compactMap { part in
            let token = trimmed(part).lowercased()
            return token.isEmpty ? nil : token
        }
    }

    /// Without the white space around it; what is within stays, and is wrong there.
    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.utf8.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.utf8.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }
}
