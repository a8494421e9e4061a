public import Foundation

/// Where arguments go (row ENC-9).
public enum ArgumentPlacement: Sendable, Hashable {
    /// Into the query for GET, HEAD and DELETE, into the body otherwise. The default.
    case automatic
    /// Into the query, whatever the method.
    case query
    /// Into the body, whatever the method.
    case body
    /// Into both.
    case queryAndBody
}

/// How arguments become a body (row RSQ-1).
///
/// In the query they are always encoded as a form.
public enum RequestSerializer: Sendable {
    /// `application/x-www-form-urlencoded`. The default.
    case form
    /// `application/json`
    case json
    /// `application/x-plist`, XML.
    case plist
    /// `application/x-plist`, binary.
    case binaryPlist
    /// Bytes made by a closure, with a content type.
    case custom(contentType: String, @Sendable (Arguments) throws -> Data)
}

/// What the answer's body is expected to be (row RSP-1).
public enum ResponseSerializer: Sendable {
    /// Any bytes.
    case data
    /// Text: charset of the header, else BOM, else UTF-8, else Latin-1.
    case string
    /// JSON; a body that is none fails, an empty one does not. The default.
    case json
    /// A property list.
    case plist
    /// XML: the content type is checked, the bytes are left to whichever parser the endpoint chooses.
    case xml
    /// Checked by a closure, which throws what is wrong.
    case custom(@Sendable (Response) throws -> Void)
    /// Whichever of these accepts the body first; the first one's error when none does.
    indirect case compound([ResponseSerializer])
}

/// Which content types an answer may have (row RSP-2).
public enum AcceptableContentTypes: Sendable, Hashable {
    /// The ones that go with the response serializer: for JSON `application/json`, `text/json`,
    /// `text/javascript` and `*+json`; anything for data and string. The default.
    case automatic
    /// Whatever the server says.
    case any
    /// These, such as `text/html`; `image/*` and `*+json` are patterns.
    case types(Set<String>)
}

/// Credentials that go out with the first attempt (row HDR-3).
///
/// Its description and its mirror hold no secret.
public enum Authorization: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// `Basic`, RFC 7617: user and password in UTF-8.
    case basic(user: String, password: String)
    /// `Bearer`, RFC 6750.
    case bearer(String)
    /// The header's value as it is.
    case custom(String)

    /// Which scheme it is, and nothing of the credentials.
    public var description: String {
        switch self {
        case .basic: "Basic"
        case .bearer: "Bearer"
        case .custom: "custom"
        }
    }

    /// No children: credentials do not end up in logs.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
