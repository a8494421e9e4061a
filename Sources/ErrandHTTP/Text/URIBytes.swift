/// The bytes that each component of a URI may contain unescaped (RFC 3986 §3).
package enum URIBytes {
    package static let userInfo = ByteSet.unreserved.union("!$&'()*+,;=:")
    package static let path = ByteSet.unreserved.union("!$&'()*+,;=:@/")
    package static let query = ByteSet.unreserved.union("!$&'()*+,;=:@/?")
    package static let scheme = ByteSet.alphanumeric.union("+-.")
    /// A registered name without escapes (RFC 3986 §3.2.2).
    package static let host = ByteSet.unreserved.union("!$&'()*+,;=")
}
