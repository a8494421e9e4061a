public import ErrandHTTP
public import Foundation

/// Which values of requests and responses are replaced by `REDACTED` before they are written.
///
/// The standard rules replace credentials and cookies in headers, and the values of query arguments, form fields
/// and JSON members whose names say that they are secret, such as `access_token`, `password`, `apiKey` or
/// `session`. Names remain visible. For example, also the mail addresses of an API:
///
///     var rules = RedactionRules.standard
///     rules.names.insert("email")
///     try rules.redact(path: "$.owner.phone")
///
/// Text in other formats, such as XML, HTML and plain text, is not changed, unless ``body`` does. JSON that cannot
/// be parsed is withheld, because the names in it are not known.
public struct RedactionRules: Sendable {
    /// The text in place of a secret value.
    public static let placeholder = "REDACTED"

    /// Credentials, cookies, and values whose names say that they are secret.
    public static let standard = RedactionRules(isStandard: true)

    /// Nothing is replaced.
    ///
    /// The recording then contains credentials.
    public static let none = RedactionRules(isStandard: false)

    /// Further names of secret headers; letter case does not matter.
    public var headers: Set<String> = []
    /// Further names of secret query arguments, form fields and JSON members, at any depth; letter case does not
    /// matter.
    public var names: Set<String> = []
    /// Names that are not secret, although the standard rules say so, such as `code` or `key`; letter case does not
    /// matter.
    public var visibleNames: Set<String> = []
    /// Changes a complete body after the other rules, for other formats than forms and JSON; `nil` withholds it.
    ///
    /// Called with the bytes and the content type, on a background thread. Default: returns the bytes.
    public var body: @Sendable (_ bytes: Data, _ contentType: String?) -> Data? = { bytes, _ in
        bytes
    }

    /// The texts in place of values that recordings must not contain, the longest values first; a secret that is such
    /// a text remains visible.
    package var substitutions: [(value: String, text: String)] = []

    private var isStandard: Bool
    private var paths: [MemberPath] = []

    private init(isStandard: Bool) { self.isStandard = isStandard }

    /// Replaces the values at a path in every JSON body.
    ///
    /// - Parameter path: Steps from the root `$`: `.name` or `['name']` for a member, `[*]` for every element of an
    ///   array, `.*` for every member. For example, `$.items[*].email`.
    /// - Throws: ``RequestError/Code/invalidConfiguration`` if the text is not such a path.
    public mutating func redact(path: String) throws(RequestError) {
        paths.append(try MemberPath(path))
    }

    /// The text with the values of ``substitutions`` replaced.
    private func substituted(_ text: String) -> String {
        substitutions.reduce(text) { $0.replacing(bytes: $1.value, with: $1.text) }
    }

    /// Whether a value is a text of ``substitutions``.
    func isSubstitution(_ value: String) -> Bool {
        substitutions.contains { $0.text.hasSameBytes(as: value) }
    }

    /// Whether nothing is replaced.
    var isEmpty: Bool { !isStandard && headers.isEmpty && names.isEmpty && paths.isEmpty }

    // MARK: - Names

    func isSecret(name: String) -> Bool {
        if Self.contains(names, name) { return true }
        return isStandard && SecretName.isSecret(argument: name)
            && !Self.contains(visibleNames, name)
    }

    private func isSecret(header name: String) -> Bool {
        let name = name.lowercased()
        if Self.contains(headers, name) { return true }
        return isStandard && SecretName.isSecret(header: name) && !Self.contains(visibleNames, name)
    }

    private static func contains(_ names: Set<String>, _ name: String) -> Bool {
        guard !names.isEmpty else { return false }
        return names.contains(name) || names.contains { $0.lowercased() == name.lowercased() }
    }

    // MARK: - Headers and URLs

    /// The value of a header without secrets.
    ///
    /// The scheme of credentials and the names of cookies remain.
    package func header(_ name: String, _ value: String) -> String {
        let lowercase = name.lowercased()
        let value = substituted(value)
        guard isSecret(header: name) else {
            switch lowercase {
            case "location", "content-location", "referer": return url(value)
            case "link": return links(value)
            default: return value
            }
        }
        switch lowercase {
        case "cookie":
            return value.pieces(at: ";").map { redactedPair($0) }.joined(separator: "; ")
        case "set-cookie":
            let parts = value.pieces(at: ";", maxSplits: 1, keepingEmpty: true)
            return redactedPair(parts[0]) + (parts.count > 1 ? ";" + parts[1] : "")
        case "authorization", "proxy-authorization":
            guard let space = value.firstIndex(ofByte: " ") else { return hidden(value[...]) }
            return value[...space] + hidden(value[value.utf8.index(after: space)...])
        default: return hidden(value[...])
        }
    }

