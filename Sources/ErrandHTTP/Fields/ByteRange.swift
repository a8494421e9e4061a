/// Resolves a `Range` request field against a stored response (RFC 9110 §14.1.2); pure.
package enum ByteRange {
    /// The byte positions of a `Range` field in a body of `count` bytes.
    ///
    /// - Returns: `nil` if the field is not a single byte range or is not satisfiable; the server then handles
    ///   the request.
    package static func within(_ field: String, count: Int) -> Range<Int>? {
        let parts = field.pieces(at: "=", maxSplits: 1, keepingEmpty: true)
        guard parts.count == 2, parts[0].lowercasedASCII() == "bytes" else { return nil }
        let ends = parts[1].trimmingBlanks().pieces(at: "-", maxSplits: 1, keepingEmpty: true)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let length = number(ends[1]), length > 0, count > 0 else { return nil }
            return max(0, count - length)..<count
        }
        guard let first = number(ends[0]), first < count else { return nil }
        if ends[1].isEmpty { return first..<count }
        guard let last = number(ends[1]), last >= first else { return nil }
        return first..<min(last, count - 1) + 1
    }

    /// The number; `nil` if the text is not all digits or overflows `Int`.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
