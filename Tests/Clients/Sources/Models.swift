import Errand

// `nonisolated` is needed only in the module whose default isolation is the main actor, because decoding runs off it.
// It has no effect in the other two language modes.

nonisolated struct User: Codable {
    var id: Int
    var nick: String
    var level: Int
}

nonisolated struct Page<Item: Codable & Sendable>: Codable {
    var items: [Item]
    var next: String?
}

nonisolated struct BusinessError: Error {
    var number: Int
}

enum ScreenKey: RequestMetadataKey { typealias Value = String }

nonisolated struct Stamp: Interceptor {
    func intercept(
        _ request: TransportRequest, next: TransportRequest.Next
    ) async throws -> Response {
        var stamped = request
        stamped.headers[.via] = next.description.endpoint
        return try await next(stamped)
    }
}

nonisolated struct BusinessCheck: Sendable {
    @Sendable func process(_ response: inout Response) throws {
        if let number = response.json["error"].int { throw BusinessError(number: number) }
    }
}
