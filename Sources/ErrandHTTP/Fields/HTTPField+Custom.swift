public import HTTPTypes

extension HTTPField.Name {
    /// A name for which `HTTPField.Name` has no constant.
    ///
    ///     request.headers[.custom("X-Trace")] = trace
    ///
    /// A name is a token (RFC 9110 §5.1): letters, digits and `!#$%&'*+-.^_|~` with the backtick. Other text is kept, and
    /// a request with it fails with ``RequestError/Code/invalidHeader``, or with ``RequestError/Code/invalidBody`` in a
    /// part of a body, before anything is sent. `HTTPField.Name(_:)` returns `nil` for it.
    public static func custom(_ text: String) -> HTTPField.Name {
        if let name = HTTPField.Name(text) { return name }
        var escaped = Array(invalidPrefix.utf8)
        PercentEncoding.append(text.utf8, keeping: .alphanumeric, to: &escaped)
        // Letters, digits, % and - are a token, so the second name is never used.
        return HTTPField.Name(String(decoding: escaped, as: UTF8.self)) ?? .accept
    }

    /// The text, as a literal, of a name that is not a token, and why; `nil` for other names.
    package var fault: String? {
        guard rawName.utf8.first == UInt8(ascii: "%"),
            let escaped = rawName.dropping(prefix: Self.invalidPrefix)
        else { return nil }
        let text = String(decoding: PercentEncoding.decode(escaped.utf8), as: UTF8.self)
        return Self.fault(of: text)
    }

    package static func fault(of text: String) -> String {
        "\(text.debugDescription), which is not a token: letters, digits and !#$%&'*+-.^_`|~ only"
    }

    private static let invalidPrefix = "%not-a-token%"
}

extension HTTPFields {
    /// The ``HTTPField/Name/fault`` of the first name that is not a token.
    package var nameFault: String? { lazy.compactMap(\.name.fault).first }
}
