/// Reads values of DER (X.690 §8 and §10), one after another.
package struct DERReader {
    /// A tag with its class, and the contents of its value.
    package struct Element: Sendable, Hashable {
        package let tag: UInt8
        package let contents: ArraySlice<UInt8>
        /// The value with its tag and its length.
        package let bytes: ArraySlice<UInt8>
    }

    /// The tags that certificates and private keys use.
    package enum Tag {
        package static let boolean: UInt8 = 0x01
        package static let integer: UInt8 = 0x02
        package static let octets: UInt8 = 0x04
        package static let identifier: UInt8 = 0x06
        package static let sequence: UInt8 = 0x30
    }

    private var rest: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Whether all bytes are read.
    package var isAtEnd: Bool { rest.isEmpty }

    /// The tag of the next value; `nil` at the end.
    package var nextTag: UInt8? { rest.first }

    /// Reads a value; `nil` at the end, or if its length is invalid or exceeds the bytes.
    package mutating func next() -> Element? {
        let bytes = rest
        guard let tag = rest.popFirst(), let first = rest.popFirst(), tag & 0x1f != 0x1f else {
            return nil
        }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7f)
            guard (1...4).contains(count), rest.count >= count else { return nil }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        guard rest.count >= length else { return nil }
        let contents = rest.prefix(length)
        rest = rest.dropFirst(length)
        return Element(
            tag: tag, contents: contents, bytes: bytes[bytes.startIndex..<contents.endIndex])
    }

    /// Reads a value with a tag; `nil` if the next one has another.
    package mutating func next(_ tag: UInt8) -> Element? { nextTag == tag ? next() : nil }

    /// Reads a sequence; `nil` if the next value is another.
    package mutating func sequence() -> DERReader? {
        next(Tag.sequence).map { DERReader($0.contents) }
    }
}
