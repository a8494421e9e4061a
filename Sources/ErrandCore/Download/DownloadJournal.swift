package import Foundation

/// What must be known of a part file to go on with it: written beside it, removed with it.
package struct DownloadJournal: Sendable, Hashable, Codable {
    /// The version of this format.
    package static let currentFormat = 1

    package var format = Self.currentFormat
    /// The address asked for, before redirects.
    package var url: String
    /// What goes out as `If-Range`.
    package var validator: String
    /// The size of the finished file; `nil` while unknown.
    package var total: Int64?
    /// So many bytes are safe on the disk, whatever happens to the machine.
    package var offset: Int64
    /// The run of the operating system in which the part file was written.
    ///
    /// While it is the same, every byte that was written is there, also those the disk has not
    /// seen: a killed process loses nothing. After a crash of the machine only ``offset`` counts.
    package var session: String?

    package init(
        url: String, validator: String, total: Int64?, offset: Int64 = 0, session: String?
    ) {
        self.url = url
        self.validator = validator
        self.total = total
        self.offset = offset
        self.session = session
    }

    /// Reads a journal; `nil` for anything that is none or contradicts itself.
    package init?(decoding data: Data) {
        guard data.count < 64 << 10,
            let journal = try? JSONDecoder().decode(Self.self, from: data),
            journal.format == Self.currentFormat, journal.offset >= 0,
            journal.offset <= journal.total ?? .max, !journal.validator.isEmpty,
            journal.validator.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else { return nil }
        self = journal
    }

    package func encoded() -> Data { (try? JSONEncoder().encode(self)) ?? Data() }
}
