public import ErrandSystem

/// The URL of an endpoint: a path below the base URL, or an absolute URL.
///
///     override var url: EndpointURL { "users/\(id)/posts" }
///
/// Text that you write is kept. A value is data: each byte of it but letters, digits, `-`, `.`, `_` and `~` (RFC 3986
/// §2.3) is percent-encoded as UTF-8, so a value never becomes a delimiter, in the path, the query or the fragment. A
/// value that would lead to another endpoint is refused when the request is built, before anything is sent, with
/// ``RequestError/Code/invalidURL``: a path segment with a value must not be empty, `.` or `..`; a value is not part
/// of a scheme; in a host it is a label, or the whole host.
///
/// - `\(value)`: one segment, or one value of the query: text, numbers, Booleans, UUIDs, raw values, or another
///   endpoint URL, whose values are encoded already.
/// - `\(path: text)`: several segments; `/` separates them.
/// - `\(values, separator: ",")`: several values; the text between them is kept.
/// - `\(raw: text)`: text as it is, with its delimiters.
///
/// `"users"` and `"/users"` are the same path below the base URL. `"../users"` leaves the last segment of the base. Text
/// with `://` after a scheme is absolute and ignores the base. A fragment is kept and never sent.
public struct EndpointURL: Sendable {
    /// The text: literals as they are written, and encoded values.
    package let text: String
    /// The reason why no request can be sent to this URL.
    package let fault: Fault?
    let hasValues: Bool
    /// Whether a value precedes the first delimiter, where it could decide about a scheme.
    let startsWithValue: Bool

    /// Creates a URL from text that is ready: from a server, a configuration, or the user.
    ///
    /// Its delimiters count, so it can name any endpoint and any host.
    public init(raw text: String) { self.init(text: text) }

    /// Creates a URL from one of a response.
    public init(_ url: HTTPURL) { self.init(text: url.string) }

    /// Creates a URL from a URL of Foundation.
    public init(_ url: URL) { self.init(text: url.absoluteString) }

    /// Not available: a variable may hold values that are not encoded.
    @available(
        *, unavailable,
        message:
            "Write a literal with values, \"users/\\(id)\", or EndpointURL(raw: text) for text that is ready."
    )
    public init(_ text: String) { self.init(text: text) }

    init(
        text: String, fault: Fault? = nil, hasValues: Bool = false, startsWithValue: Bool = false
    ) {
        self.text = text
        self.fault = fault
        self.hasValues = hasValues
        self.startsWithValue = startsWithValue
    }

    /// A value that would change the endpoint.
    package enum Fault: UInt8, Sendable, Hashable {
        case emptySegment
        case dotSegment
        case scheme
        case host

        /// The end of a sentence that begins with the name of the URL, without the value.
        package var reason: String {
            switch self {
            case .emptySegment:
                "has an empty value in its path, or \\(path:) with a slash at an end or two in a row, which would be "
                    + "another endpoint. Check the value before the start."
            case .dotSegment:
                "has \".\" or \"..\" as a value in its path, which would be another endpoint. Check the value before "
                    + "the start."
            case .scheme:
                "has a value before \"://\", which would decide whether it is absolute. Write https://, or use \\(raw:) "
                    + "for a scheme that is ready."
            case .host:
                "has a value in its host that is not a host label, or that would choose the end of the host. Write a "
                    + "slash before a path, \\(label).example.com for a label, :\\(port) for a port, or use \\(raw:) for a "
                    + "host that is ready. Credentials belong in an authenticator."
            }
        }
    }

    /// Whether there is no text, so that the URL is the base URL as it is written.
    package var isEmpty: Bool { text.isEmpty && fault == nil }

    /// The text without user info, query values and fragment, which is safe for logs.
    package var redacted: String {
        let url = fault == nil ? try? URIParser.parse(text, isPath: !isAbsolute) : nil
        return url?.redacted ?? "an invalid URL"
    }
}

extension EndpointURL: Hashable {
    /// Whether both have the same text, and the same reason why no request can be sent.
    public static func == (one: Self, other: Self) -> Bool {
        one.text.hasSameBytes(as: other.text) && one.fault == other.fault
    }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension EndpointURL: ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Creates a URL from a literal, which is kept as it is.
    public init(stringLiteral value: String) { self.init(text: value) }

    /// Creates a URL from a literal with values.
    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.url }

    /// The text, with encoded values.
    public var description: String { text }
}
