import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

@Suite(.limited) struct ClearCacheTests {
    private let transport = ScriptedTransport()
    private let store = FailingStore()
    private let events = EventRecorder()
    private let agent: RequestAgent

    init() {
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.eventListeners = [events]
        agent = RequestAgent(configuration: configuration, transport: transport, store: store)
        transport.on(.get, "/x", .json("1"), .json("2"), .json("3"))
    }

    private func start(_ change: (inout RequestDescription) -> Void = { _ in }) -> RequestTask {
        var description = RequestDescription(endpoint: "Test", url: "x")
        description.cacheSeconds = 60
        change(&description)
        return agent.start(description)
    }

    private func entryCount() async throws -> Int {
        await agent.flushCache()
        return try await store.inner.entries().count
    }

    @Test func entriesAreRemoved() async throws {
        _ = try await start().response()
        #expect(try await entryCount() == 1)
        try await agent.clearCache()
        #expect(try await entryCount() == 0)
        #expect(try await start().response().source == .network)
        #expect(try await start().response().source == .cacheFresh)
    }

    @Test func pendingWriteDoesNotComeBack() async throws {
        store.holdWrites()
        _ = try await start().response()
        async let cleared: Void = agent.clearCache()
        // The removal is queued after the write that is under way.
        while try await start({ $0.cache.policy = .cacheOnly }).hasEntry() { await Task.yield() }
        store.releaseWrites()
        try await cleared
        #expect(try await entryCount() == 0)
    }

    @Test func responseOfAnEarlierRequestIsNotStored() async throws {
        for isSynchronous in [false, true] {
            let gate = Gate()
            transport.on(.get, "/x", ScriptedResponse.json("1").held(by: gate))
            let task = start { $0.cache.writesAsynchronously = !isSynchronous }
            _ = try await transport.nextRequest()
            try await agent.clearCache()
            gate.open()
            #expect(try await task.response().source == .network)
            #expect(try await entryCount() == 0)
        }
        try await events.until { events in
            events.count { if case .cacheWriteFailed = $0.kind { true } else { false } } == 2
        }
        // A later request is stored.
        _ = try await start().response()
        #expect(try await entryCount() == 1)
    }

    /// A request that waits in a hook has started, although it has not been sent.
    @Test func requestThatWaitsBeforeItIsSentIsAnEarlierRequest() async throws {
        let gate = Gate()
        agent.reconfigure { configuration in
            configuration.headerProvider = {
                try await gate.passed()
                return [:]
            }
        }
        let task = start()
        try await gate.reached()
        try await agent.clearCache()
        gate.open()
        _ = try await task.response()
        #expect(try await entryCount() == 0)
    }

    @Test func storeThatCannotRemoveFails() async throws {
        store.fail(removals: RequestError(.storeFailed, stage: .cache, "Locked."))
        let error = await #expect(throws: RequestError.self) { try await agent.clearCache() }
        #expect(error?.code == .storeFailed)
    }

    @Test func agentWithoutStoreHasNothingToClear() async throws {
        try await RequestAgent(transport: transport, store: nil).clearCache()
    }
}

extension RequestTask {
    /// Whether a request for the cache only finds an entry.
    fileprivate func hasEntry() async throws -> Bool {
        do {
            _ = try await response()
            return true
        } catch {
            guard error.code == .cacheMiss else { throw error }
            return false
        }
    }
}
