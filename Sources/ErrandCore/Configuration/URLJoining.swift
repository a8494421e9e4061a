/// How a base URL and an endpoint's path become one (row URL-3).
public enum URLJoining: Sendable, Hashable {
    /// The base gets a trailing slash, then RFC 3986 §5.2: a leading slash in the path drops the base's path.
    case rfc3986
    /// The path is appended with exactly one slash between, whatever it begins with.
    case append
}

/// Where the API version of an endpoint with a relative URL goes (row URL-8).
public enum APIVersionPlacement: Sendable, Hashable {
    /// Between base and path, as a segment: `https://example.com/v5/users`. The default.
    case path
    /// Into a header with this name.
    case header(String)
    /// Into the query under this name.
    case query(String)
}
