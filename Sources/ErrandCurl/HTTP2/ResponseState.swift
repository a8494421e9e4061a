package import HTTPTypes

/// Collects the header lines from libcurl until a head is complete.
package struct HeadReader {
    /// The result of adding a line.
    package enum Event {
        /// The head is not complete yet.
        case more
        /// An interim response, 100 to 199.
        case interim(HeadParser.Head)
        /// The final head.
        case final(HeadParser.Head)
        case failed(HeadParseError)
    }

    private enum Phase { case head, trailers }

    private static let maximumInterim = HeadParser.maximumInterim

    private var buffer: [UInt8] = []
    private var phase = Phase.head
    private var seen = 0
    private var interim = 0
    private var limit = 0

    package init() {}

    /// Prepares for another response.
    ///
    /// The limit applies to all heads of the response together, and separately to its trailers.
    package mutating func reset(limit: Int) {
        buffer.removeAll(keepingCapacity: buffer.capacity <= 16 << 10)
        phase = .head
        seen = 0
        interim = 0
        self.limit = limit
    }

    /// Whether the final head is complete.
    package var isComplete: Bool { phase == .trailers }

    /// Whether the next line is a status line.
    package var isAtStart: Bool { phase == .head && buffer.isEmpty }

    /// Whether any byte of the response was read.
    package var hasBegun: Bool { seen > 0 || phase == .trailers }

    /// Adds a line, including its line break.
    package mutating func feed(
        _ line: UnsafeRawBufferPointer, cache: inout FieldCache
    ) -> Event {
        seen += line.count
        guard seen <= limit else {
            return .failed(.tooLarge(limit: limit))
        }
        buffer.append(contentsOf: line)
        guard phase == .head, Self.isBlank(line) else { return .more }
        do {
            let head = try head(cache: &cache)
            buffer.removeAll(keepingCapacity: true)
            guard head.status.code < 200 else {
                phase = .trailers
                seen = 0
                return .final(head)
            }
            interim += 1
            guard interim <= Self.maximumInterim else {
                return .failed(.tooManyInterim(limit: Self.maximumInterim))
            }
            guard head.status.code != 101 else {
                return .failed(.switchesProtocols)
            }
            return .interim(head)
        } catch {
            return .failed(error)
        }
    }

    /// Returns the head in the buffer from the cache, or parses it.
    ///
    /// The cache may keep the buffer and put another one in its place.
    private mutating func head(
        cache: inout FieldCache
    ) throws(HeadParseError) -> HeadParser.Head {
        if let known = cache.heads.head(in: buffer) { return known }
        let head = try buffer.withUnsafeBufferPointer { bytes throws(HeadParseError) in
            try HeadParser.head(in: UnsafeRawBufferPointer(bytes), cache: &cache)
        }
        if !head.containsSecrets { cache.heads.insert(head, in: &buffer) }
        return head
    }

    /// Parses the fields after the body.
    package func trailers(cache: inout FieldCache) throws(HeadParseError) -> HTTPFields {
        guard phase == .trailers, !buffer.isEmpty else { return HTTPFields() }
        return try buffer.withUnsafeBufferPointer { bytes throws(HeadParseError) in
            try HeadParser.trailers(in: UnsafeRawBufferPointer(bytes), cache: &cache)
        }
    }

    private static func isBlank(_ line: UnsafeRawBufferPointer) -> Bool {
        line.count <= 2 && line.allSatisfy { $0 == 0x0D || $0 == 0x0A }
    }
}

#if os(Linux)
    import ErrandTransport

    /// The response to a request that libcurl carries: its head, its body, and what its status
    /// means for the transfer.
    struct ResponseState {
        /// The properties of a final response.
        struct Start {
            let hasBody: Bool
            /// Whether the body ends with the connection or its stream.
            let endsWithConnection: Bool
            /// The length of the body that the receiver gets, if it is known.
            let contentLength: Int64?
            /// Whether the body is delivered decoded.
            var isDecoding = false
            /// The error if the body cannot be received.
            let fault: RequestError?
        }

        var head = HeadReader()
        var body = BodyReader()
        /// Whether the response states HTTP/2.
        private(set) var isHTTP2 = false
        /// Whether the status refuses the request.
        private(set) var isRefusal = false
        /// Whether the response is complete although libcurl would repeat the request.
        private(set) var ignoresRepetition = false

        init() {}

        /// Prepares for the response to another request.
        mutating func reset(_ options: TransportOptions) {
            head.reset(limit: options.maximumHeadBytes)
            body.reset(options)
            isHTTP2 = false
            isRefusal = false
            ignoresRepetition = false
        }

        /// Begins a final response.
        ///
        /// - Parameter isRepeated: Whether libcurl will repeat the request and discard the body.
        mutating func begin(
            _ final: HeadParser.Head, to method: HTTPMethod, isRepeated: Bool
        ) -> Start {
            let status = final.status.code
            let hasBody = method != .head && status != 204 && status != 304 && !isRepeated
            ignoresRepetition = isRepeated
            isHTTP2 = final.version == .http2
            isRefusal = status >= 300
            guard hasBody else {
                body.beginEmpty()
                return Start(
                    hasBody: false, endsWithConnection: false, contentLength: nil, fault: nil)
            }
            let fault = body.begin(final.framing)
            let isChunked = final.framing.isChunked
            return Start(
                hasBody: true,
                endsWithConnection: !isChunked && final.framing.contentLength == nil,
                contentLength: isChunked || body.isDecoding ? nil : final.framing.contentLength,
                isDecoding: body.isDecoding, fault: fault)
        }

        /// Whether libcurl repeats a request with the same headers and discards the response body.
        ///
        /// It does this for a 417 response that arrives before the request body was sent.
        static func isRepeated(
            status: Int, expectsContinue: @autoclosure () -> Bool, isUploadUnfinished: Bool
        ) -> Bool {
            status == 417 && isUploadUnfinished && expectsContinue()
        }

        /// Whether the response is complete by its head or length, although libcurl goes on.
        var isCompleteEarly: Bool { body.isCompleteByLength || ignoresRepetition }

        /// Whether the head is complete, and the body by its length.
        var isComplete: Bool { head.isComplete && body.isComplete }

        /// Whether a refusal over HTTP/2 has no length.
        ///
        /// Such a body ends with its stream. libcurl 7.88 does not notice that while the rest of
        /// the request waits for flow control, so silence decides.
        var isRefusalWithoutLength: Bool { isRefusal && isHTTP2 && !body.isAnnounced }
    }
#endif
