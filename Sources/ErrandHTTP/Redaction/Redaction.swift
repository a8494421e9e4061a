import ErrandSystem
package import HTTPTypes

// Descriptions, dumps and mirrors end up in logs, so they contain no credentials, bodies or queries. Names remain
// visible, and of bodies the size and the content type.

extension HTTPFields {
    /// The fields as text, without the values of those that contain secrets, and with URLs in their
    /// redacted forms.
    package var redacted: [String] { redacted(.standard) }

    /// As ``redacted``, by the names of an agent.
    func redacted(_ names: SecretNames) -> [String] {
        map { "\($0.name.rawName): \($0.redactedValue(names))" }
    }
}

extension HTTPField {
    /// The value without secrets.
    fileprivate func redactedValue(_ names: SecretNames) -> String {
        let name = name.canonicalName
        if names.isSecret(header: self.name.rawName) { return URLRedaction.placeholder }
        switch name {
        case "location", "content-location", "referer": return URLRedaction.reference(value)
        case "link": return URLRedaction.links(value)
        default: return URLRedaction.text(value)
        }
    }
}

extension HTTPURL: CustomDebugStringConvertible, CustomReflectable {
    /// The same as ``redacted``; `dump`, and `print` of a value that contains a URI, show it.
    public var debugDescription: String { redacted }
    /// No children, because user info and query may be secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
