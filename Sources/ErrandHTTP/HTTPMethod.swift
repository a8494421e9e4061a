public import HTTPTypes

/// A request method (RFC 9110 §9).
///
/// Every token is a valid method: `HTTPMethod("PURGE")`. Other text, such as text with a space, CR, LF or
/// NUL, is kept as written, and the request fails with ``RequestError/Code/invalidMethod`` before it is sent.
/// Methods are case-sensitive: `get` is not ``get``.
public struct HTTPMethod: Sendable, Hashable, RawRepresentable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    /// The method as it is sent.
    public let rawValue: String

    /// Creates a method from text, which is not validated.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates a method from text, which is not validated.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Creates a method from a literal.
    public init(stringLiteral value: String) { self.rawValue = value }

    /// Creates a method from a swift-http-types method.
    public init(_ method: HTTPRequest.Method) { self.rawValue = method.rawValue }

    /// The method as it is sent.
    public var description: String { rawValue }

    /// `GET`, the default of every endpoint.
    public static let get = HTTPMethod("GET")
    /// `HEAD`: like GET, but the response has no body.
    public static let head = HTTPMethod("HEAD")
    /// The `POST` method.
    public static let post = HTTPMethod("POST")
    /// The `PUT` method.
    public static let put = HTTPMethod("PUT")
    /// The `PATCH` method (RFC 5789).
    public static let patch = HTTPMethod("PATCH")
    /// The `DELETE` method.
    public static let delete = HTTPMethod("DELETE")
    /// The `OPTIONS` method.
    public static let options = HTTPMethod("OPTIONS")
    /// The `TRACE` method.
    public static let trace = HTTPMethod("TRACE")
    /// `QUERY`: a safe method with a body.
    public static let query = HTTPMethod("QUERY")

    /// Whether the method is safe: GET, HEAD, OPTIONS, TRACE or QUERY (RFC 9110 §9.2.1).
    public var isSafe: Bool {
        self == .get || self == .head || self == .options || self == .trace || self == .query
    }

    /// Whether the method is a token (RFC 9110 §5.6.2).
    package var isToken: Bool { self == .get || self == .post || rawValue.isToken }

    /// Whether the method is idempotent: a safe method, PUT or DELETE (RFC 9110 §9.2.2).
    public var isIdempotent: Bool { isSafe || self == .put || self == .delete }
}
