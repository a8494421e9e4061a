/// A parsed `Content-Range` field (RFC 9110 §14.4): the byte range of a partial response.
package struct ContentRange: Sendable, Hashable {
    /// The first and last byte; `nil` in the unsatisfied form `bytes */1234`.
    package var bytes: ClosedRange<Int64>?
    /// The size of the complete body; `nil` if the server does not know it.
    package var total: Int64?

    package init(bytes: ClosedRange<Int64>?, total: Int64?) {
        self.bytes = bytes
        self.total = total
    }

    /// Parses a field value; `nil` for another range unit and for a malformed or inconsistent value.
    package init?(_ text: String) {
        let words = text.pieces(at: " ")
        guard words.count == 2, words[0].lowercasedASCII() == "bytes" else { return nil }
        let parts = words[1].pieces(at: "/", keepingEmpty: true)
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
        let ends = parts[0].pieces(at: "-", keepingEmpty: true)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last, last < total ?? .max
        else { return nil }
        bytes = first...last
    }

    /// The number; `nil` if the text is not all digits, because `Int64` alone would accept a sign.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(text)
    }
}
