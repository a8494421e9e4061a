package import ErrandSystem
package import HTTPTypes

/// A stored part of a representation, and its combination with another part (RFC 9111 §3.3, §3.4);
/// pure.
///
/// A part is kept only with a strong validator, because parts may be combined only if both have the
/// same one. The parts that are kept form one range without a gap.
package struct PartialContent: Sendable, Hashable {
    /// The position of the bytes in the representation.
    package let range: Range<Int>
    /// The size of the representation.
    package let total: Int
    /// The bytes.
    package let body: Data
    /// The headers of the latest response, with its `Content-Range`.
    package let headers: HTTPFields

    /// The part of a 206 response; `nil` if it cannot be combined with others.
    ///
    /// That is: a response with several parts, with an unknown size, in a content coding, or without
    /// a strong validator.
    package init?(status: Int, headers: HTTPFields, body: Data) {
        guard status == 206, !headers.contains(.contentEncoding), Self.validator(headers) != nil,
            let field = headers[.contentRange], let place = ContentRange(field),
            let bytes = place.bytes, let total = place.total.flatMap({ Int(exactly: $0) }),
            let first = Int(exactly: bytes.lowerBound), let last = Int(exactly: bytes.upperBound),
            last - first + 1 == body.count
        else { return nil }
        (range, self.total) = (first..<last + 1, total)
        (self.headers, self.body) = (headers, body)
    }

    /// The part of an entry.
    package init?(_ entry: StoredResponse) {
        self.init(status: entry.status, headers: entry.headers, body: entry.body)
    }

    private init(_ range: Range<Int>, _ total: Int, _ body: Data, _ headers: HTTPFields) {
        (self.range, self.total, self.body) = (range, total, body)
        var headers = headers
        headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
        headers[.contentLength] = String(body.count)
        self.headers = headers
    }

    /// Whether the part is the complete representation.
    package var isComplete: Bool { range == 0..<total }

    /// The strong entity tag; `nil` without one.
    private static func validator(_ headers: HTTPFields) -> [UInt8]? {
        let tags = headers[fields: .eTag].map(\.bytes)
        guard tags.count == 1, let tag = tags.first, tag.first == UInt8(ascii: "\""), tag.count > 2
        else {
            return nil
        }
        return tag
    }

    /// Both parts as one, with the headers of the newer one; `nil` if they have different
    /// validators or sizes, or a gap between them (§3.4).
    package func combined(with newer: PartialContent) -> PartialContent? {
        let validators = [headers, newer.headers].map(Self.validator)
        guard validators[0] == validators[1], total == newer.total,
            range.lowerBound <= newer.range.upperBound, newer.range.lowerBound <= range.upperBound
        else { return nil }
        let start = min(range.lowerBound, newer.range.lowerBound)
        let end = max(range.upperBound, newer.range.upperBound)
        var bytes = Data()
        bytes.reserveCapacity(end - start)
        bytes += body.prefix(max(0, newer.range.lowerBound - range.lowerBound))
        bytes += newer.body
        bytes += body.suffix(max(0, range.upperBound - newer.range.upperBound))
        return PartialContent(start..<end, total, bytes, newer.headers)
    }

    /// The bytes that a `Range` field asks for, with the headers of a 206; `nil` if the part does
    /// not contain all of them.
    package func part(for field: String) -> PartialContent? {
        guard let wanted = ByteRange.within(field, count: total), !wanted.isEmpty,
            range.lowerBound <= wanted.lowerBound, wanted.upperBound <= range.upperBound
        else { return nil }
        let offset = body.startIndex + wanted.lowerBound - range.lowerBound
        return PartialContent(
            wanted, total, Data(body[offset..<(offset + wanted.count)]), headers)
    }

    /// The headers of the complete representation, once the part is complete.
    package var completeHeaders: HTTPFields {
        var headers = headers
        headers[.contentRange] = nil
        headers[.contentLength] = String(total)
        return headers
    }
}

extension CacheKey {
    /// The key of the part of a representation; the complete one has this key.
    package var ofPart: CacheKey { CacheKey(canonical: "part\n" + canonical) }
}
