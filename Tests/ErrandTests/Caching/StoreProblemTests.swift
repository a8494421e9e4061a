import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// A problem of the persistent store is an event, and requests are cached in memory meanwhile.
@Suite(.limited)
struct StoreProblemTests {
    private let fixture = AgentFixture()

    private func request(_ store: any ResponseStore) -> InlineRequest {
        fixture.transport.on(.get, "/x", .json("{}"))
        let agent = RequestAgent(
            configuration: fixture.agent.configuration, transport: fixture.transport, store: store)
        return InlineRequest("x", agent: agent) { $0.cacheSeconds = 86_400 }
    }

    private var problems: [RequestError] {
        fixture.events.events.compactMap { event in
            if case .storeProblem(let error) = event.kind { error } else { nil }
        }
    }

    @Test func storeThatCannotBeOpenedCachesInMemoryAndEmitsOneEvent() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-\(UUID().uuidString).sqlite", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let request = request(SQLiteResponseStore(url: folder))
        try await request.send()
        await request.agent.flushCache()
        try await request.send()
        #expect(request.response?.source == .cacheFresh)
        #expect(problems.map(\.code) == [.storeFailed])
        #expect(problems.first?.message.contains("memory only") == true)
    }

    @Test func problemOfAWriteIsEmittedBeforeItsResult() async throws {
        let request = request(ReportingStore())
        try await request.send()
        await request.agent.flushCache()
        #expect(problems.map(\.message) == ["problem"])
        let names = fixture.events.names.filter { $0 != "ended" }
        #expect(names.suffix(2) == ["storeProblem", "cacheStored"])
    }

    /// A store that has a problem when it is written.
    private final class ReportingStore: ResponseStore {
        private let memory = MemoryResponseStore()

        func takeProblems() -> [RequestError] {
            memory.totalBytes > 0 ? [RequestError(.storeFailed, stage: .cache, "problem")] : []
        }

        func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? { nil }

        func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
            try await memory.store(entry, for: key)
        }

        func remove(_ key: CacheKey) async throws(RequestError) {}

        func removeAll(
            where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
        ) async throws(RequestError) {}

        func entries() async throws(RequestError) -> [StoredEntryInfo] { [] }
    }
}
