import Errand

// `nonisolated` is needed only where the main actor is a module's default: decoding happens off it. Elsewhere the word
// changes nothing, so that one text fits all three regimes.

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

nonisolated struct BusinessCheck: ResponseProcessor {
    func process(_ response: Response, attempt: Int) async throws -> Response {
        if let number = response.json["error"].int { throw BusinessError(number: number) }
        return response
    }
}
