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

    /// Whether a transfer coding without effect, `identity` or empty, was announced together with a
    /// length.
    ///
    /// libcurl then waits for the connection to close, but the length determines the end of the
    /// body.
    package var hidesLength: Bool { namesTransferCoding && !isChunked && contentLength != nil }
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

#if os(Linux)
    package import ErrandTransport

    /// A response body that is being received: counted, decoded and checked against its limits.
    package struct BodyReader {
        /// The maximum number of content codings, far above common use.
        private static let maximumCodings = 4

        private var decodes = true
        private var deliversUnknownCodings = false
        private var limit: Int64?
        private var ratio: Int?
        private var chain: DecodingChain?
        /// The number of encoded bytes to expect, if known.
        private var announced: Int64?
        /// Whether only the announced length determines the end of the body; see
        /// ``BodyFraming/hidesLength``.
        private var endsByLength = false
        /// The number of encoded bytes received.
        package private(set) var bytesReceived: Int64 = 0

        package init() {}

        /// Prepares for another response.
        package mutating func reset(_ options: TransportOptions) {
            decodes = options.decodesContent
            deliversUnknownCodings = options.deliversUnknownCodings
            limit = options.maximumBodyBytes
            ratio = options.maximumDecodingRatio
            chain = nil
            announced = nil
            endsByLength = false
            bytesReceived = 0
        }

        /// Whether the number of encoded bytes is known.
        package var isAnnounced: Bool { announced != nil }

        /// Whether all announced bytes have arrived; false if no length was announced.
        package var isComplete: Bool { announced == bytesReceived }

        /// Whether all bytes have arrived according to the announced length, which libcurl ignores.
        package var isCompleteByLength: Bool { endsByLength && isComplete }

        /// The part of the bytes that belongs to the body.
        package func bodyPart(of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            guard endsByLength, let announced else { return bytes }
            let left = max(0, announced - bytesReceived)
            return UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: left)))
        }

        /// Prepares for a response without a body, whatever its head announces.
        package mutating func beginEmpty() { announced = 0 }

        /// Whether the bytes are decoded.
        package var isDecoding: Bool { chain != nil }

        /// Whether the decoder notices that the body was cut; false until the first byte of the body.
        package var hasEndMarker: Bool { chain != nil && bytesReceived > 0 }

        /// Prepares for a body; returns an error if it cannot be decoded or its announced length
        /// exceeds the limit.
        package mutating func begin(_ framing: BodyFraming) -> RequestError? {
            announced = framing.isChunked ? nil : framing.contentLength
            endsByLength = framing.hidesLength
            let codings = framing.contentCodings.map { ContentCoding(name: $0) }
            let isUnknown = deliversUnknownCodings && codings.contains(nil)
            // An empty body is not decoded.
            guard decodes, !codings.isEmpty, announced != 0, !isUnknown else {
                guard let limit, let length = framing.contentLength, !framing.isChunked,
                    length > limit
                else { return nil }
                return Self.tooLarge(limit)
            }
            guard codings.count <= Self.maximumCodings else {
                return Self.badEncoding("It has more than \(Self.maximumCodings) codings.")
            }
            var decoders: [any ContentDecoder] = []
            for coding in codings.reversed() {
                guard let decoder = coding?.makeDecoder() else {
                    return Self.badEncoding("Its coding is not supported.")
                }
                decoders.append(decoder)
            }
            let limits = DecodingLimits(maximumBytes: limit, maximumRatio: ratio)
            chain = DecodingChain(decoders, limits: limits)
            return nil
        }

        /// Delivers bytes while the receiver accepts them; without bytes, delivers what remained
        /// from an earlier pause.
        package mutating func deliver(
            _ bytes: UnsafeRawBufferPointer?, by buffer: UnsafeMutableRawBufferPointer,
            to receive: (UnsafeRawBufferPointer) -> Bool
        ) -> RequestError? {
            bytesReceived += Int64(bytes?.count ?? 0)
            guard let chain else {
                guard let bytes, !bytes.isEmpty else { return nil }
                if let limit, bytesReceived > limit { return Self.tooLarge(limit) }
                _ = receive(bytes)
                return nil
            }
            if let bytes { chain.feed(bytes) }
            while true {
                switch chain.read(into: buffer) {
                case .needsInput: return nil
                case .corrupt: return Self.badEncoding("It is corrupt.")
                case .exceeded(let excess, let isBody):
                    return Self.tooLarge(excess, isBody: isBody)
                case .produced(let count):
                    let decoded = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                    if !receive(decoded) { return nil }
                }
            }
        }

        /// Returns an error if the encoded body is incomplete at its end.
        package func errorAtEnd() -> RequestError? {
            guard let chain, bytesReceived > 0, !chain.isFinished else { return nil }
            return Self.badEncoding("It is truncated.")
        }

        /// Releases the decoders.
        package mutating func releaseDecoders() { chain = nil }

        private static func tooLarge(
            _ excess: DecodingLimits.Excess, isBody: Bool
        ) -> RequestError {
            switch excess {
            case .bytes(let limit) where isBody: return tooLarge(limit)
            case .bytes(let limit):
                return RequestError(
                    .bodyTooLarge, stage: .transport,
                    "The partly decoded body exceeds twice the limit of \(limit) bytes. "
                        + "Raise maximumBodyBytes if this is expected.")
            case .ratio(let ratio):
                return RequestError(
                    .bodyTooLarge, stage: .transport,
                    "The \(isBody ? "decoded" : "partly decoded") body is more than \(ratio) times "
                        + "as large as its encoded form, which may be an attack. "
                        + "Raise maximumDecodingRatio if this is expected.")
            }
        }

        private static func tooLarge(_ limit: Int64) -> RequestError {
            RequestError(
                .bodyTooLarge, stage: .transport,
                "The body exceeds the limit of \(limit) bytes. Raise maximumBodyBytes if this is expected."
            )
        }

        private static func badEncoding(_ what: String) -> RequestError {
            RequestError(
                .badContentEncoding, stage: .transport,
                "Could not decode the body's content encoding. \(what) "
                    + "With decodesContent off, the bytes are delivered as received.")
        }
    }
#endif
