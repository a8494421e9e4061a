/// The value of a `Content-Range` (RFC 9110 §14.4): which bytes of how many an answer holds.
package struct ContentRange: Sendable, Hashable {
    /// First and last byte; `nil` in the unsatisfied form `bytes */1234`.
    package var bytes: ClosedRange<Int64>?
    /// The size of the whole; `nil` when the server does not know it.
    package var total: Int64?

    package init(bytes: ClosedRange<Int64>?, total: Int64?) {
        self.bytes = bytes
        self.total = total
    }

    /// Reads a header's value; `nil` for another unit and for anything that contradicts itself.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] == "*" {
            total = nil
        } else {
            guard let number = Self.number(parts[1]) else { return nil }
            total = number
        }
        if parts[0] == "*" {
            guard total != nil else { return nil }
            bytes = nil
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last, last < total ?? .max
        else { return nil }
        bytes = first...last
    }

    /// Digits and nothing else; `Int64` alone would take a sign, too.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(text)
    }
}
