extension TransportOptions.ProxyPolicy: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// Which proxy, without user and password.
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

    /// Nothing within, so that dumps hold no password.
    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// What is no URL may hold a password all the same: everything up to the last @ goes.
    private static func withoutUser(_ text: String) -> String {
        guard let at = text.lastIndex(of: "@") else { return text }
        let scheme = text.firstRange(of: "://").map { String(text[..<$0.upperBound]) } ?? ""
        return scheme + String(text[text.index(after: at)...])
    }
}
