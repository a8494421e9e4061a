#if Inspector
    import FlyingFox
    import Foundation
    import Synchronization

    /// Checks each HTTP request, and returns the page or the reply of a call.
    final class InspectorHandler: HTTPHandler, Sendable {
        private let token: String
        private let api: InspectorAPI
        private let port = Atomic<Int>(0)

        init(token: String, api: InspectorAPI) {
            self.token = token
            self.api = api
        }

        /// Sets the port; before, every request is refused.
        func setPort(_ port: UInt16) { self.port.store(Int(port), ordering: .releasing) }

        func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
            let isPage = request.path == "/"
            let check = AccessCheck(
                token: token, port: UInt16(clamping: port.load(ordering: .acquiring)))
            let fields = AccessCheck.Fields(
                host: request.headers[.host], origin: request.headers[HTTPHeader("Origin")],
                fetchSite: request.headers[HTTPHeader("Sec-Fetch-Site")],
                authorization: request.headers[.authorization],
                queryToken: request.query.first { $0.name == "token" }?.value)
            if let refusal = check.refusal(fields, isPage: isPage) { return Self.refused(refusal) }
            if isPage {
                guard request.method == .GET else {
                    return Self.response(.failure(405, "Use GET."))
                }
                return Self.page
            }
            guard request.path.hasPrefix("/api/") else {
                return Self.response(.failure(404, "There is nothing at this path."))
            }
            let body: Data
            do {
                body = try await Self.body(of: request)
            } catch {
                return Self.response(
                    .failure(
                        413, "The call is larger than \(InspectorServer.maximumBody) bytes."))
            }
            let query = Dictionary(request.query.map { ($0.name, $0.value) }) { first, _ in first }
            let reply = await api.reply(
                method: request.method.rawValue, path: String(request.path.dropFirst(5)),
                query: query, body: body)
            return Self.response(reply)
        }

        private static func body(of request: HTTPRequest) async throws -> Data {
            var body = Data()
            for try await chunk in request.bodySequence {
                body.append(contentsOf: chunk)
                guard body.count <= InspectorServer.maximumBody else { throw CancellationError() }
            }
            return body
        }

        private static func refused(_ refusal: AccessCheck.Refusal) -> HTTPResponse {
            switch refusal {
            case .token:
                response(
                    .failure(
                        401,
                        "The token is missing or wrong. Open the URL that the inspector printed."))
            case .host:
                response(
                    .failure(403, "Open the inspector under http://127.0.0.1 or http://localhost."))
            case .origin: response(.failure(403, "Only the inspector's own page may call it."))
            }
        }

        private static func response(_ reply: InspectorAPI.Reply) -> HTTPResponse {
            var headers = common
            headers[.contentType] = reply.contentType
            if let name = reply.fileName {
                headers[HTTPHeader("Content-Disposition")] = "attachment; filename=\"\(name)\""
            }
            return HTTPResponse(
                statusCode: HTTPStatusCode(reply.status, phrase: ""), headers: headers,
                body: reply.body)
        }

        private static let common: HTTPHeaders = [
            HTTPHeader("X-Content-Type-Options"): "nosniff",
            HTTPHeader("Cache-Control"): "no-store",
            HTTPHeader("Referrer-Policy"): "no-referrer",
            HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin",
            HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
            HTTPHeader("X-Frame-Options"): "DENY",
        ]

        private static let page: HTTPResponse = {
            var headers = common
            headers[.contentType] = "text/html; charset=utf-8"
            headers[HTTPHeader("Content-Security-Policy")] = InspectorPage.contentSecurityPolicy
            return HTTPResponse(
                statusCode: .ok, headers: headers, body: Data(InspectorPage.document.utf8))
        }()
    }
#endif
