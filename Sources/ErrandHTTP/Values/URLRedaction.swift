/// Removes user info, query and fragment from URLs within text, by the rule of ``URI/redacted``.
enum URLRedaction {
    /// The text in place of a secret, and of a URL that cannot be parsed.
    static let placeholder = "<redacted>"

    /// The redacted form of an absolute URL or a relative reference.
    static func reference(_ text: String) -> String {
        (try? URI(parsing: text))?.redacted ?? placeholder
    }

    /// The text with its absolute `http` and `https` URLs in their redacted forms.
    static func text(_ text: String) -> String {
        text.replacing(/https?:\/\/[^\s"<>]+/.ignoresCase()) { reference(String($0.output)) }
    }

    /// A `Link` field (RFC 8288) with its URLs in their redacted forms; a placeholder if it is
    /// malformed.
    static func links(_ field: String) -> String {
        guard let field = LinkField(field) else { return placeholder }
        return field.values.map { value in
            let parameters = parameters(value.parameters)
            return value.names.reduce("<\(reference(value.target))>") { text, name in
                guard let value = parameters[name], !value.isEmpty else {
                    return "\(text); \(name)"
                }
                return "\(text); \(name)=\"\(value)\""
            }
        }.joined(separator: ", ")
    }

    /// The parameters of a link; the anchor is a reference.
    static func parameters(_ parameters: [String: String]) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: parameters.map { name, value in
                (name, name == "anchor" ? reference(value) : text(value))
            })
    }
}
