extension TransportOptions.ProxyPolicy: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The proxy without user name and password.
    public var description: String {
        switch self {
        case .environment: "environment"
        case .none: "none"
        case .url(let text, let bypass):
            Self.withoutUser(text) + (bypass.isEmpty ? "" : ", not for \(bypass)")
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// An empty mirror, so that dumps do not contain the password.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Removes everything up to the last `@`, because text that is not a URL can also contain a password.
    private static func withoutUser(_ text: String) -> String {
        guard let at = text.lastIndex(ofByte: "@") else { return text }
        let scheme = text.firstRange(ofBytes: "://").map { String(text[..<$0.upperBound]) } ?? ""
        return scheme + String(text[text.utf8.index(after: at)...])
    }
}
