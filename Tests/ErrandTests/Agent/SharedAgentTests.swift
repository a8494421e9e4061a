import Errand
import Foundation
import Testing

/// The agent `RequestAgent.shared` and its store.
@Suite(.timeLimit(.minutes(1))) struct SharedAgentTests {
    @Test func sharedAgentStoresInTheDefaultFile() throws {
        let store = try #require(RequestAgent.shared.store as? SQLiteResponseStore)
        let name = ProcessInfo.processInfo.processName
        #expect(store.path == SQLiteResponseStore.defaultURL(named: name).path)
        #expect(store.maximumBytes == 256 << 20 && store.maximumEntries == nil)
    }

    @Test func agentThatIsSetBeforeTheFirstUseIsShared() async {
        await #expect(processExitsWith: .success) {
            let agent = RequestAgent(
                configuration: Configuration(baseURL: "https://a.example"), store: nil)
            try RequestAgent.setShared(agent)
            guard RequestAgent.shared === agent, InlineRequest("x").agent === agent else {
                throw CancellationError()
            }
        }
    }

    @Test func usedAgentStaysTheSharedOne() throws {
        _ = RequestAgent.shared
        let error = #expect(throws: RequestError.self) {
            try RequestAgent.setShared(RequestAgent(store: nil))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(RequestAgent.shared.store is SQLiteResponseStore)
    }

    @Test func memoryIsEmptiedWithoutTheFile() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("errand-memory-\(UUID().uuidString)", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = SQLiteResponseStore(path: folder.appendingPathComponent("a.sqlite").path)
        let key = CacheKey(canonical: "a")
        let entry = StoredResponse(
            status: 200, headers: [:], body: Data("a".utf8), url: "http://test/",
            storedAt: Date(timeIntervalSince1970: 0))
        try await store.store(entry, for: key)
        (store as any ResponseStore).emptyMemory()
        #expect(try await store.entry(for: key) == entry)
        let memory = MemoryResponseStore()
        try await memory.store(entry, for: key)
        memory.emptyMemory()
        #expect(try await memory.entry(for: key) == entry)
    }
}
