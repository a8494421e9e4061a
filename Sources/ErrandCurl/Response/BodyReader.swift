#if os(Linux)
    package import ErrandCore

    /// The answer's body on its way in: counted, decoded and held to its limits.
    package struct BodyReader {
        /// Decoded bytes that are always allowed, however small their encoded form.
        private static let freeBytes: Int64 = 64 << 10
        /// More codings than anybody stacks.
        private static let maximumCodings = 4

        private var decodes = true
        private var limit: Int64?
        private var ratio: Int?
        private var chain: DecodingChain?
        private var delivered: Int64 = 0
        /// How many bytes are to come over the wire, where that is known.
        private var announced: Int64?
        /// The announced length is all that says where the body ends; see ``BodyFraming/hidesLength``.
        private var endsByCount = false
        /// How many bytes came over the wire.
        package private(set) var bytesReceived: Int64 = 0

        package init() {}

        /// Begins anew.
        package mutating func reset(_ options: TransportOptions) {
            decodes = options.decodesContent
            limit = options.maximumBodyBytes
            ratio = options.maximumDecodingRatio
            chain = nil
            delivered = 0
            announced = nil
            endsByCount = false
            bytesReceived = 0
        }

        /// Whether it is known how many bytes come.
        package var isAnnounced: Bool { announced != nil }

        /// Whether everything that was announced has come; false where nothing was.
        package var isWhole: Bool { announced == bytesReceived }

        /// Whether everything has come, and only we know.
        package var isWholeByCount: Bool { endsByCount && isWhole }

        /// What of these bytes is the body's.
        package func own(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            guard endsByCount, let announced else { return bytes }
            let left = max(0, announced - bytesReceived)
            return UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: left)))
        }

        /// The answer has no body, whatever its head says.
        package mutating func beginNothing() { announced = 0 }

        /// Whether bytes are decoded on their way.
        package var isDecoding: Bool { chain != nil }

        /// Prepares for a body; an error when it cannot be decoded, or is announced too large.
        package mutating func begin(_ framing: BodyFraming) -> RequestError? {
            announced = framing.isChunked ? nil : framing.contentLength
            endsByCount = framing.hidesLength
            // Of nothing there is nothing to undo, whatever it is in.
            guard decodes, !framing.contentCodings.isEmpty, announced != 0 else {
                guard let limit, let length = framing.contentLength, !framing.isChunked,
                    length > limit
                else { return nil }
                return Self.tooLarge(limit)
            }
            guard framing.contentCodings.count <= Self.maximumCodings else {
                return Self.badEncoding("More than \(Self.maximumCodings) encodings are stacked.")
            }
            var decoders: [any ContentDecoder] = []
            for name in framing.contentCodings.reversed() {
                guard let decoder = ContentCoding(name: name)?.makeDecoder() else {
                    return Self.badEncoding("It is in an encoding that cannot be undone here.")
                }
                decoders.append(decoder)
            }
            chain = DecodingChain(decoders)
            return nil
        }

        /// Hands bytes on while the receiver wants more; without bytes, what an earlier break has left over.
        package mutating func deliver(
            _ bytes: UnsafeRawBufferPointer?, by buffer: UnsafeMutableRawBufferPointer,
            to receive: (UnsafeRawBufferPointer) -> Bool
        ) -> RequestError? {
            bytesReceived += Int64(bytes?.count ?? 0)
            guard let chain else {
                guard let bytes, !bytes.isEmpty else { return nil }
                delivered += Int64(bytes.count)
                if let limit, delivered > limit { return Self.tooLarge(limit) }
                _ = receive(bytes)
                return nil
            }
            if let bytes { chain.feed(bytes) }
            while true {
                switch chain.read(into: buffer) {
                case .needsInput: return nil
                case .corrupt: return Self.badEncoding("It is corrupt.")
                case .produced(let count):
                    delivered += Int64(count)
                    if let error = limitFault(consumed: chain.consumed) { return error }
                    let decoded = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                    if !receive(decoded) { return nil }
                }
            }
        }

        /// What is wrong when no more bytes come.
        package func faultAtEnd() -> RequestError? {
            guard let chain, bytesReceived > 0, !chain.isFinished else { return nil }
            return Self.badEncoding("It is cut off.")
        }

        /// Drops what is no longer needed.
        package mutating func letGo() { chain = nil }

        private func limitFault(consumed: Int64) -> RequestError? {
            if let limit, delivered > limit { return Self.tooLarge(limit) }
            guard delivered > Self.freeBytes,
                let ratio = TransportOptions.decodingRatio(ratio, after: delivered)
            else { return nil }
            let (allowed, isEnough) = consumed.multipliedReportingOverflow(by: Int64(ratio))
            guard !isEnough, delivered > allowed else { return nil }
            return RequestError(
                .bodyTooLarge, stage: .transport,
                "The decoded body is more than \(ratio) times as large as its encoded form, as an attack's would be. "
                    + "Raise maximumDecodingRatio if it is meant.")
        }

        private static func tooLarge(_ limit: Int64) -> RequestError {
            RequestError(
                .bodyTooLarge, stage: .transport,
                "The body is larger than the \(limit) bytes allowed. Raise maximumBodyBytes if it is meant."
            )
        }

        private static func badEncoding(_ what: String) -> RequestError {
            RequestError(
                .badContentEncoding, stage: .transport,
                "The body's content encoding cannot be undone. \(what) "
                    + "With decodesContent off, bytes come as they are.")
        }
    }
#endif
