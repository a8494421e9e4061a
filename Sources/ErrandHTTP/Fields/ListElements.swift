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
        func isContent(_ byte: UInt8) -> Bool { byte != 0x20 && byte != 0x09 }
        guard let start = utf8.firstIndex(where: isContent),
            let last = utf8.lastIndex(where: isContent)
        else { return self[endIndex...] }
        return self[start..<utf8.index(after: last)]
    }
}
