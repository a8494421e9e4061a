import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The events about storing a response.
@Suite(.limited) struct CacheOutcomeTests {
    private func outcomes(_ events: EventRecorder) -> [String] {
        events.events.map { "\($0.kind)" }.filter {
            $0.hasPrefix("cacheStored") || $0.hasPrefix("cacheNot") || $0.hasPrefix("cacheEvicted")
        }
    }

    private func send(
        _ fixture: AgentFixture, _ change: (inout RequestDescription) -> Void
    ) async throws {
        var description = RequestDescription(endpoint: "Get", url: "/x")
        description.cacheSeconds = 60
        change(&description)
        _ = try await fixture.agent.start(description).response()
        await fixture.agent.flushCache()
    }

    private func respond(_ fixture: AgentFixture, _ headers: HTTPFields = [:]) {
        fixture.transport.on(
            nil, nil, ScriptedResponse(status: .ok, headers: headers, body: Data("12345".utf8)))
    }

    @Test func storedResponse() async throws {
        let fixture = AgentFixture()
        respond(fixture)
        try await send(fixture) { _ in }
        #expect(outcomes(fixture.events).first?.hasPrefix("cacheStored") == true)
        #expect(outcomes(fixture.events).count == 1)
    }

    @Test func endpointThatNeverCachesHasNoOutcome() async throws {
        let fixture = AgentFixture()
        respond(fixture)
        try await send(fixture) { $0.cacheSeconds = -1 }
        #expect(!fixture.events.names.contains { $0.hasPrefix("cache") })
    }

    @Test func closureRefuses() async throws {
        let fixture = AgentFixture()
        respond(fixture)
        try await send(fixture) { $0.cache.transform = { _ in nil } }
        #expect(outcomes(fixture.events) == ["cacheNotStored(\(Self.name(.refusedByClosure)))"])
    }

    @Test func responseThatMustNotBeStored() async throws {
        let fixture = AgentFixture()
        respond(fixture, [.cacheControl: "no-store"])
        try await send(fixture) { $0.cache.policy = .http }
        #expect(outcomes(fixture.events) == ["cacheNotStored(\(Self.name(.notAllowed)))"])
    }

    @Test func requestWithoutKey() async throws {
        let fixture = AgentFixture()
        respond(fixture)
        try await send(fixture) {
            $0.method = .post
            $0.body = .stream(length: 1) { AsyncStream { nil } }
        }
        #expect(outcomes(fixture.events) == ["cacheNotStored(\(Self.name(.noKey)))"])
    }

    @Test func evictedEntriesAreCounted() async throws {
        let events = EventRecorder()
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configuration.eventListeners = [events]
        let transport = ScriptedTransport()
        transport.respond { _ in ScriptedResponse(status: .ok, body: Data("12345".utf8)) }
        let agent = RequestAgent(
            configuration: configuration, transport: transport,
            store: MemoryResponseStore(maximumEntries: 1))
        for path in ["/a", "/b", "/b?x"] {
            var description = RequestDescription(endpoint: "Get", url: EndpointURL(raw: path))
            description.cacheSeconds = 60
            _ = try await agent.start(description).response()
            await agent.flushCache()
        }
        let evictions = outcomes(events).filter { $0.hasPrefix("cacheEvicted") }
        #expect(evictions == ["cacheEvicted(entries: 1)", "cacheEvicted(entries: 1)"])
    }

    private static func name(_ refusal: RequestEvent.StoreRefusal) -> String {
        "\(RequestEvent.Kind.cacheNotStored(refusal))".dropFirst("cacheNotStored(".count).dropLast()
            .description
    }
}
