import ErrandSystem
import ErrandTransport
package import HTTPTypes

/// Parses the responses on an HTTP/1.1 connection: bytes in, events out (RFC 9112).
///
/// The caller pulls the events, so it can stop at any event and keep the rest of the input. Body
/// bytes are slices of the input and are not copied. A head is copied only if it arrives in several
/// parts. ``HeadParser`` parses the heads and decides what they may contain.
package struct ResponseParser {
    package enum Event {
        /// The input is used up.
        case needsInput
        /// An interim response, 100 to 199.
        case interim(HeadParser.Head)
        /// The head of the final response.
        case head(HeadParser.Head)
        /// The head of a 101 response; the rest of the input belongs to the other protocol.
        case switchedProtocols(HeadParser.Head)
        /// A part of the body, without transfer coding; valid as long as the input.
        case body(UnsafeRawBufferPointer)
        /// The response is complete.
        case complete(End)
        /// The response is malformed or incomplete; the connection cannot be used any more.
        case failed(ResponseFault)
    }

    /// The end of a response.
    package struct End {
        package var trailers = HTTPFields()
        /// Whether the connection may carry another request, as far as the response decides it.
        package var keepsConnection: Bool
    }

    private enum Phase {
        /// No request is waiting for a response.
        case idle
        case head
        /// The body ends after `remaining` bytes.
        case length
        case untilClose
        case chunks
        case trailers
        case switched
        case failed(ResponseFault)
    }

    private var phase = Phase.idle
    private var isHead = false
    private var acceptsUpgrade = false
    private var keepsConnection = false
    private var limit = 0
    /// The rest of a body with a length.
    private var remaining: Int64 = 0
    private var chunks = ChunkReader(extensionLimit: 0)
    private var interim = 0
    /// The number of bytes of complete heads that count towards the limit.
    private var seen = 0
    /// An incomplete head or trailer section, and the part of it that was searched for its end.
    private var buffer: [UInt8] = []
    private var lineStart = 0
    private var searched = 0
    /// Whether any byte of the response was read.
    package private(set) var hasBegun = false
    /// Whether the final head is complete.
    package private(set) var isHeadComplete = false
    /// The number of bytes of heads and trailers.
    package private(set) var headBytes: Int64 = 0

    package init() {}

    /// Whether a response is awaited or incomplete.
    package var isActive: Bool {
        switch phase {
        case .idle, .switched, .failed: false
        default: true
        }
    }

    /// Prepares for the response to a request that is about to be sent.
    ///
    /// - Parameters:
    ///   - isHead: Whether the request's method is HEAD.
    ///   - acceptsUpgrade: Whether the request offers `Upgrade`, so that 101 is a valid response.
    ///   - limit: The maximum number of bytes of all heads together, of the trailers, and of the
    ///     chunk extensions.
    package mutating func begin(isHead: Bool, acceptsUpgrade: Bool = false, limit: Int) {
        phase = .head
        self.isHead = isHead
        self.acceptsUpgrade = acceptsUpgrade
        self.limit = limit
        keepsConnection = false
        interim = 0
        seen = 0
        hasBegun = false
        isHeadComplete = false
        headBytes = 0
    }

    /// Returns the next event and removes its bytes from the input.
    package mutating func next(
        _ input: inout UnsafeRawBufferPointer, cache: inout FieldCache
    ) -> Event {
        switch phase {
        case .head: return readHead(&input, cache: &cache)
        case .length:
            guard remaining > 0 else { return complete(input) }
            guard !input.isEmpty else { return .needsInput }
            let count = Int(clamping: min(remaining, Int64(input.count)))
            remaining -= Int64(count)
            return .body(input.take(count))
        case .untilClose:
            guard !input.isEmpty else { return .needsInput }
            return .body(input.take(input.count))
        case .chunks: return readChunks(&input, cache: &cache)
        case .trailers: return readTrailers(&input, cache: &cache)
        case .idle: return input.isEmpty ? .needsInput : fail(.unsolicitedData)
        case .switched: return .needsInput
        case .failed(let fault): return .failed(fault)
        }
    }

    /// Returns the event for the end of the input: the server has closed the connection.
    ///
    /// - Parameter isReset: Whether the connection was reset, so that a body that ends with it may be incomplete.
    package mutating func endOfInput(isReset: Bool = false) -> Event {
        switch phase {
        case .idle, .switched: return .needsInput
        case .head: return fail(hasBegun ? .truncatedHead : .noResponse)
        case .untilClose where isReset: return fail(.lostInBody)
        case .untilClose: return complete(UnsafeRawBufferPointer(start: nil, count: 0))
        case .length where remaining == 0:
            keepsConnection = false
            return complete(UnsafeRawBufferPointer(start: nil, count: 0))
        case .length, .chunks, .trailers: return fail(.truncatedBody)
        case .failed(let fault): return .failed(fault)
        }
    }

    /// Returns the event for a connection that was reset, or that failed in another way.
    package mutating func connectionFailed() -> Event {
        switch phase {
        case .idle: .needsInput
        case .failed(let fault): .failed(fault)
        case .switched: fail(.lostInBody)
        default: fail(isHeadComplete ? .lostInBody : .lostBeforeHead)
        }
    }

    // MARK: - Heads

    private mutating func readHead(
        _ input: inout UnsafeRawBufferPointer, cache: inout FieldCache
    ) -> Event {
        guard !input.isEmpty else { return .needsInput }
        hasBegun = true
        guard isPlausible(input) else { return fail(.notHTTP) }
        do throws(HeadParseError) {
            let head = try section(&input) { bytes throws(HeadParseError) in
                try Self.head(in: bytes, cache: &cache)
            }
            guard let head else { return .needsInput }
            return try received(head)
        } catch {
            return fail(.head(error))
        }
    }

    /// Whether the first bytes may be those of a status line, so that a server of another protocol
    /// is noticed before it sends a blank line.
    ///
    /// Bytes beyond the limit do not matter, so that the fault does not depend on the split.
    private func isPlausible(_ input: UnsafeRawBufferPointer) -> Bool {
        let name: StaticString = "HTTP/"
        guard buffer.count < name.utf8CodeUnitCount else { return true }
        return name.withUTF8Buffer { name in
            let rest = name.dropFirst(buffer.count).prefix(limit - seen - buffer.count)
            return zip(rest, input).allSatisfy { $0 == $1 }
        }
    }

    private static func head(
        in bytes: UnsafeRawBufferPointer, cache: inout FieldCache
    ) throws(HeadParseError) -> HeadParser.Head {
        if let known = cache.heads.head(in: bytes) { return known }
        let head = try HeadParser.head(in: bytes, cache: &cache)
        if !head.containsSecrets { cache.heads.insert(head, copying: bytes) }
        return head
    }

    private mutating func received(
        _ head: consuming HeadParser.Head
    ) throws(HeadParseError) -> Event {
        guard head.version == .http11 || head.version == .http10 else {
            throw .versionNotNegotiated
        }
        guard head.status.code >= 200 else { return try received(interim: head) }
        isHeadComplete = true
        seen = 0
        keepsConnection = head.keepsConnection
        remaining = 0
        // The order of RFC 9112 §6.3.
        if isHead || head.status.code == 204 || head.status.code == 304 {
            phase = .length
        } else if head.framing.isChunked {
            chunks = ChunkReader(extensionLimit: limit)
            phase = .chunks
        } else if let length = head.framing.contentLength {
            remaining = length
            phase = .length
        } else {
            keepsConnection = false
            phase = .untilClose
        }
        return .head(head)
    }

    private mutating func received(
        interim head: HeadParser.Head
    ) throws(HeadParseError) -> Event {
        interim += 1
        guard interim <= HeadParser.maximumInterim else {
            throw .tooManyInterim(limit: HeadParser.maximumInterim)
        }
        guard head.status.code == 101 else { return .interim(head) }
        guard acceptsUpgrade else { throw .switchesProtocols }
        phase = .switched
        return .switchedProtocols(head)
    }

    // MARK: - Sections that end with a blank line

    /// Reads up to the next blank line and parses the section; returns `nil` if its end has not
    /// arrived.
    private mutating func section<Parsed>(
        _ input: inout UnsafeRawBufferPointer,
        parse: (UnsafeRawBufferPointer) throws(HeadParseError) -> Parsed
    ) throws(HeadParseError) -> Parsed? {
        guard buffer.isEmpty else { return try bufferedSection(&input, parse: parse) }
        guard let end = endOfSection(in: input) else {
            guard seen + input.count <= limit else { throw .tooLarge(limit: limit) }
            buffer.append(contentsOf: input)
            _ = input.take(input.count)
            return nil
        }
        try count(end)
        return try parse(input.take(end))
    }

    private mutating func bufferedSection<Parsed>(
        _ input: inout UnsafeRawBufferPointer,
        parse: (UnsafeRawBufferPointer) throws(HeadParseError) -> Parsed
    ) throws(HeadParseError) -> Parsed? {
        let before = buffer.count
        buffer.append(contentsOf: input)
        let whole = buffer
        let end = whole.withUnsafeBytes { endOfSection(in: $0) }
        guard let end else {
            guard seen + buffer.count <= limit else { throw .tooLarge(limit: limit) }
            _ = input.take(input.count)
            return nil
        }
        try count(end)
        _ = input.take(end - before)
        // Most heads arrive in one part, so an idle connection keeps no buffer.
        buffer = []
        return try whole.withUnsafeBufferPointer { bytes throws(HeadParseError) in
            try parse(UnsafeRawBufferPointer(start: bytes.baseAddress, count: end))
        }
    }

    /// The index after the blank line; `nil` if it has not arrived.
    ///
    /// A line may end with LF alone (RFC 9112 §2.2).
    private mutating func endOfSection(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress else { return nil }
        while searched < bytes.count,
            let found = memchr(start + searched, 0x0A, bytes.count - searched)
        {
            let end = UnsafeRawPointer(found) - start
            searched = end + 1
            if end == lineStart || end == lineStart + 1 && bytes[lineStart] == 0x0D {
                (lineStart, searched) = (0, 0)
                return end + 1
            }
            lineStart = searched
        }
        searched = bytes.count
        return nil
    }

    private mutating func count(_ bytes: Int) throws(HeadParseError) {
        guard seen + bytes <= limit else { throw .tooLarge(limit: limit) }
        seen += bytes
        headBytes += Int64(bytes)
    }

    // MARK: - Bodies

    private mutating func readChunks(
        _ input: inout UnsafeRawBufferPointer, cache: inout FieldCache
    ) -> Event {
        switch chunks.next(&input) {
        case .needsInput: return .needsInput
        case .bytes(let bytes): return .body(bytes)
        case .malformed: return fail(.malformedChunk)
        case .lastChunk:
            phase = .trailers
            return readTrailers(&input, cache: &cache)
        }
    }

    private mutating func readTrailers(
        _ input: inout UnsafeRawBufferPointer, cache: inout FieldCache
    ) -> Event {
        guard !input.isEmpty else { return .needsInput }
        do throws(HeadParseError) {
            let trailers = try section(&input) { bytes throws(HeadParseError) in
                try HeadParser.trailers(in: bytes, cache: &cache)
            }
            guard let trailers else { return .needsInput }
            return complete(input, trailers: trailers)
        } catch {
            return fail(error == .lacksColon ? .malformedTrailer : .head(error))
        }
    }

    // MARK: - Ends

    /// Ends the response; bytes after it are surplus, so the connection is not used again.
    private mutating func complete(
        _ rest: UnsafeRawBufferPointer, trailers: HTTPFields = HTTPFields()
    ) -> Event {
        phase = .idle
        return .complete(
            End(trailers: trailers, keepsConnection: keepsConnection && rest.isEmpty))
    }

    private mutating func fail(_ fault: ResponseFault) -> Event {
        phase = .failed(fault)
        buffer = []
        return .failed(fault)
    }
}
