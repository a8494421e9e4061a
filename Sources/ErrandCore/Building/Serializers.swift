public import ErrandHTTP
public import ErrandSystem

extension Arguments {
    /// The part of a request that contains the arguments.
    public enum Placement: Sendable, Hashable {
        /// The query for GET, HEAD and DELETE, and for every method if the endpoint has a body of its own that is not
        /// multipart; otherwise the body.
        ///
        /// The default.
        case automatic
        /// The query, for every method.
        case query
        /// The body, for every method; an own body must be multipart.
        case body
        /// The query and the body; an own body must be multipart.
        case queryAndBody
    }
}

/// The format of arguments in a request body.
///
/// In a query, arguments are always form-encoded.
public enum RequestSerializer: Sendable {
    /// `application/x-www-form-urlencoded`; the default.
    case form
    /// `application/json`
    case json
    /// `application/x-plist` in XML format.
    case plist
    /// `application/x-plist` in binary format.
    case binaryPlist
    /// The bytes that a closure returns, with this content type.
    case custom(contentType: String, @Sendable (Arguments) throws -> Data)
}

/// Credentials that the first attempt sends in `Authorization` (RFC 9110 §11.6.2).
///
/// The description and the mirror contain no secret.
public enum Authorization: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The `Basic` scheme (RFC 7617) with user and password in UTF-8.
    case basic(user: String, password: String)
    /// The `Bearer` scheme (RFC 6750).
    case bearer(String)
    /// The complete value of the header.
    case custom(String)

    /// The scheme, without the credentials.
    public var description: String {
        switch self {
        case .basic: "Basic"
        case .bearer: "Bearer"
        case .custom: "custom"
        }
    }

    /// An empty mirror, so that dumps do not contain credentials.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
