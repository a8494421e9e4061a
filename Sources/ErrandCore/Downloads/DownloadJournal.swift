package import ErrandHTTP
package import ErrandSystem
package import HTTPTypes

/// The data required to resume a part file: written beside it, removed with it.
package struct DownloadJournal: Sendable, Hashable, Codable {
    /// The version of this format.
    ///
    /// 1 describes a part file whose bytes follow each other; 2 one with gaps, or with a weak validator. An earlier
    /// version of the package starts such a download again.
    package static let currentFormat = 2

    package var format: Int { isWeak || extents != nil ? 2 : 1 }
    /// The requested URL, before redirects.
    package var url: String
    /// The validator to send as `If-Range`; empty if there is none and only the length is compared.
    package var validator: String
    /// Whether the validator is weak: it is compared, not sent, and the last bytes are requested again.
    package var isWeak = false
    /// The size of the finished file; `nil` while unknown.
    package var total: Int64?
    /// The number of bytes that are synced to disk, and survive a system crash.
    package var offset: Int64
    /// The boot session in which the part file was written.
    ///
    /// Within the same session, all written bytes are present, synced or not: a killed process
    /// loses nothing. After a system crash only ``offset`` counts.
    package var session: String?
    /// The name of the finished file in a folder, as the response proposed it.
    package var name: String?
    /// The ranges of bytes that are synced to disk, if the part file can have gaps; see ``ByteRanges/bounds``.
    package var extents: [Int64]?
    /// The digests in the fields of the response, which the response to a later range may not repeat.
    package var serverDigests: [DownloadedFile.Digest] = []
    /// The name of the table with all written ranges, which counts within ``session``.
    package var table: String?

    package init(
        url: String, validator: String, isWeak: Bool = false, total: Int64?, offset: Int64 = 0,
        session: String?, name: String? = nil, serverDigests: [DownloadedFile.Digest] = []
    ) {
        self.isWeak = isWeak
        self.serverDigests = serverDigests
        self.url = url
        self.validator = validator
        self.total = total
        self.offset = offset
        self.session = session
        self.name = name
    }

    /// A file of this size or more is not a journal.
    private static let maximumSize = 64 << 10

    /// Reads a journal; `nil` for a file that cannot be read or that another user can have written, and for invalid or
    /// contradictory data.
    init?(of file: URL) {
        guard let data = SourceFile.beginning(ofOwn: file.path, Self.maximumSize) else {
            return nil
        }
        self.init(decoding: data)
    }

    /// Decodes a journal; `nil` for invalid or contradictory data.
    package init?(decoding data: Data) {
        guard data.count < Self.maximumSize,
            let journal = try? JSONReader().decode(Self.self, from: data), journal.offset >= 0,
            journal.offset <= journal.total ?? .max,
            !journal.validator.isEmpty || journal.isWeak && journal.total != nil,
            journal.validator.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }),
            journal.hasValidExtents
        else { return nil }
        self = journal
    }

    package func encoded() -> Data { (try? JSONEncoder().encode(self)) ?? Data() }

    private var hasValidExtents: Bool {
        guard let extents else { return table == nil }
        guard total != nil, !isWeak, let ranges = ByteRanges(bounds: extents) else { return false }
        return ranges.end <= total ?? .max
    }
}

extension DownloadJournal {
    private enum Key: String, CodingKey {
        case format, url, validator, isWeak, total, offset, session, name, extents, table
        case digests
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let format = try values.decode(Int.self, forKey: .format)
        guard (1...Self.currentFormat).contains(format) else {
            throw DecodingError.dataCorruptedError(
                forKey: .format, in: values, debugDescription: "unknown format \(format)")
        }
        url = try values.decode(String.self, forKey: .url)
        validator = try values.decode(String.self, forKey: .validator)
        isWeak = try values.decodeIfPresent(Bool.self, forKey: .isWeak) ?? false
        total = try values.decodeIfPresent(Int64.self, forKey: .total)
        offset = try values.decode(Int64.self, forKey: .offset)
        session = try values.decodeIfPresent(String.self, forKey: .session)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        extents = try values.decodeIfPresent([Int64].self, forKey: .extents)
        table = try values.decodeIfPresent(String.self, forKey: .table)
        let digests = try values.decodeIfPresent([String: String].self, forKey: .digests) ?? [:]
        serverDigests = DownloadedFile.Digest.Algorithm.allCases.compactMap { algorithm in
            digests[algorithm.rawValue].map { DownloadedFile.Digest(algorithm, hex: $0) }
        }.filter(\.isValid)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(format, forKey: .format)
        try values.encode(url, forKey: .url)
        try values.encode(validator, forKey: .validator)
        if isWeak { try values.encode(isWeak, forKey: .isWeak) }
        try values.encodeIfPresent(total, forKey: .total)
        try values.encode(offset, forKey: .offset)
        try values.encodeIfPresent(session, forKey: .session)
        try values.encodeIfPresent(name, forKey: .name)
        try values.encodeIfPresent(extents, forKey: .extents)
        try values.encodeIfPresent(table, forKey: .table)
        guard !serverDigests.isEmpty else { return }
        let digests = serverDigests.map { ($0.algorithm.rawValue, $0.hex) }
        try values.encode(
            Dictionary(digests) { first, _ in first }, forKey: .digests)
    }
}

