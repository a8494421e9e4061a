/// A version of HTTP.
public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
    /// HTTP/1.0
    case http10 = "HTTP/1.0"
    /// HTTP/1.1 (RFC 9112)
    case http11 = "HTTP/1.1"
    /// HTTP/2 (RFC 9113)
    case http2 = "HTTP/2"
    /// HTTP/3 (RFC 9114)
    case http3 = "HTTP/3"
}
