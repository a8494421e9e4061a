package import ErrandHTTP
import ErrandSystem
import Synchronization

/// The URLs that were parsed or joined recently.
///
/// Base URLs, and the URLs of most endpoints, are the same text in many requests, and parsing costs more than
/// the rest of building a small request. A table with one place for each hash value needs no order of use: a
/// new URL replaces the one in its place. Long URLs and those with a query, a user or a fragment are not
/// kept: they rarely occur twice, and may contain secrets.
package final class ParsedURLs: Sendable {
    package static let shared = ParsedURLs()

    // Entries are objects, so that a look-up copies no strings. They are compared under the lock, which costs less than
    // references to them that several threads count.

    private final class Entry: Sendable {
        let text: String
        let url: HTTPURL

        init(_ text: String, _ url: HTTPURL) {
            self.text = text
            self.url = url
        }

        /// The URL if the text consists of the same bytes.
        func url(of other: String) -> HTTPURL? { text.hasBytes(of: other) ? url : nil }
    }

    private final class Joining: Sendable {
        let reference: HTTPURL
        let base: HTTPURL
        let url: HTTPURL

        init(_ reference: HTTPURL, _ base: HTTPURL, _ url: HTTPURL) {
            self.reference = reference
            self.base = base
            self.url = url
        }

        /// The joined URL if these are its reference and base.
        func url(of other: HTTPURL, below otherBase: HTTPURL) -> HTTPURL? {
            reference.identity == other.identity && base.identity == otherBase.identity ? url : nil
        }
    }

    fileprivate static let places = 64
    fileprivate static let maximumLength = 256

    private let entries = Mutex([Entry?](repeating: nil, count: places))
    private let joinings = Mutex([Joining?](repeating: nil, count: places))

    package init() {}

    /// Parses a URL like `HTTPURL(parsingEndpoint:)`.
    package func url(parsing text: String) throws(RequestError) -> HTTPURL {
        guard text.utf8.count <= Self.maximumLength else {
            return try HTTPURL(parsingEndpoint: text)
        }
        let place = Self.place(of: text)
        if let url = entries.withLock({ $0[place]?.url(of: text) }) { return url }
        let url = try HTTPURL(parsingEndpoint: text)
        guard Self.mayKeep(url) else { return url }
        let entry = Entry(text, url)
        let replaced = entries.withLock { exchange(&$0[place], with: entry) }
        withExtendedLifetime(replaced) {}
        return url
    }

    /// Joins the path and the query of a reference with a base URL, like `URI.joined(below:)`.
    package func join(_ reference: HTTPURL, below base: HTTPURL) -> HTTPURL {
        guard Self.mayKeep(reference), Self.mayKeep(base) else {
            return reference.joined(below: base)
        }
        let place = (reference.identity ^ base.identity) % Self.places
        if let url = joinings.withLock({ $0[place]?.url(of: reference, below: base) }) {
            return url
        }
        let entry = Joining(reference, base, reference.joined(below: base))
        let replaced = joinings.withLock { exchange(&$0[place], with: entry) }
        withExtendedLifetime(replaced) {}
        return entry.url
    }

    fileprivate static func mayKeep(_ url: HTTPURL) -> Bool {
        url.hasOnlyPath && url.path.utf8.count <= maximumLength
    }

    /// A place by length and last bytes, in which the URLs of one service differ; cheaper than `hashValue`.
    fileprivate static func place(of text: String) -> Int {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            var hash = UInt32(truncatingIfNeeded: bytes.count)
            for byte in bytes.suffix(8) { hash = (hash &* 31) &+ UInt32(byte) }
            return Int(hash % UInt32(places))
        } ?? 0
    }
}

/// The requests for the wire that were built recently from a URL and a configuration alone.
///
/// Each configuration has its own, so that an entry is replaced together with the settings that it contains. The rules
/// of ``ParsedURLs`` apply to the URL.
package final class BuiltRequests: Sendable {
    private final class Entry: Sendable {
        let text: String
        let request: TransportRequest

        init(_ text: String, _ request: TransportRequest) {
            self.text = text
            self.request = request
        }
    }

    private let entries = Mutex([Entry?](repeating: nil, count: ParsedURLs.places))

    package init() {}

    /// The request that was built from the text of a URL.
    package func request(for text: String) -> TransportRequest? {
        guard text.utf8.count <= ParsedURLs.maximumLength else { return nil }
        let place = ParsedURLs.place(of: text)
        return entries.withLock { entries in
            guard let entry = entries[place], entry.text.hasBytes(of: text) else { return nil }
            return entry.request
        }
    }

    /// Keeps a request, unless its URL may contain secrets.
    package func keep(_ request: TransportRequest, for text: String) {
        guard text.utf8.count <= ParsedURLs.maximumLength, ParsedURLs.mayKeep(request.url),
            !text.utf8.contains(where: {
                [UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@")].contains($0)
            })
        else { return }
        let place = ParsedURLs.place(of: text)
        let entry = Entry(text, request)
        let replaced = entries.withLock { exchange(&$0[place], with: entry) }
        withExtendedLifetime(replaced) {}
    }
}

extension String {
    /// Whether the text consists of the same bytes; `==` compares canonical equivalence.
    fileprivate func hasBytes(of other: String) -> Bool {
        utf8.withContiguousStorageIfAvailable { one in
            other.utf8.withContiguousStorageIfAvailable { two in
                guard let first = one.baseAddress, let second = two.baseAddress else {
                    return one.isEmpty && two.isEmpty
                }
                return one.count == two.count && memcmp(first, second, one.count) == 0
            } ?? false
        } ?? false
    }
}
