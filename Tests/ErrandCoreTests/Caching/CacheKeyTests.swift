import ErrandCore
import Foundation
import Testing

/// Keys are compared by their bytes.
@Suite(.timeLimit(.minutes(1))) struct CacheKeyTests {
    private let composed = "GET\nhttp://test/\n\n\n\n=Ren\u{E9}"
    private let decomposed = "GET\nhttp://test/\n\n\n\n=Rene\u{301}"

    private func entry(_ text: String, identity: String) -> StoredResponse {
        StoredResponse(
            status: 200, headers: [:], body: Data(text.utf8), url: "http://test/", storedAt: Date(),
            identity: identity)
    }

    @Test func keysWithOtherBytesDiffer() {
        #expect(composed == decomposed)
        #expect(CacheKey(canonical: composed) != CacheKey(canonical: decomposed))
        #expect(CacheKey(canonical: composed) == CacheKey(canonical: composed + ""))
        #expect(Set([composed, decomposed].map { CacheKey(canonical: $0) }).count == 2)
    }

    @Test func usersWithNamesThatLookAlikeHaveSeparateEntries() async throws {
        let store = MemoryResponseStore()
        let keys = [composed, decomposed].map { CacheKey(canonical: $0) }
        try await store.store(entry("one", identity: "Ren\u{E9}"), for: keys[0])
        try await store.store(entry("two", identity: "Rene\u{301}"), for: keys[1])
        #expect(try await store.entry(for: keys[0])?.body == Data("one".utf8))
        #expect(try await store.entry(for: keys[1])?.body == Data("two".utf8))
        #expect(try await store.removeAll(matching: .init(identity: .user("Rene\u{301}"))) == 1)
        #expect(try await store.entry(for: keys[0])?.body == Data("one".utf8))
        #expect(try await store.removeAll(matching: .init(keys: [keys[1]])) == 0)
    }
}
