import ErrandSystem

/// A response of the inspector's server.
struct InspectorResponse: Sendable {
    private var status: Int
    private var fields: [(name: String, value: String)]
    private var body: Data

    private static let common = [
        (name: "X-Content-Type-Options", value: "nosniff"),
        (name: "Cache-Control", value: "no-store"),
        (name: "Referrer-Policy", value: "no-referrer"),
        (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
        (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
        (name: "X-Frame-Options", value: "DENY"),
    ]

    init(_ reply: InspectorAPI.Reply) {
        status = reply.status
        fields = Self.common + [(name: "Content-Type", value: reply.contentType)]
        if let name = reply.fileName {
            fields.append(
                (name: "Content-Disposition", value: "attachment; filename=\"\(name)\""))
        }
        // RFC 9110 §11.6.1 and §15.5.6 demand a field.
        if status == 401 { fields.append((name: "WWW-Authenticate", value: "Bearer")) }
        if status == 405 { fields.append((name: "Allow", value: "GET")) }
        body = reply.body
    }

    /// The document of the page.
    static let page: InspectorResponse = {
        var page = InspectorResponse(
            InspectorAPI.Reply(
                contentType: "text/html; charset=utf-8", body: Data(InspectorPage.document.utf8)))
        page.fields.append(
            (name: "Content-Security-Policy", value: InspectorPage.contentSecurityPolicy))
        return page
    }()

    /// The response to a request with this method, as it is sent.
    ///
    /// - Parameter isLast: Whether the server closes the connection after it.
    func bytes(isLast: Bool, to method: String) -> [UInt8] {
        var head = "HTTP/1.1 \(status) \r\n"
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        head += "Content-Length: \(body.count)\r\n"
        if isLast { head += "Connection: close\r\n" }
        return Array((head + "\r\n").utf8) + (method == "HEAD" ? [] : Array(body))
    }
}
