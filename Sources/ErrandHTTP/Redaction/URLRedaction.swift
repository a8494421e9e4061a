/// Removes user info, query and fragment from URLs within text, by the rule of ``HTTPURL/redacted``.
enum URLRedaction {
    /// The text in place of a secret, and of a URL that cannot be parsed.
    static let placeholder = "<redacted>"

    /// The redacted form of an absolute URL or a relative reference.
    static func reference(_ text: String) -> String {
        (try? HTTPURL(parsing: text))?.redacted ?? placeholder
    }

    /// The text with its absolute `http` and `https` URLs in their redacted forms.
    static func text(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let colon = rest.firstRange(ofBytes: "://") {
            let before = rest[..<colon.lowerBound]
            let after = rest[colon.upperBound...]
            let scheme = ["https", "http"].first { before.lowercasedASCII().ends(withBytes: $0) }
            let end = after.unicodeScalars.firstIndex(where: endsURL) ?? after.endIndex
            guard let scheme, end > after.startIndex else {
                result += rest[..<colon.upperBound]
                rest = after
                continue
            }
            let start = before.utf8.index(before.endIndex, offsetBy: -scheme.utf8.count)
            result += rest[..<start]
            result += reference(String(rest[start..<end]))
            rest = rest[end...]
        }
        return result + rest
    }

    private static func endsURL(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar == "\"" || scalar == "<" || scalar == ">"
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
