/// Splits text at a separator, but not inside quoted strings (RFC 9110 §5.6.4).
///
/// The pieces are unchanged; empty pieces are included.
package struct QuotedSplitter: Sequence, IteratorProtocol {
    private let separator: UInt8
    private var rest: Substring?

    package init(_ text: Substring, at separator: UInt8) {
        self.separator = separator
        rest = text
    }

    package mutating func next() -> Substring? {
        guard let text = rest else { return nil }
        let bytes = text.utf8
        var isQuoted = false
        var isEscaped = false
        let end = bytes.firstIndex { byte in
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else {
                isEscaped = isQuoted && byte == UInt8(ascii: "\\")
            }
            return byte == separator && !isQuoted
        }
        rest = end.map { text[bytes.index(after: $0)...] }
        return text[..<(end ?? text.endIndex)]
    }
}
