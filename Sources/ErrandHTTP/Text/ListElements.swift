/// The elements of a comma-separated field value (RFC 9110 §5.6.1).
///
/// Commas in quoted strings do not separate elements. Blanks around elements and empty elements are removed.
package struct ListElements: Sequence, IteratorProtocol {
    private var pieces: QuotedSplitter

    package init(_ value: String) { pieces = QuotedSplitter(value[...], at: UInt8(ascii: ",")) }

    package mutating func next() -> Substring? {
        while let piece = pieces.next() {
            let element = piece.trimmingBlanks()
            if !element.isEmpty { return element }
        }
        return nil
    }
}

extension Substring {
    /// The text without spaces and tabs at both ends.
    package func trimmingBlanks() -> Substring {
        var text = self
        while let first = text.utf8.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.utf8.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }
}
