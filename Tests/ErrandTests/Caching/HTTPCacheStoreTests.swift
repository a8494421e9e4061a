import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// `CachePolicy.http` with file stores, stores shared by several agents, and stores with a size limit.
@Suite(.limited) struct HTTPCacheStoreTests {
    private let clock = ManualClock()
    private let server = PageServer()
    private let temporary: TemporaryFolder
    private var folder: URL { temporary.url }

    init() throws { temporary = try TemporaryFolder("http-cache") }

    private func agent(_ store: any ResponseStore) -> RequestAgent {
        let transport = ScriptedTransport()
        transport.respond { [server] in server.respond(to: $0) }
        return RequestAgent(
            configuration: Configuration(baseURL: "https://api.example.com/"),
            transport: transport, store: store, clock: clock)
    }

    private func fileStore() -> SQLiteResponseStore {
        SQLiteResponseStore(url: folder.appendingPathComponent("responses.sqlite"))
    }

    private func get(
        _ agent: RequestAgent, _ headers: HTTPFields = [:]
    ) async throws -> Response {
        let page = HTTPCacheTests.PageRequest()
        page.requestHeaders = headers
        return try await page.send(on: agent)
    }

    /// Sends a PUT by an endpoint that does not use the cache.
    private func put(_ agent: RequestAgent) async throws {
        try await InlineRequest("page") { $0.method = .put }.send(on: agent)
        await agent.flushCache()
    }

    @Test func entriesAndVariantsSurviveARestart() async throws {
        server.headers = [.cacheControl: "max-age=60", .vary: "Accept-Language", .eTag: "\"1\""]
        var first: RequestAgent? = agent(fileStore())
        if let first {
            _ = try await get(first, [.acceptLanguage: "de"])
            _ = try await get(first, [.acceptLanguage: "fr"])
            await first.shutdown()
        }
        first = nil
        let second = agent(fileStore())
        clock.advance(by: .seconds(30))
        let german = try await get(second, [.acceptLanguage: "de"])
        #expect(german.source == .cacheFresh && german.headers[.age] == "30")
        clock.advance(by: .seconds(31))
        #expect(try await get(second, [.acceptLanguage: "fr"]).source == .revalidated)
        #expect(server.count == 3)
    }

    @Test func unsafeRequestAfterARestartInvalidatesEntries() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        let first = agent(fileStore())
        _ = try await get(first)
        await first.shutdown()
        let second = agent(fileStore())
        try await put(second)
        #expect(try await get(second).source == .network)
    }

    enum StoreKind: CaseIterable { case memory, file }

    @Test(arguments: StoreKind.allCases)
    func agentsSharingAStoreShareEntriesAndInvalidation(kind: StoreKind) async throws {
        server.headers = [.cacheControl: "max-age=60", .vary: "Accept"]
        let store: any ResponseStore = kind == .memory ? MemoryResponseStore() : fileStore()
        let (one, other) = (agent(store), agent(store))
        _ = try await get(one, [.accept: "a/a"])
        #expect(try await get(other, [.accept: "a/a"]).source == .cacheFresh)
        _ = try await get(other, [.accept: "b/b"])
        #expect(try await get(one, [.accept: "b/b"]).source == .cacheFresh)
        // A PUT invalidates the entries for all agents, even by an agent that has never read them.
        let third = agent(store)
        try await put(third)
        #expect(try await get(one, [.accept: "a/a"]).source == .network)
        #expect(try await get(other, [.accept: "b/b"]).source == .network)
    }

    @Test func responseLargerThanTheStoreIsDeliveredAndNotStored() async throws {
        server.headers = [.cacheControl: "max-age=60", .server: String(repeating: "x", count: 500)]
        let store = MemoryResponseStore(maximumBytes: 400)
        let small = agent(store)
        #expect(try await get(small).source == .network)
        #expect(try await get(small).source == .network)
        #expect(store.totalBytes <= 400)
        server.headers[.server] = nil
        #expect(try await get(small).source == .network)
        #expect(try await get(small).source == .cacheFresh)
    }

    @Test func manyVariantsStayWithinTheStoreLimit() async throws {
        server.headers = [.cacheControl: "max-age=60", .vary: "Accept"]
        let store = MemoryResponseStore(maximumBytes: 10_000)
        let small = agent(store)
        for number in 0..<300 { _ = try await get(small, [.accept: "a/\(number)"]) }
        #expect(store.totalBytes <= 10_000)
        #expect(try await get(small, [.accept: "a/299"]).source == .cacheFresh)
        #expect(try await get(small, [.accept: "a/0"]).source == .network)
    }
}
