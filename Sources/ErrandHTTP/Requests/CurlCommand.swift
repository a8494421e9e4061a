import Foundation
import HTTPTypes

extension TransportRequest {
    /// The request as a `curl` command line for a shell.
    ///
    /// curl's command line cannot send trailers; a comment at its end names them.
    ///
    /// - Parameter redactsSecrets: Whether placeholders replace credentials, cookies, secret query values and
    ///   the bytes of the body (default true). The names of query arguments decide which values are secret.
    public func curlCommand(redactsSecrets: Bool = true) -> String {
        var words = ["curl"]
        switch method {
        case .get where body == nil: break
        // With `--request HEAD`, curl would wait for a body.
        case .head: words.append("--head")
        default: words += ["--request", method.rawValue]
        }
        words += ["--url", redactsSecrets ? urlWithoutSecrets : url.string]
        for field in headers {
            let isSecret =
                redactsSecrets && options.secretNames.isSecret(header: field.name.canonicalName)
            let value = isSecret ? Self.placeholder : field.value
            // A header with an empty value ends with a semicolon; otherwise curl removes the header.
            words += [
                "--header",
                value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(value)",
            ]
        }
        if options.decodesContent { words.append("--compressed") }
        words += bodyWords(redactsSecrets: redactsSecrets)
        let command = words.map(Self.shellQuoted).joined(separator: " ")
        // Another text could end the comment. A request with such a name is refused.
        let names = body?.trailerNames.filter { HTTPField.Name($0) != nil } ?? []
        guard !names.isEmpty else { return command }
        return command + " # without the trailers: " + names.joined(separator: ", ")
    }

    private func bodyWords(redactsSecrets: Bool) -> [String] {
        let body = (try? body?.encoded(by: .requestDefault)) ?? body
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
        case .stream, .multipart, .value, .invalid:
            return ["--data-binary", "@-"]
        }
    }

    private var urlWithoutSecrets: String {
        guard let query = url.query else { return url.string }
        let redacted = query.split(separator: "&", omittingEmptySubsequences: false)
            .map { pair in
                guard let equals = pair.firstIndex(of: "="),
                    options.secretNames.isSecret(argument: String(pair[..<equals]))
                else { return String(pair) }
                return pair[...equals] + Self.placeholder
            }
            .joined(separator: "&")
        return url.text(userInfo: url.userInfo, query: redacted, fragment: url.fragment)
    }

    private static let placeholder = "<redacted>"
    private static let plainBytes = ByteSet.alphanumeric.union("-._/:=@%+,")

    /// The word, quoted if a shell would change it.
    private static func shellQuoted(_ word: String) -> String {
        if !word.isEmpty && word.utf8.allSatisfy(plainBytes.contains) { return word }
        let parts = word.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.joined(separator: "'\\''") + "'"
    }
}
