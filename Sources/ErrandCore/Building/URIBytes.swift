/// Which bytes each component of a URI may hold unescaped (RFC 3986 §3).
enum URIBytes {
    static let userInfo = ByteSet.unreserved.union("!$&'()*+,;=:")
    static let path = ByteSet.unreserved.union("!$&'()*+,;=:@/")
    static let query = ByteSet.unreserved.union("!$&'()*+,;=:@/?")
    static let scheme = ByteSet.alphanumeric.union("+-.")
    /// A registered name without escapes (RFC 3986 §3.2.2).
    static let host = ByteSet.unreserved.union("!$&'()*+,;=")
}
