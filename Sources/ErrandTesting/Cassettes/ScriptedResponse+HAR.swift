import ErrandCore
import ErrandRecording
import ErrandSystem
import ErrandTransport

extension ScriptedResponse {
    /// The response of a recording.
    ///
    /// - Parameter placeholders: The values in place of `{{name}}`, by name.
    init(_ entry: HAR.Entry, _ placeholders: [String: String]) {
        let recorded = entry.response
        var steps: [Step] = []
        for interim in entry.interimResponses ?? [] where (100..<200).contains(interim.status) {
            let status = HTTPResponse.Status(
                code: interim.status, reasonPhrase: interim.statusText)
            let fields = HTTPFields(interim.headers, placeholders)
            steps.append(.informational(ResponseHead(status: status, headers: fields)))
        }
        if recorded.status != 0 {
            let fields = HTTPFields(recorded.headers, placeholders)
            guard (100..<1000).contains(recorded.status) else {
                let problem =
                    "has the status \(recorded.status), which is not a number of three digits."
                self.init(steps: [.fail(Self.unreadable(entry, problem))])
                return
            }
            guard let body = Self.body(recorded.content, placeholders) else {
                let problem = "has no body" + (recorded.content.comment.map { ": \($0)" } ?? ".")
                self.init(steps: [.fail(Self.unreadable(entry, problem))])
                return
            }
            let isEncoded = fields.contains(.contentEncoding)
            let status = HTTPResponse.Status(
                code: recorded.status, reasonPhrase: recorded.statusText)
            var head = ResponseHead(
                status: status, headers: fields,
                httpVersion: HTTPVersion(recorded: recorded.httpVersion),
                contentLength: isEncoded ? nil : Int64(body.count))
            // A recording contains decoded bytes.
            head.isDecoded = isEncoded && !body.isEmpty
            steps.append(.head(head))
            if !body.isEmpty { steps.append(.bytes(body)) }
        }
        if recorded.status == 0 || entry.error != nil { steps.append(.fail(Self.error(entry))) }
        self.init(steps: steps)
        trailers = HTTPFields(recorded.trailers ?? [], placeholders)
        timings.bytesReceived = max(0, recorded.bodySize)
    }

    private static func body(
        _ content: HAR.Content, _ placeholders: [String: String]
    ) -> Data? {
        guard let text = content.text else { return content.size > 0 ? nil : Data() }
        if content.encoding == "base64" { return Data(base64Encoded: text) }
        return Data(placeholders.inserted(in: text).utf8)
    }

    private static func unreadable(_ entry: HAR.Entry, _ problem: String) -> RequestError {
        RequestError(
            .fileFailed, stage: .transport,
            "The recording of \(CassetteState.name(entry)) \(problem)"
                + " Record it again, or script the response with ScriptedTransport.")
    }

    /// The error that was recorded.
    private static func error(_ entry: HAR.Entry) -> RequestError {
        let code = RequestError.Code.all.first { $0.description == entry.error }
        return RequestError(
            code ?? .connectionLost, stage: .transport,
            entry.comment ?? entry.error ?? "The recording has no response.")
    }
}

extension HTTPFields {
    /// The fields of a recording, without those that HTTP/2 adds, and with repeated ones in one value separated.
    fileprivate init(_ recorded: [HAR.NameValue], _ placeholders: [String: String]) {
        self.init()
        for field in recorded {
            guard let name = HTTPField.Name(field.name) else { continue }
            for value in field.value.pieces(at: "\n", keepingEmpty: true) {
                append(HTTPField(name: name, value: placeholders.inserted(in: String(value))))
            }
        }
    }
}

extension HTTPVersion {
    /// The version in the spelling of a recording, such as `h2` or `http/2.0`.
    fileprivate init?(recorded: String) {
        switch recorded.lowercasedASCII() {
        case "http/1.0": self = .http10
        case "http/1.1": self = .http11
        case "h2", "http/2", "http/2.0": self = .http2
        case "h3", "http/3", "http/3.0": self = .http3
        default: return nil
        }
    }
}

extension [String: String] {
    /// The text with the values in place of `{{name}}`.
    fileprivate func inserted(in text: String) -> String {
        reduce(text) { text, placeholder in
            text.replacing(bytes: "{{\(placeholder.key)}}", with: placeholder.value)
                .replacing(bytes: "%7B%7B\(placeholder.key)%7D%7D", with: placeholder.value)
        }
    }
}
