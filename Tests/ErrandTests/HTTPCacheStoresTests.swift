import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// `CachePolicy.http` over stores: files that outlive a process, stores of several agents, stores that are too small.
@Suite(.timeLimit(.minutes(2))) struct HTTPCacheStoresTests {
    private let clock = ManualClock()
    private let server = Pages()
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "errand-http-cache-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func agent(_ store: any ResponseStore) -> RequestAgent {
        let transport = ScriptedTransport()
        transport.answer { [server] in server.answer(to: $0) }
        return RequestAgent(
            configuration: Configuration(baseURL: "https://api.example.com/"),
            transport: transport, store: store, clock: clock)
    }

    private func file() -> SQLiteResponseStore {
        SQLiteResponseStore(url: folder.appendingPathComponent("answers.sqlite"))
    }

    private func get(
        _ agent: RequestAgent, _ asked: HTTPFields = [:]
    ) async throws -> Response {
        let page = HTTPCacheTests.Page()
        (page.agent, page.asked) = (agent, asked)
        return try await page.send()
    }

    /// A change by an endpoint that knows nothing of the cache.
    private func put(_ agent: RequestAgent) async throws {
        let endpoint = InlineRequest("page") { $0.method = .put }
        endpoint.agent = agent
        _ = try await endpoint.send()
        await agent.flushCache()
    }

    @Test func answersAndVariantsSurviveARestart() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        server.headers = [.cacheControl: "max-age=60", .vary: "Accept-Language", .eTag: "\"1\""]
        var first: RequestAgent? = agent(file())
        if let first {
            _ = try await get(first, [.acceptLanguage: "de"])
            _ = try await get(first, [.acceptLanguage: "fr"])
            await first.shutdown()
        }
        first = nil
        let second = agent(file())
        clock.advance(by: .seconds(30))
        let german = try await get(second, [.acceptLanguage: "de"])
        #expect(german.source == .cacheFresh && german.headers[.age] == "30")
        clock.advance(by: .seconds(31))
        #expect(try await get(second, [.acceptLanguage: "fr"]).source == .revalidated)
        #expect(server.count == 3)
    }

    @Test func aChangeAfterARestartMakesThemOutOfDate() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        server.headers = [.cacheControl: "max-age=60"]
        let first = agent(file())
        _ = try await get(first)
        await first.shutdown()
        let second = agent(file())
        try await put(second)
        #expect(try await get(second).source == .network)
    }

    enum Kind: CaseIterable { case memory, file }

    @Test(arguments: Kind.allCases)
    func agentsShareAStore(kind: Kind) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        server.headers = [.cacheControl: "max-age=60", .vary: "Accept"]
        let store: any ResponseStore = kind == .memory ? MemoryResponseStore() : file()
        let (one, other) = (agent(store), agent(store))
        _ = try await get(one, [.accept: "a/a"])
        #expect(try await get(other, [.accept: "a/a"]).source == .cacheFresh)
        _ = try await get(other, [.accept: "b/b"])
        #expect(try await get(one, [.accept: "b/b"]).source == .cacheFresh)
        // A change by either is one for both, also where the agent that makes it never read by headers.
        let third = agent(store)
        try await put(third)
        #expect(try await get(one, [.accept: "a/a"]).source == .network)
        #expect(try await get(other, [.accept: "b/b"]).source == .network)
    }

    @Test func whatIsLargerThanTheStoreIsDeliveredAndNotKept() async throws {
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

    @Test func variantsWithoutEndStayWithinTheStore() async throws {
        server.headers = [.cacheControl: "max-age=60", .vary: "Accept"]
        let store = MemoryResponseStore(maximumBytes: 10_000)
        let small = agent(store)
        for number in 0..<300 { _ = try await get(small, [.accept: "a/\(number)"]) }
        #expect(store.totalBytes <= 10_000)
        #expect(try await get(small, [.accept: "a/299"]).source == .cacheFresh)
        #expect(try await get(small, [.accept: "a/0"]).source == .network)
    }
}
