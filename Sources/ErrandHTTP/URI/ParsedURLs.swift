import Synchronization

/// The URLs that were parsed recently.
///
/// Base URLs, and the URLs of most endpoints, are the same text in many requests, and parsing costs more than
/// the rest of building a small request. A table with one place for each hash value needs no order of use: a
/// new URL replaces the one in its place. Long URLs and those with a query, a user or a fragment are not
/// kept: they rarely occur twice, and may contain secrets.
package final class ParsedURLs: Sendable {
    package static let shared = ParsedURLs()

    private struct Entry {
        let text: String
        let url: URI
    }

    private static let places = 64
    private static let maximumLength = 256

    private let entries = Mutex([Entry?](repeating: nil, count: places))

    package init() {}

    /// Parses a URL like `URI(parsing:)`.
    package func url(parsing text: String) throws(RequestError) -> URI {
        guard text.utf8.count <= Self.maximumLength else { return try URI(parsing: text) }
        let place = Self.place(of: text)
        let known = entries.withLock { entries -> URI? in
            // `String` compares canonical equivalence, but a URL consists of its bytes.
            guard let entry = entries[place], entry.text.utf8.elementsEqual(text.utf8) else {
                return nil
            }
            return entry.url
        }
        if let known { return known }
        let url = try URI(parsing: text)
        guard url.query == nil, url.userInfo == nil, url.fragment == nil else { return url }
        let entry = Entry(text: text, url: url)
        let replaced = entries.withLock { exchange(&$0[place], with: entry) }
        withExtendedLifetime(replaced) {}
        return url
    }

    /// A place by length and last bytes, in which the URLs of one service differ; cheaper than `hashValue`.
    private static func place(of text: String) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            var hash = UInt32(truncatingIfNeeded: bytes.count)
            for byte in bytes.suffix(8) { hash = (hash &* 31) &+ UInt32(byte) }
            return Int(hash % UInt32(places))
        }
    }
}