    private func redactedPair(_ pair: Substring) -> String {
        let pair = pair.dropping(leadingByte: " ")
        guard let equals = pair.firstIndex(ofByte: "=") else { return hidden(pair) }
        return pair[...equals] + hidden(pair[pair.utf8.index(after: equals)...])
    }

    private func hidden(_ value: Substring) -> String {
        isSubstitution(String(value)) ? String(value) : Self.placeholder
    }

    /// A `Link` field whose targets have no secrets; a target without its closing bracket ends with the field.
    private func links(_ value: String) -> String {
        var result = ""
        var rest = value[...]
        while let open = rest.firstIndex(ofByte: "<") {
            let target = rest[rest.utf8.index(after: open)...].prefix(upToByte: ">")
            result += rest[...open]
            result += url(String(target))
            rest = rest[target.endIndex...]
        }
        return result + rest
    }

    /// A URL without user info and without the values of secret arguments.
    package func url(_ text: String) -> String {
        let text = substituted(text)
        guard !isEmpty else { return text }
        guard var url = try? URI(parsing: text) else { return Self.placeholder }
        if isStandard { url.userInfo = nil }
        url.query = url.query.map(pairs)
        return url.string
    }

    /// The pairs of a query or a form, with secret values replaced.
    func pairs(_ text: String) -> String {
        text.pieces(at: "&", keepingEmpty: true).map { pair in
            guard let equals = pair.firstIndex(ofByte: "="),
                isSecret(name: FormText.decoded(pair[..<equals])),
                !isSubstitution(FormText.decoded(pair[pair.utf8.index(after: equals)...]))
            else { return String(pair) }
            return pair[...equals] + Self.placeholder
        }.joined(separator: "&")
    }

    // MARK: - Bodies

    /// A complete body without secrets; `nil` if it must be withheld.
    package func redacted(body bytes: Data, contentType: String?) -> Data? {
        var bytes = bytes
        if !substitutions.isEmpty, let text = String(validating: bytes, as: UTF8.self) {
            bytes = Data(substituted(text).utf8)
        }
        guard let bytes = withoutNamedSecrets(bytes, MediaType(contentType)) else { return nil }
        return body(bytes, contentType)
    }

    private func withoutNamedSecrets(_ bytes: Data, _ type: MediaType) -> Data? {
        guard !isEmpty, !bytes.isEmpty else { return bytes }
        switch type {
        case .form: return Data(pairs(String(decoding: bytes, as: UTF8.self)).utf8)
        case .json: return JSONRedaction(self, paths).document(bytes)
        case .lines: return JSONRedaction(self, paths).lines(bytes)
        case .other: return bytes
        }
    }
}

/// The formats whose values have names.
private enum MediaType {
    case form, json
    /// Lines that may contain a JSON document each: JSON Lines, JSON sequences and server-sent events.
    case lines
    case other

    init(_ contentType: String?) {
        let essence = contentType?.prefix(upToByte: ";").trimmingBlanks().lowercasedASCII()
        switch essence {
        case "application/x-www-form-urlencoded": self = .form
        case "text/event-stream", "application/x-ndjson", "application/jsonl",
            "application/json-seq", "application/jsonlines":
            self = .lines
        case let type? where type.ends(withBytes: "/json") || type.ends(withBytes: "+json"):
            self = .json
        default: self = .other
        }
    }
}

/// Names and values of queries and forms as text.
enum FormText {
    /// The text without percent-encoding; a plus sign is a space.
    static func decoded(_ text: Substring) -> String {
        let spaced = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(decoding: PercentEncoding.decode(spaced), as: UTF8.self)
    }

    /// The decoded names and values of a query or a form, in order.
    static func pairs(_ text: String) -> [(name: String, value: String)] {
        text.pieces(at: "&").map { pair in
            let parts = pair.pieces(at: "=", maxSplits: 1, keepingEmpty: true)
            return (decoded(parts[0]), parts.count > 1 ? decoded(parts[1]) : "")
        }
    }
}
