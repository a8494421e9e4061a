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
            bytesReceived = 0
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
