public import ErrandHTTP
public import ErrandSystem

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
/// The content decides, not the content type: JSON under any type, also in strings of JSON, in forms and in parts of
/// multipart bodies, in lines and in events; URLs and pairs of a name and a value in any field and any string of JSON.
/// JSON that cannot be parsed and contains the name of a secret is replaced or withheld as a whole. Other text, such as
/// XML, HTML and prose, is not changed, unless ``body`` does.
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

    /// The names of the agent whose messages are redacted.
    private var secretNames = SecretNames.standard

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

    /// A text without those of ``substitutions``.
    func withoutSubstitutions(_ text: String) -> String {
        substitutions.reduce(text) { $0.replacing(bytes: $1.text, with: "") }
    }

    /// Whether URLs lose user and password.
    var hidesUserInfo: Bool { isStandard }

    /// Whether nothing is replaced.
    var isEmpty: Bool { !isStandard && headers.isEmpty && names.isEmpty && paths.isEmpty }

    // MARK: - Names

    /// The rules with the secret names of an agent (`Configuration.secretNames`) in addition.
    package func adding(_ names: SecretNames) -> RedactionRules {
        guard names != secretNames else { return self }
        var rules = self
        rules.secretNames.added.formUnion(names.added)
        rules.secretNames.excepted.formUnion(names.excepted)
        return rules
    }

    func isSecret(name: String) -> Bool {
        if Self.contains(names, name) { return true }
        return isStandard && secretNames.isSecret(argument: name)
            && !Self.contains(visibleNames, name)
    }

    private func isSecret(header name: String) -> Bool {
        if Self.contains(headers, name) { return true }
        return isStandard && secretNames.isSecret(header: name)
            && !Self.contains(visibleNames, name)
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
            case "link": return TextRedaction(self).pairs(links(value), .text)
            default: return isEmpty ? value : field(value)
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
            return value[..<space] + " " + hidden(value[value.utf8.index(after: space)...])
        default: return hidden(value[...])
        }
    }

    /// The value of a field that may contain JSON, URLs, or pairs.
    private func field(_ value: String) -> String {
        let text = TextRedaction(self)
        // A list of objects, such as that of `Report-To`, is JSON in brackets.
        if value[...].trimmingBlanks().utf8.first == UInt8(ascii: "{"),
            let list = JSONRedaction(self, []).document(Array("[\(value)]".utf8))
        {
            return String(decoding: list.dropFirst().dropLast(), as: UTF8.self)
        }
        return text.text(value)
    }

    private func redactedPair(_ pair: Substring) -> String {
        let pair = pair.dropping(leadingByte: " ")
        guard let equals = pair.firstIndex(ofByte: "=") else { return hidden(pair) }
        return pair[..<equals] + "=" + hidden(pair[pair.utf8.index(after: equals)...])
    }

    private func hidden(_ value: Substring) -> String {
        isSubstitution(String(value)) ? String(value) : Self.placeholder
    }

    /// A `Link` field whose targets have no secrets; a target without its closing bracket ends with the field.
    private func links(_ value: String) -> String {
        var result = ""
        var rest = value[...]
        while let open = rest.firstIndex(ofByte: "<") {
            let start = rest.utf8.index(after: open)
            let target = rest[start...].prefix(upToByte: ">")
            result += rest[..<start]
            result += url(String(target))
            rest = rest[target.endIndex...]
        }
        return result + rest
    }

    /// A URL without user info and without the values of secret arguments.
    package func url(_ text: String) -> String {
        let text = substituted(text)
        guard !isEmpty else { return text }
        guard var url = try? HTTPURL(parsing: text) else { return Self.placeholder }
        if isStandard { url.userInfo = nil }
        url.query = url.query.map(pairs)
        url.fragment = url.fragment.map(pairs)
        if url.path.contains(byte: "=") { url.path = pairs(url.path) }
        return url.string
    }

    /// The pairs of a query or a form, with secret values replaced.
    func pairs(_ text: String) -> String { TextRedaction(self).pairs(text, .form) }

    // MARK: - Bodies

    /// A complete body without secrets; `nil` if it must be withheld.
    package func redacted(body bytes: Data, contentType: String?) -> Data? {
        var bytes = bytes
        if !substitutions.isEmpty, let text = String(validating: bytes, as: UTF8.self) {
            bytes = Data(substituted(text).utf8)
        }
        if !isEmpty, !bytes.isEmpty {
            let redaction = BodyRedaction(self, JSONRedaction(self, paths))
            guard let safe = redaction.body(Array(bytes), contentType: contentType) else {
                return nil
            }
            bytes = Data(safe)
        }
        return body(bytes, contentType)
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
