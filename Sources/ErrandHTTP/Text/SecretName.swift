/// Recognizes names of headers and arguments whose values are secret.
package enum SecretName {
    /// Whether a header's value is secret; the name must be in lower case.
    package static func isSecret(header name: String) -> Bool {
        secretHeaders.contains(name) || isSecret(argument: name)
    }

    /// Whether an argument's value is secret.
    package static func isSecret(argument name: String) -> Bool {
        let name = name.lowercased()
        return exact.contains(name) || fragments.contains { name.contains($0) }
    }

    private static let secretHeaders: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "set-cookie", "www-authenticate",
        "authentication-info",
    ]
    private static let exact: Set<String> = [
        "key", "code", "sig", "sign", "pin", "otp", "sid", "jwt",
    ]
    private static let fragments = [
        "token", "secret", "passw", "passphrase", "apikey", "api-key", "api_key", "auth", "session",
        "signature", "credential", "csrf",
    ]
}
