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

    private static let maximumInterim = ResponseParser.maximumInterim

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
        guard phase == .trailers, !buffer.isEmpty else { return [:] }
        return try buffer.withUnsafeBufferPointer { bytes throws(HeadParseError) in
            try HeadParser.trailers(in: UnsafeRawBufferPointer(bytes), cache: &cache)
        }
    }

    private static func isBlank(_ line: UnsafeRawBufferPointer) -> Bool {
        line.count <= 2 && line.allSatisfy { $0 == 0x0D || $0 == 0x0A }
    }
}
