package import ErrandHTTP
import ErrandJSON
package import ErrandSystem
package import ErrandTransport
import HTTPTypes

/// Writes messages as parts of an archive, without secrets.
package struct MessageWriter: Sendable {
    /// The rules.
    package var rules: RedactionRules
    /// The largest body that is written, in bytes.
    package var maximumBodyBytes: Int

    package init(rules: RedactionRules, maximumBodyBytes: Int) {
        self.rules = rules
        self.maximumBodyBytes = maximumBodyBytes
    }

    // MARK: - Entries

    /// The entry of a transfer.
    package func entry(_ transfer: RecordedTransfer) -> HAR.Entry {
        adding(transfer.request.options.secretNames).ownEntry(transfer)
    }

    /// The writer with the secret names of an agent in addition.
    package func adding(_ names: SecretNames) -> MessageWriter {
        var writer = self
        writer.rules = rules.adding(names)
        return writer
    }

    private func ownEntry(_ transfer: RecordedTransfer) -> HAR.Entry {
        var entry = HAR.Entry(
            started: transfer.started,
            request: request(
                transfer.request, streamedBody: transfer.streamedBody,
                httpVersion: transfer.head?.httpVersion),
            response: response(transfer),
            timings: HAR.Timings(transfer.end.timings))
        entry.serverIPAddress = transfer.head?.remoteAddress.map(Self.withoutPort)
        entry.connection = transfer.connection.map { "\($0.id)" }
        if !transfer.interim.isEmpty { entry.interimResponses = transfer.interim.map(interim) }
        entry.error = transfer.end.error?.code.description
        entry.comment = transfer.end.error?.message
        if let conversation = transfer.conversation {
            entry.resourceType = "websocket"
            entry.webSocketMessages = conversation.messages().map { webSocketMessage($0.message) }
            if conversation.omitted > 0 {
                let note = "The first \(conversation.omitted) messages were not kept."
                entry.comment = entry.comment.map { "\($0) \(note)" } ?? note
            }
        }
        return entry
    }

    /// A message of a WebSocket.
    package func webSocketMessage(
        _ message: RecordedConversation.Message
    ) -> HAR.WebSocketMessage {
        let content = message.content
        var written = HAR.WebSocketMessage(
            type: content.direction == .sent ? "send" : "receive",
            time: message.time.timeIntervalSince1970, opcode: content.isText ? 1 : 2, data: "")
        guard let payload = content.payload else {
            written.comment = "The payload of \(content.bytes) bytes was not kept."
            return written
        }
        guard payload.count <= maximumBodyBytes else {
            written.comment = tooLarge(Int64(payload.count))
            return written
        }
        guard let bytes = rules.redacted(body: payload, contentType: nil) else {
            written.comment = "The payload is withheld, because secrets in it cannot be recognized."
            return written
        }
        written.data =
            content.isText
            ? String(decoding: bytes, as: UTF8.self) : bytes.base64EncodedString()
        return written
    }

    /// The entry of a response that comes from the store.
    package func entry(
        _ request: TransportRequest, _ response: Response, started: Date
    ) -> HAR.Entry {
        let head = ResponseHead(
            status: response.status, headers: response.headers, httpVersion: response.httpVersion)
        let body: RecordedBody =
            switch response.body {
            case .data(let bytes): limited(bytes)
            case .file(let file):
                RecordedBody(count: Self.size(of: file), problem: "The body is a file.")
            }
        let cache = HAR.Cache(
            beforeRequest: HAR.Cache.State(
                lastAccess: HAR.text(of: started), eTag: response.headers[.eTag] ?? "",
                hitCount: 1, comment: response.source.rawValue))
        var entry = HAR.Entry(
            started: started,
            request: self.request(request, streamedBody: nil, httpVersion: response.httpVersion),
            response: adding(request.options.secretNames).response(head, body, AttemptTimings()),
            timings: HAR.Timings(),
            cache: cache)
        entry.response.bodySize = 0
        entry.fromCache = "disk"
        return entry
    }

    // MARK: - Requests

    /// A request with its body.
    package func request(
        _ request: TransportRequest, streamedBody: RecordedBody?, httpVersion: HTTPVersion?
    ) -> HAR.Request {
        adding(request.options.secretNames).ownRequest(request, streamedBody, httpVersion)
    }

    private func ownRequest(
        _ request: TransportRequest, _ streamedBody: RecordedBody?, _ httpVersion: HTTPVersion?
    ) -> HAR.Request {
        var url = request.url
        url.fragment = nil
        let text = rules.url(url.string)
        let query = (try? HTTPURL(parsing: text))?.query ?? ""
        let post = request.body.map { postData($0, streamedBody, request.headers[.contentType]) }
        return HAR.Request(
            method: request.method.rawValue, url: text,
            httpVersion: httpVersion?.rawValue ?? "HTTP/1.1",
            cookies: request.headers[values: .cookie].flatMap(cookies),
            headers: headers(request.headers),
            queryString: FormText.pairs(query).map { HAR.NameValue(name: $0, value: $1) },
            postData: post?.data, bodySize: post?.size ?? 0)
    }

    private func postData(
        _ body: HTTPBody, _ streamed: RecordedBody?, _ header: String?
    ) -> (data: HAR.PostData, size: Int64) {
        let type = header ?? body.contentType
        var data = HAR.PostData(mimeType: type ?? "")
        if let multipart = body.multipart {
            var rest = self
            data.params = multipart.parts.map { part in
                let (param, count) = rest.param(part)
                rest.maximumBodyBytes -= count
                return param
            }
            return (data, body.lengthToSend ?? -1)
        }
        let recorded = streamed ?? bytes(of: body)
        let text = text(recorded, type)
        (data.text, data.encoding, data.comment) = (text.text, text.encoding, text.problem)
        if type?.lowercasedASCII().starts(withBytes: "application/x-www-form-urlencoded") == true,
            data.encoding == nil, let form = data.text
        {
            data.params = FormText.pairs(form).map { HAR.Param(name: $0, value: $1) }
        }
        return (data, recorded.count)
    }

    /// A part of a form with its value, or the content of its file up to the limit.
    private func param(_ part: HTTPBody.Part) -> (param: HAR.Param, count: Int) {
        let name = part.name ?? ""
        var param = HAR.Param(
            name: name, fileName: part.filename, contentType: part.body.contentType)
        if part.filename != nil { param.size = part.body.lengthToSend }
        guard !rules.isSecret(name: name) else {
            param.value = RedactionRules.placeholder
            return (param, 0)
        }
        let bytes = bytes(of: part.body)
        let text = text(bytes, part.body.contentType)
        (param.value, param.encoding, param.comment) = (text.text, text.encoding, text.problem)
        return (param, bytes.bytes.count)
    }

    private func interim(_ head: ResponseHead) -> HAR.InterimResponse {
        HAR.InterimResponse(
            status: head.status.code, statusText: head.status.reasonPhrase,
            headers: headers(head.headers))
    }

    /// The bytes of a body that is not a stream.
    private func bytes(of body: HTTPBody) -> RecordedBody {
        let encoded = (try? body.encoded(by: .requestDefault)) ?? body
        switch encoded.storage {
        case .data(let data): return limited(data)
        case .file(let file):
            let size = Self.size(of: file)
            guard size <= Int64(maximumBodyBytes), let data = try? FileAccess.contents(of: file)
            else {
                return RecordedBody(count: size, problem: tooLarge(size))
            }
            return limited(data)
        case .stream, .multipart, .value, .invalid:
            return RecordedBody(count: 0, problem: "The body was not read.")
        }
    }

    private func limited(_ data: Data) -> RecordedBody {
        guard data.count > maximumBodyBytes else { return RecordedBody(data) }
        return RecordedBody(count: Int64(data.count), problem: tooLarge(Int64(data.count)))
    }

    private func tooLarge(_ count: Int64) -> String {
        "The body of \(count) bytes exceeds the limit of \(maximumBodyBytes) bytes."
    }

    private static func size(of file: URL) -> Int64 { FileAccess.size(of: file) ?? 0 }

    // MARK: - Responses

    private func response(_ transfer: RecordedTransfer) -> HAR.Response {
        guard let head = transfer.head else {
            return HAR.Response(
                status: 0, statusText: "", httpVersion: "", cookies: [], headers: [],
                content: HAR.Content(size: 0, mimeType: ""), redirectURL: "")
        }
        var response = response(head, transfer.body, transfer.end.timings)
        let trailers = headers(transfer.end.trailers)
        response.trailers = trailers.isEmpty ? nil : trailers
        return response
    }

    /// A response.
    package func response(
        _ head: ResponseHead, _ body: RecordedBody, _ timings: AttemptTimings = AttemptTimings()
    ) -> HAR.Response {
        let type = head.headers[.contentType]
        let text = text(body, type)
        var content = HAR.Content(size: body.count, mimeType: type ?? "")
        (content.text, content.encoding, content.comment) = (text.text, text.encoding, text.problem)
        if timings.bytesReceived > 0, timings.bytesReceived < body.count {
            content.compression = body.count - timings.bytesReceived
        }
        return HAR.Response(
            status: head.status.code, statusText: head.status.reasonPhrase,
            httpVersion: head.httpVersion?.rawValue ?? "",
            cookies: head.headers[values: .setCookie].compactMap(setCookie),
            headers: headers(head.headers), content: content,
            redirectURL: head.headers[.location].map(rules.url) ?? "",
            headersSize: timings.headBytesReceived > 0 ? timings.headBytesReceived : -1,
            bodySize: timings.bytesReceived)
    }

    // MARK: - Values

    private func text(
        _ body: RecordedBody, _ contentType: String?
    ) -> (text: String?, encoding: String?, problem: String?) {
        if let problem = body.problem { return (nil, nil, problem) }
        guard let bytes = rules.redacted(body: body.bytes, contentType: contentType) else {
            return (nil, nil, "The body is withheld, because secrets in it cannot be recognized.")
        }
        if let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) {
            return (text, nil, nil)
        }
        return (bytes.base64EncodedString(), "base64", nil)
    }

    private func headers(_ fields: HTTPFields) -> [HAR.NameValue] {
        fields.map { field in
            let name = field.name.rawName
            return HAR.NameValue(name: name, value: rules.header(name, field.value))
        }
    }

    private func cookies(_ field: String) -> [HAR.Cookie] {
        rules.header("Cookie", field).pieces(at: ";").map { pair in
            let parts = pair.dropping(leadingByte: " ").pieces(
                at: "=", maxSplits: 1, keepingEmpty: true)
            return HAR.Cookie(
                name: parts.count > 1 ? String(parts[0]) : "", value: String(parts.last ?? ""))
        }
    }

    private func setCookie(_ field: String) -> HAR.Cookie? {
        let text = rules.header("Set-Cookie", field)
        guard case .success(let cookie) = SetCookie.parse(text, now: Date()) else { return nil }
        return HAR.Cookie(
            name: cookie.name, value: cookie.value, path: cookie.path,
            domain: cookie.domain.isEmpty ? nil : cookie.domain,
            expires: cookie.expires.map(HAR.text), httpOnly: cookie.isHTTPOnly,
            secure: cookie.isSecure)
    }

    /// The address without its port; an IPv6 address without its brackets.
    private static func withoutPort(_ address: String) -> String {
        guard let colon = address.lastIndex(ofByte: ":") else { return address }
        let host = address[..<colon]
        return String(host.dropping(prefix: "[")?.dropping(suffix: "]") ?? host)
    }
}

extension HAR.Timings {
    /// The duration of each phase, from the times at which the phases ended.
    init(_ timings: AttemptTimings) {
        func milliseconds(_ duration: Duration) -> Double { duration / .milliseconds(1) }
        var last = timings.queued ?? .zero
        func phase(_ end: Duration?) -> Double? {
            guard let end else { return nil }
            defer { last = max(last, end) }
            return max(0, milliseconds(end - last))
        }
        blocked = milliseconds(last)
        // On a connection in use, a transport may report these times, which passed before the request.
        let isNew = timings.reusedConnection != true
        dns = isNew ? phase(timings.nameLookedUp) ?? -1 : -1
        let connecting = isNew ? phase(timings.connected) : nil
        let securing = isNew ? phase(timings.secured) : nil
        ssl = securing ?? -1
        connect = connecting.map { $0 + (securing ?? 0) } ?? -1
        wait = phase(timings.firstByte) ?? 0
        receive = phase(timings.finished) ?? 0
    }
}
