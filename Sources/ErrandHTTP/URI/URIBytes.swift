/// The bytes that each component of a URI may contain unescaped (RFC 3986 §3).
package enum URIBytes {
    package static let userInfo = ByteSet.unreserved.union("!$&'()*+,;=:")
    package static let path = ByteSet.unreserved.union("!$&'()*+,;=:@/")
    package static let query = ByteSet.unreserved.union("!$&'()*+,;=:@/?")
    package static let scheme = ByteSet.alphanumeric.union("+-.")
    /// A registered name without escapes (RFC 3986 §3.2.2).
    package static let host = ByteSet.unreserved.union("!$&'()*+,;=")
    /// The ports to which a request can be sent.
    static let ports = 1...65_535

    /// Whether the text would be parsed as a URI with a scheme (RFC 3986 §3.1).
    static func startsWithScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, ByteSet.letters.contains(first) else { return false }
        return text.utf8.first { !scheme.contains($0) } == UInt8(ascii: ":")
    }

    /// Whether the text is a scheme.
    static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, ByteSet.letters.contains(first) else { return false }
        return text.utf8.allSatisfy(scheme.contains)
    }
}
