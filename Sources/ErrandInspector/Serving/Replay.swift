import ErrandCore
import ErrandHTTP
import ErrandRecording
import ErrandSystem
import ErrandTransport
import HTTPTypes

/// A request of the page to send a recorded request again, with changes.
///
/// The page has seen `REDACTED` in place of secrets. The original value is sent in place of an unchanged one, but only
/// to the recorded scheme, host and port.
struct Replay: Sendable, Decodable {
    /// A header.
    struct Header: Sendable, Decodable, Equatable {
        var name: String
        var value: String
    }

    /// The number of the recorded request.
    var id: Int
    var method: String
    var url: String
    var headers: [Header]
    /// The new body as text; `nil` keeps the recorded body.
    var body: String?

    /// Headers that the transport sets itself.
    private static let ownHeaders: Set<String> = ["host", "content-length", "transfer-encoding"]

    /// Whether the body of a recorded request is in memory, or a file.
    static func isPossible(_ transfer: InspectedTransfer) -> Bool {
        guard transfer.messages.streamedBody == nil else { return false }
        return switch transfer.messages.request.body?.storage {
        case nil, .data, .file, .value: true
        case .stream, .multipart, .invalid: false
        }
    }

    /// The complete request.
    ///
    /// - Throws: ``RequestError/Code/invalidURL``, ``RequestError/Code/invalidMethod``,
    ///   ``RequestError/Code/bodyNotReplayable``, or ``RequestError/Code/invalidCombination`` for a secret that the page
    ///   has not seen and another server would get.
    func request(
        of transfer: InspectedTransfer, redaction: RedactionRules
    ) throws(RequestError) -> CustomRequest {
        let original = transfer.messages.request
        guard HTTPField.Name(method) != nil else {
            throw RequestError(
                .invalidMethod, stage: .build, "\(method) is not a method. Use a word such as GET.")
        }
        guard body != nil || Self.isPossible(transfer) else {
            throw RequestError(
                .bodyNotReplayable, stage: .build,
                "The recorded body is not in memory. Enter a body, or repeat the request in the app."
            )
        }
        let url = try restoredURL(original.url, redaction)
        let isElsewhere =
            (try? HTTPURL(parsing: url))?.hasOrigin(of: original.url) != true
        var fields: [(name: String, value: String)] = []
        // Each recorded field is used once, so that fields with one name keep their values and order.
        var recorded = Array(original.headers)
        for header in headers where !Self.ownHeaders.contains(header.name.lowercasedASCII()) {
            let value = restored(header, from: &recorded, redaction)
            guard !isElsewhere || value == header.value else {
                throw Self.withheld("The header \(header.name)", original.url)
            }
            fields.append((header.name, value))
        }
        var content = original.body
        if let body { content = try newBody(body, original, redaction) }
        // A file, and a body that is no text, was perhaps not seen by the page.
        guard !isElsewhere || content == nil || isSeen(content, original, redaction) else {
            throw Self.withheld("The body", original.url)
        }
        return CustomRequest(
            url: EndpointURL(raw: url), method: HTTPMethod(method.uppercasedASCII()),
            headers: fields, body: content)
    }

    /// Whether the page has seen all of a body: the new one, or a recorded one without secrets.
    private func isSeen(
        _ content: HTTPBody?, _ original: TransportRequest, _ redaction: RedactionRules
    ) -> Bool {
        let recorded = (try? original.body?.encoded(by: .requestDefault)) ?? original.body
        guard case .data(let data)? = recorded?.storage else { return body != nil }
        if case .data(let new)? = content?.storage, new != data { return true }
        let type = original.headers[.contentType] ?? original.body?.contentType
        return redaction.redacted(body: data, contentType: type) == data
    }

    private static func withheld(_ what: String, _ url: HTTPURL) -> RequestError {
        RequestError(
            .invalidCombination, stage: .build,
            "\(what) has a secret that was recorded for \(url.origin), which the edited URL does not name. Remove it, "
                + "or enter the value.")
    }

    /// The value of a header; the original one if the page has returned its redacted form.
    private func restored(
        _ header: Header, from recorded: inout [HTTPField], _ redaction: RedactionRules
    ) -> String {
        guard header.value.contains(RedactionRules.placeholder) else { return header.value }
        let name = header.name.lowercasedASCII()
        let index = recorded.firstIndex { field in
            field.name.rawName.lowercasedASCII() == name
                && redaction.header(field.name.rawName, field.value) == header.value
        }
        return index.map { recorded.remove(at: $0).value } ?? header.value
    }

    /// The URL, with the original values of the arguments that are redacted.
    private func restoredURL(
        _ original: HTTPURL, _ redaction: RedactionRules
    ) throws(RequestError) -> String {
        if url == redaction.url(original.string) { return original.string }
        var edited: HTTPURL
        do {
            edited = try HTTPURL(parsing: url)
        } catch {
            throw RequestError(.invalidURL, stage: .build, "The URL \(url) is not valid: \(error)")
        }
        // Values for another server would be given away.
        guard edited.hasOrigin(of: original) else { return url }
        var values = (original.query ?? "").pieces(at: "&").map { pair in
            pair.pieces(at: "=", maxSplits: 1, keepingEmpty: true)
        }
        edited.query = edited.query.map { query in
            query.pieces(at: "&", keepingEmpty: true).map { pair in
                let parts = pair.pieces(at: "=", maxSplits: 1, keepingEmpty: true)
                guard parts.count == 2, parts[1] == RedactionRules.placeholder,
                    let index = values.firstIndex(where: { $0.first == parts[0] })
                else { return String(pair) }
                return values.remove(at: index).joined(separator: "=")
            }.joined(separator: "&")
        }
        return edited.string
    }

    private func newBody(
        _ text: String, _ original: TransportRequest, _ redaction: RedactionRules
    ) throws(RequestError) -> HTTPBody? {
        let type = headers.first { $0.name.lowercasedASCII() == "content-type" }?.value
        if case .data(let data) = original.body?.storage,
            redaction.redacted(body: data, contentType: type) == Data(text.utf8)
        {
            return original.body
        }
        guard !text.contains(bytes: RedactionRules.placeholder) else {
            throw RequestError(
                .invalidBody, stage: .build,
                "The changed body contains \(RedactionRules.placeholder). Enter the values, because a changed body "
                    + "is sent as it is.")
        }
        return text.isEmpty && original.body == nil ? nil : .string(text, contentType: type)
    }

    /// The description that sends a request as it is and accepts every response.
    static func description(
        _ request: CustomRequest, of recorded: InspectedRequest
    ) -> RequestDescription {
        var description = RequestDescription(endpoint: recorded.endpoint, url: "")
        description.customRequest = request
        description.tag = recorded.tag
        description.uses.remove(.sharedHeaders)
        description.uses.remove(.sharedArguments)
        description.uses.remove(.cookies)
        description.uses.remove(.authenticators)
        description.isPrepared = true
        description.acceptance.format = .any
        description.acceptance.statuses = .any
        description.acceptance.contentTypes = ["*/*"]
        description.retryPolicy = RetryPolicy.none
        description.ignoresCache = true
        description.metadata[ReplayKey.self] = recorded.id
        return description
    }
}
