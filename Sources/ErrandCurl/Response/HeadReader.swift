package import HTTPTypes

/// Collects the header lines that libcurl hands over until a head is complete.
package struct HeadReader {
    /// What a line has brought about.
    package enum Event {
        case more
        /// An interim answer, 100 to 199.
        case interim(HeadParser.Head)
        /// The final head.
        case final(HeadParser.Head)
        case failed(HeadFault)
    }

    private enum Phase { case head, trailers }

    /// More interim answers than anybody sends.
    private static let maximumInterim = 64

    private var buffer: [UInt8] = []
    private var phase = Phase.head
    private var seen = 0
    private var interim = 0
    private var limit = 0

    package init() {}

    /// Begins anew.
    ///
    /// The limit is for all heads of one answer together, trailers apart.
    package mutating func reset(limit: Int) {
        buffer.removeAll(keepingCapacity: buffer.capacity <= 16 << 10)
        phase = .head
        seen = 0
        interim = 0
        self.limit = limit
    }

    /// Whether the blank line behind the final head has been seen.
    package var isComplete: Bool { phase == .trailers }

    /// Whether the next line is a status line.
    package var isAtStart: Bool { phase == .head && buffer.isEmpty }

    /// Whether anything at all has been seen.
    package var hasBegun: Bool { seen > 0 || phase == .trailers }

    /// Takes a line with its end.
    package mutating func feed(
        _ line: UnsafeRawBufferPointer, cache: inout FieldCache
    ) -> Event {
        seen += line.count
        guard seen <= limit else {
            return .failed(
                HeadFault(
                    "The head is larger than \(limit) bytes; raise maximumHeadBytes if that is expected."
                ))
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
                return .failed(
                    HeadFault("There are more than \(Self.maximumInterim) interim answers."))
            }
            guard head.status.code != 101 else {
                return .failed(HeadFault("The server switches protocols, which nobody asked for."))
            }
            return .interim(head)
        } catch {
            return .failed(error)
        }
    }

    /// The head in the buffer, which may be swapped for another one.
    private mutating func head(
        cache: inout FieldCache
    ) throws(HeadFault) -> HeadParser.Head {
        if let known = cache.heads.head(in: buffer) { return known }
        let head = try buffer.withUnsafeBufferPointer { bytes throws(HeadFault) in
            try HeadParser.head(in: UnsafeRawBufferPointer(bytes), cache: &cache)
        }
        if !head.holdsSecrets { cache.heads.keep(head, in: &buffer) }
        return head
    }

    /// The fields that came behind the body.
    package func trailers(cache: inout FieldCache) throws(HeadFault) -> HTTPFields {
        guard phase == .trailers, !buffer.isEmpty else { return [:] }
        return try buffer.withUnsafeBufferPointer { bytes throws(HeadFault) in
            try HeadParser.trailers(in: UnsafeRawBufferPointer(bytes), cache: &cache)
        }
    }

    private static func isBlank(_ line: UnsafeRawBufferPointer) -> Bool {
        line.count <= 2 && line.allSatisfy { $0 == 0x0D || $0 == 0x0A }
    }
}
