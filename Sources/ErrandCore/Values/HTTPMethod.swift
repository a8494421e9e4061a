public import HTTPTypes

/// A request method (RFC 9110 §9, rows MET-1 and MET-2).
///
/// Any token is a method: `HTTPMethod("PURGE")`. A value that is not a token (a space, CR, LF or NUL in
/// it) is kept as written and refused when the request is built, with ``RequestError/Code/invalidMethod``.
/// Case matters: `get` is not ``get``.
public struct HTTPMethod: Sendable, Hashable, RawRepresentable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    /// The method as it goes over the wire.
    public let rawValue: String

    /// Makes a method of any text; see the type's discussion for text that is no token.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Makes a method of any text; see the type's discussion for text that is no token.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Makes a method of a literal.
    public init(stringLiteral value: String) { self.rawValue = value }

    /// Makes a method of one from swift-http-types.
    public init(_ method: HTTPRequest.Method) { self.rawValue = method.rawValue }

    /// The method as it goes over the wire.
    public var description: String { rawValue }

    /// `GET`, the default of every endpoint.
    public static let get = HTTPMethod("GET")
    /// `HEAD`: like GET, without a body in the answer.
    public static let head = HTTPMethod("HEAD")
    /// The method `POST`.
    public static let post = HTTPMethod("POST")
    /// The method `PUT`.
    public static let put = HTTPMethod("PUT")
    /// The method `PATCH` (RFC 5789).
    public static let patch = HTTPMethod("PATCH")
    /// The method `DELETE`.
    public static let delete = HTTPMethod("DELETE")
    /// The method `OPTIONS`.
    public static let options = HTTPMethod("OPTIONS")
    /// The method `TRACE`.
    public static let trace = HTTPMethod("TRACE")
    /// `QUERY`: a safe method with a body.
    public static let query = HTTPMethod("QUERY")

    /// Whether the method asks for nothing but an answer (RFC 9110 §9.2.1).
    public var isSafe: Bool {
        self == .get || self == .head || self == .options || self == .trace || self == .query
    }

    /// Whether the method is a token (RFC 9110 §5.6.2).
    package var isToken: Bool { self == .get || self == .post || rawValue.isToken }

    /// Whether sending twice means the same as sending once (RFC 9110 §9.2.2).
    public var isIdempotent: Bool { isSafe || self == .put || self == .delete }
}
