import Foundation
import HTTPTypes

extension TransportRequest {
    /// The request as a command line for a shell, to try it by hand (row URL-10).
    ///
    /// - Parameter redactsSecrets: Whether credentials, cookies, values in the query whose names speak of
    ///   secrets, and the body's bytes are left out. Default true; the command then needs them filled in.
    public func curlCommand(redactsSecrets: Bool = true) -> String {
        var words = ["curl"]
        switch method {
        case .get where body == nil: break
        // With -X HEAD, curl would wait for a body.
        case .head: words.append("--head")
        default: words += ["--request", method.rawValue]
        }
        words += ["--url", redactsSecrets ? urlWithoutSecrets : url.string]
        for field in headers {
            let isSecret = redactsSecrets && SecretName.isSecret(header: field.name.canonicalName)
            let value = isSecret ? Self.placeholder : field.value
            // A header with an empty value needs a semicolon, else curl takes it out.
            words += [
                "--header",
                value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(value)",
            ]
        }
        if options.decodesContent { words.append("--compressed") }
        words += bodyWords(redactsSecrets: redactsSecrets)
        return words.map(Self.shellQuoted).joined(separator: " ")
    }

    private func bodyWords(redactsSecrets: Bool) -> [String] {
        switch body?.storage {
        case nil: return []
        case .file(let file): return ["--data-binary", "@\(file.path)"]
        case .data(let data):
            if redactsSecrets && !data.isEmpty {
                return ["--data-raw", "<body of \(data.count) bytes>"]
            }
            guard let text = String(validating: data, as: UTF8.self), !text.utf8.contains(0) else {
                return ["--data-binary", "@<file with the body's \(data.count) bytes>"]
            }
            return ["--data-raw", text]
        case .stream, .source:
            return ["--data-binary", "@-"]
        }
    }

    private var urlWithoutSecrets: String {
        guard let query = url.query else { return url.string }
        var copy = url
        copy.query = query.split(separator: "&", omittingEmptySubsequences: false)
            .map { pair in
                guard let equals = pair.firstIndex(of: "="),
                    SecretName.isSecret(argument: String(pair[..<equals]))
                else { return String(pair) }
                return pair[...equals] + Self.placeholder
            }
            .joined(separator: "&")
        return copy.string
    }

    private static let placeholder = "<redacted>"
    private static let plainBytes = ByteSet.alphanumeric.union("-._/:=@%+,")

    /// A word that a shell gives on as it is.
    private static func shellQuoted(_ word: String) -> String {
        if !word.isEmpty && word.utf8.allSatisfy(plainBytes.contains) { return word }
        let parts = word.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.joined(separator: "'\\''") + "'"
    }
}

/// Names behind which secrets are kept.
enum SecretName {
    /// Whether a header's value must not be shown; the name is in lower case.
    static func isSecret(header name: String) -> Bool {
        secretHeaders.contains(name) || isSecret(argument: name)
    }

    /// Whether an argument's value must not be shown.
    static func isSecret(argument name: String) -> Bool {
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
