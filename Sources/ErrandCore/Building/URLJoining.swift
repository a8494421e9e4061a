import ErrandHTTP

/// The rule that joins a base URL and an endpoint's path.
///
/// An endpoint without a path, such as `""` or `"?page=2"`, has the base URL as it is written, without a slash at its
/// end that the base does not have; the endpoint's query follows the base's.
public enum URLJoining: Sendable, Hashable {
    /// Resolves the path against the base URL with a trailing slash (RFC 3986 §5.2).
    ///
    /// A path with a leading slash replaces the path of the base URL.
    case rfc3986
    /// Appends the path to the base URL with exactly one slash between them.
    case append
}

/// The part of the URL or the header that contains the API version of an endpoint with a relative URL.
public enum APIVersionPlacement: Sendable, Hashable {
    /// A path segment between the base URL and the path: `https://example.com/v5/users`; the default.
    case path
    /// A header with this name.
    case header(String)
    /// A query argument with this name.
    case query(String)
}
