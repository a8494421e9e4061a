import Errand

nonisolated private final class Word: BaseRequest, TypedRequest {
    override var url: EndpointURL { "word" }
    var decoder: ResponseDecoder<String> { .string }
}

@MainActor final class WordScreen {
    private let stored = Word()

    func load() async throws -> String {
        async let word = stored.value()
        return try await word
    }
}

// error in Swift 6: non-Sendable type 'Word' of property 'stored' cannot exit main actor-isolated context
// error in main actor: non-Sendable type 'Word' of property 'stored' cannot exit main actor-isolated context
