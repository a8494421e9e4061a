import ErrandSystem

/// Decides about requests, and returns the page or the reply of a call.
struct InspectorHandler: Sendable {
    let check: AccessCheck
    let api: InspectorAPI

    /// The response to a request that is refused, before its body is read.
    func refusal(of head: CallHead) -> InspectorResponse? {
        let refusal = check.refusal(head.access, isPage: head.path == "/")
        return refusal.map { InspectorResponse($0.reply) }
    }

    /// The response to a request that is allowed.
    func response(to head: CallHead, body: Data) async -> InspectorResponse {
        if head.path == "/" {
            guard head.method == "GET" else {
                return InspectorResponse(.failure(405, "Use GET."))
            }
            return .page
        }
        let prefix = "/api/"
        guard head.path.utf8.starts(with: prefix.utf8) else {
            return InspectorResponse(.failure(404, "There is nothing at this path."))
        }
        return InspectorResponse(
            await api.reply(
                method: head.method,
                path: String(decoding: head.path.utf8.dropFirst(prefix.utf8.count), as: UTF8.self),
                query: head.query, body: body))
    }
}

extension AccessCheck.Refusal {
    /// The reply to the client.
    var reply: InspectorAPI.Reply {
        switch self {
        case .token:
            .failure(
                401, "The token is missing or wrong. Open the URL that the inspector printed.")
        case .host:
            .failure(403, "Open the inspector under http://127.0.0.1 or http://localhost.")
        case .origin: .failure(403, "Only the inspector's own page may call it.")
        }
    }
}
