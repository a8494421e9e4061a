import ErrandCore
import ErrandRecording
import ErrandSystem
import ErrandTransport

/// Bodies as logs show them: text without secrets up to a limit, of other bodies the type and the number of bytes.
struct BodyText: Sendable {
    /// The rules that replace secrets.
    var redaction: RedactionRules
    /// The largest part of a text that is shown, in bytes.
    var limit: Int

    /// A larger body is not shown: its secrets are found only in the complete body.
    static let maximumBytes = 1 << 20

    /// The body of a request; `nil` without one.
    func text(of body: HTTPBody?, _ contentType: String?) -> String? {
        guard let body else { return nil }
        let type = contentType ?? body.contentType
        let encoded = (try? body.encoded(by: .requestDefault)) ?? body
        switch encoded.storage {
        case .data(let data): return text(of: data, type)
        case .file: return Self.summary("file, \(name(type))", body.lengthToSend)
        case .stream(let length, _): return Self.summary("stream, \(name(type))", length)
        case .multipart(let form):
            return Self.summary("form of \(form.parts.count) parts", body.lengthToSend)
        case .value, .invalid: return Self.summary(name(type), nil)
        }
    }

    /// The body of a response; `nil` without one.
    func text(of response: Response, received: Int64) -> String? {
        let type = response.headers[.contentType]
        if response.isStreamed { return Self.summary("stream, \(name(type))", received) }
        switch response.body {
        case .data(let data): return data.isEmpty ? nil : text(of: data, type)
        case .file: return Self.summary("file, \(name(type))", received)
        }
    }

    private func text(of data: Data, _ type: String?) -> String {
        let summary = Self.summary(name(type), Int64(data.count))
        guard data.count <= Self.maximumBytes else { return "\(summary), too large to be shown" }
        guard let safe = redaction.redacted(body: data, contentType: type) else {
            return "\(summary), withheld: secrets in it cannot be recognized"
        }
        guard let text = String(validating: safe, as: UTF8.self), Self.isText(text) else {
            return summary
        }
        guard safe.count > limit else { return text }
        let shown = Self.prefix(of: text, limit)
        return "\(shown)… (\(safe.count - shown.utf8.count) of \(safe.count) bytes left out)"
    }

    /// The characters within the first bytes.
    private static func prefix(of text: String, _ count: Int) -> Substring {
        var end = text.utf8.index(text.startIndex, offsetBy: max(0, count))
        while end > text.startIndex, String.Index(end, within: text) == nil {
            end = text.utf8.index(before: end)
        }
        return text[..<end]
    }

    /// Whether there is no control character except white space.
    private static func isText(_ text: String) -> Bool {
        !text.utf8.contains { $0 < 0x20 && !(0x09...0x0D).contains($0) && $0 != 0x1E || $0 == 0x7F }
    }

    private func name(_ type: String?) -> String { type ?? "no content type" }

    private static func summary(_ name: String, _ count: Int64?) -> String {
        guard let count else { return name }
        return "\(name), \(count) bytes"
    }
}