/// The current boot session: the same for every process until the system restarts.
package enum BootSession {
    /// Its identifier; `nil` if the system provides none: then only synced bytes count.
    package static let current: String? = {
        #if os(Linux)
            let file = URL(fileURLWithPath: "/proc/sys/kernel/random/boot_id")
            guard let data = SourceFile.beginning(of: file, 64) else { return nil }
            let text = String(decoding: data.prefix { $0 > UInt8(ascii: " ") }, as: UTF8.self)
            return text.isEmpty ? nil : text
        #elseif canImport(Darwin)
            return DarwinSystem.bootSession()
        #else
            return nil
        #endif
    }()
}

/// The validator that proves that the rest of a file belongs to its beginning, sent as `If-Range`.
///
/// It must be strong (RFC 9110 §13.1.5): versions with the same weak validator may differ in every
/// byte.
package enum ResumeValidator {
    /// The strong validator of a response; `nil` if it has none.
    package static func strong(in headers: HTTPFields) -> String? {
        // Ranges of an encoded body count encoded bytes, not those of the file.
        guard !headers.haveContentCoding, !hasTagOfBytes(headers) else { return nil }
        if let tag = headers[.eTag] { return isStrong(tag) ? tag : nil }
        guard let modified = headers[.lastModified], let date = headers[.date],
            let changed = HTTPDate.parse(modified), let sent = HTTPDate.parse(date)
        else { return nil }
        // Dates have a resolution of one second, in which the file may change twice. A minute also
        // covers clocks that differ (RFC 9110 §8.8.2.2).
        return sent.timeIntervalSince(changed) >= 60 ? modified : nil
    }

    /// The weak validator of a response without a strong one; `nil` if it has none.
    package static func weak(in headers: HTTPFields) -> String? {
        guard !headers.haveContentCoding, !hasTagOfBytes(headers),
            let validator = headers[.eTag] ?? headers[.lastModified],
            !validator.isEmpty
        else { return nil }
        return validator
    }

    /// Whether a response has neither a validator nor a content coding.
    package static func isMissing(in headers: HTTPFields) -> Bool {
        !headers.haveContentCoding && headers[.eTag] == nil && headers[.lastModified] == nil
    }

    /// Whether a response has this validator; none if it is empty.
    package static func confirms(_ headers: HTTPFields, validator: String) -> Bool {
        guard !validator.isEmpty else { return isMissing(in: headers) }
        guard !hasTagOfBytes(headers) else { return false }
        let received = isTag(validator) ? headers[.eTag] : headers[.lastModified]
        return received?.hasSameBytes(as: validator) == true
    }

    /// Whether a response contradicts the sent validator; a missing validator does not.
    package static func contradicts(_ headers: HTTPFields, validator: String) -> Bool {
        if isStrong(validator), hasTagOfBytes(headers) { return true }
        let received = isStrong(validator) ? headers[.eTag] : headers[.lastModified]
        return received.map { !$0.hasSameBytes(as: validator) } ?? false
    }

    /// Whether the entity tag is not UTF-8: its text, as a journal stores it, would be equal for different bytes.
    private static func hasTagOfBytes(_ headers: HTTPFields) -> Bool {
        headers[fields: .eTag].contains { $0.isLatin1 }
    }

    /// Whether a validator is an entity tag; otherwise it is a date.
    private static func isTag(_ validator: String) -> Bool {
        validator.ends(withBytes: "\"")
            && (validator.starts(withBytes: "\"") || validator.starts(withBytes: "W/\""))
    }

    private static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.starts(withBytes: "\"") && tag.ends(withBytes: "\"")
    }
}
