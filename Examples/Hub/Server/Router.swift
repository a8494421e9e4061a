import ErrandTesting
import Foundation

/// Finds the handler of a request by its method and by the pattern of its path.
struct Router: Sendable {
    /// A request, with the values of the placeholders of its path and of its query.
    struct Call: Sendable {
        var request: LoopbackRequest
        var path: [String: String]
        var query: [String: String]

        /// The body as a JSON object; empty if it is none.
        var json: [String: Any] {
            let value = try? JSONSerialization.jsonObject(with: request.body)
            return value as? [String: Any] ?? [:]
        }
    }

    typealias Handler = @Sendable (Call) -> LoopbackResponse

    private struct Route: Sendable {
        var method: String
        var segments: [Substring]
        var handler: Handler
    }

    private let base: String
    private var routes: [Route] = []

    /// - Parameter base: The URL before each path.
    init(base: String) { self.base = base }

    /// Adds a handler for a pattern such as `/users/{id}`.
    mutating func on(_ method: String, _ pattern: String, _ handler: @escaping Handler) {
        routes.append(
            Route(method: method, segments: pattern.split(separator: "/"), handler: handler))
    }

    func response(to request: LoopbackRequest) -> LoopbackResponse {
        guard request.path.hasPrefix(base) else {
            return .problem("There is no such server.", status: 404, request)
        }
        let segments = request.path.dropFirst(base.count).split(separator: "/")
        for route in routes where route.method == request.method {
            guard let path = Self.match(segments, route.segments) else { continue }
            return route.handler(Call(request: request, path: path, query: request.arguments))
        }
        return .problem("There is no such page.", status: 404, request)
    }

    private static func match(
        _ segments: [Substring], _ pattern: [Substring]
    ) -> [String: String]? {
        guard segments.count == pattern.count else { return nil }
        var values: [String: String] = [:]
        for (segment, part) in zip(segments, pattern) {
            if part.hasPrefix("{") {
                values[String(part.dropFirst().dropLast())] =
                    segment.removingPercentEncoding ?? ""
            } else if segment != part {
                return nil
            }
        }
        return values
    }
}

extension LoopbackRequest {
    /// The names and values of the query.
    var arguments: [String: String] {
        let items = URLComponents(string: target)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }
}

extension LoopbackResponse {
    /// A response with a JSON value.
    static func json(
        _ value: Any, status: Int = 200, headers: [LoopbackHeader] = []
    ) -> LoopbackResponse {
        let body = (try? JSONSerialization.data(withJSONObject: value)) ?? Data()
        let lines = [
            LoopbackHeader("Content-Type", "application/vnd.hub.v3+json"),
            LoopbackHeader("Content-Length", "\(body.count)"),
        ]
        return LoopbackResponse(
            steps: [.head(status: status, headers: headers + lines), .body(body)])
    }

    /// A response that reports an error.
    static func problem(
        _ message: String, status: Int, fields: [String: String] = [:],
        _ request: LoopbackRequest
    ) -> LoopbackResponse {
        var value: [String: Any] = ["message": message, "request_id": "r-\(request.number)"]
        if !fields.isEmpty { value["fields"] = fields }
        return json(value, status: status)
    }
}
