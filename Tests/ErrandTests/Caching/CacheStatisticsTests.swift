import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// The statistics count each reason for which a stored response is not used.
@Suite(.limited) struct CacheStatisticsTests {
    /// A store in memory whose reads can fail.
    private final class FailingStore: ResponseStore {
        private let memory = MemoryResponseStore()
        private let failure = Mutex<RequestError?>(nil)

        func fail(with error: RequestError?) { failure.withLock { $0 = error } }

        func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? {
            if let error = failure.withLock({ $0 }) { throw error }
            return try await memory.entry(for: key)
        }

        func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
            try await memory.store(entry, for: key)
        }

        func remove(_ key: CacheKey) async throws(RequestError) { try await memory.remove(key) }

        func removeAll(
            where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
        ) async throws(RequestError) {
            try await memory.removeAll(where: predicate)
        }

        func entries() async throws(RequestError) -> [StoredEntryInfo] {
            try await memory.entries()
        }
    }

    private static let reasons = CacheMissReason.allCases.filter { $0 != .invalidCacheTime }

    @Test(arguments: reasons)
    func eachMissIsCountedWithItsReason(reason: CacheMissReason) async throws {
        let fixture = AgentFixture { $0.appVersion = "1.0" }
        fixture.transport.respond { _ in
            ScriptedResponse(
                headers: [.contentType: "application/json"], body: Data(#"{"n":1}"#.utf8))
        }
        let store = FailingStore()
        let agent = RequestAgent(
            configuration: fixture.agent.configuration, transport: fixture.transport,
            store: store, clock: fixture.clock)
        func request(rejects: Bool = false) -> InlineRequest {
            InlineRequest("item", agent: agent) {
                $0.cacheSeconds = 60
                $0.cache.identity = "user"
                $0.cache.writesAsynchronously = false
                if rejects { $0.validator = ["missing": .number] }
            }
        }
        func change(_ body: (inout StoredResponse) -> Void) async throws {
            let key = try #require(try await store.entries().first?.key)
            var entry = try #require(try await store.entry(for: key))
            body(&entry)
            try await store.store(entry, for: key)
        }
        if reason != .noEntry {
            _ = try await request().send()
            #expect(try await agent.cacheStatistics().misses == [.noEntry: 1])
        }
        switch reason {
        case .noEntry, .rejectedByValidator, .invalidCacheTime: break
        case .expired: fixture.clock.advance(by: .seconds(61))
        case .versionMismatch: try await change { $0.cacheVersion += 1 }
        case .identityMismatch: try await change { $0.identity = "another" }
        case .appVersionMismatch: try await change { $0.appVersion = "0.9" }
        case .invalidData:
            store.fail(with: RequestError.cacheMiss(.invalidData, "The entry is damaged."))
        case .storeFailed:
            store.fail(with: RequestError(.storeFailed, stage: .cache, "The disk failed."))
        }
        // The network's response is rejected as well.
        _ = try? await request(rejects: reason == .rejectedByValidator).send()
        var expected = [CacheMissReason.noEntry: 1]
        expected[reason] = 1
        #expect(try await agent.cacheStatistics().misses == expected)
        #expect(try await agent.cacheStatistics().hitRate == 0)
    }
}
