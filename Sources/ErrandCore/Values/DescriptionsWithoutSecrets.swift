// What values look like in a log or a debugger's console: enough to know them by, no header, argument or body.

extension RequestDescription: CustomStringConvertible {
    /// Endpoint, method and address without query.
    public var description: String {
        let address = customRequest?.url ?? url
        let shown = (try? URI(parsing: address))?.redacted ?? "an unreadable address"
        return "\(endpoint): \(customRequest?.method ?? method) \(shown)"
    }
}

extension TransportRequest: CustomStringConvertible {
    /// Method and address without query; ``curlCommand(redactsSecrets:)`` says more.
    public var description: String { "\(method) \(url.redacted)" }
}

extension CustomRequest: CustomStringConvertible {
    /// Method and address without query.
    public var description: String {
        "\(method) \((try? URI(parsing: url))?.redacted ?? "an unreadable address")"
    }
}

extension Response: CustomStringConvertible {
    /// Status, source and address without query.
    public var description: String { "\(statusCode) (\(source.rawValue)) from \(url.redacted)" }
}

extension Configuration: CustomStringConvertible {
    /// The base and the environment in use.
    public var description: String {
        let base = baseURL.flatMap { try? URI(parsing: $0) }?.redacted ?? "no base"
        return "Configuration: \(base)\(environment.map { ", \($0)" } ?? "")"
    }
}

extension BasicAuthenticator: CustomStringConvertible {
    /// Its name: neither user nor password.
    public var description: String { "BasicAuthenticator" }
}

extension APIKeyAuthenticator: CustomStringConvertible {
    /// Its name: not the key.
    public var description: String { "APIKeyAuthenticator" }
}
