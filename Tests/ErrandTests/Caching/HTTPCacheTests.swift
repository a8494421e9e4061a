import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// RFC 9111 behavior of `CachePolicy.http`, from endpoint to server.
@Suite(.limited) struct HTTPCacheTests {
    final class PageRequest: BaseRequest {
        var requestHeaders: HTTPFields = [:]
        var verb = HTTPMethod.get
        var shape: JSONShape?
        var acceptable = 200..<300
        var duplicates = RequestDescription.SendingOptions.Duplicates.allow
        var content: HTTPBody?
        override var url: EndpointURL { "page" }
        override var method: HTTPMethod { verb }
        override var headers: HTTPFields { requestHeaders }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.cache.policy = .http
            request.acceptance.format = .json
            request.acceptance.statuses = StatusCodes(acceptable)
            request.sending.duplicates = duplicates
            request.cache.writesAsynchronously = false
        }
        override var validator: JSONShape? { shape }
        override var body: HTTPBody? { content }
    }

    private static let count = HTTPField.Name("X-Count") ?? .date

    private let fixture = AgentFixture()
    private let server = PageServer()

    init() {
        fixture.transport.respond { [server] in server.respond(to: $0) }
    }

    private func get(
        _ headers: HTTPFields = [:], _ verb: HTTPMethod = .get, shape: JSONShape? = nil
    ) async throws -> Response {
        let page = fixture.with(PageRequest())
        (page.requestHeaders, page.verb, page.shape) = (headers, verb, shape)
        return try await page.send()
    }

    @Test func freshEntryIsServedWithItsAge() async throws {
        server.headers = [.cacheControl: "max-age=60", .age: "5"]
        let first = try await get()
        #expect(first.source == .network)
        fixture.clock.advance(by: .seconds(50))
        let second = try await get()
        #expect(second.source == .cacheFresh && second.headers[.age] == "55")
        #expect(second.data == first.data && second.attempts == 0)
        fixture.clock.advance(by: .seconds(5))
        #expect(try await get().source == .network)
        #expect(server.count == 2)
    }

    @Test func staleEntryIsRevalidated() async throws {
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"1\""]
        let first = try await get()
        fixture.clock.advance(by: .seconds(11))
        let second = try await get()
        #expect(second.source == .revalidated && second.status == 200 && second.data == first.data)
        #expect(second.attempts == 1 && second.headers[Self.count] == "2")
        #expect(fixture.transport.requests.last?.headers[.ifNoneMatch] == "\"1\"")
        fixture.clock.advance(by: .seconds(9))
        #expect(try await get().source == .cacheFresh)
        // The page changes: the validator no longer matches, and the new response is stored.
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"2\""]
        fixture.clock.advance(by: .seconds(2))
        #expect(try await get().source == .network)
        #expect(try await get().source == .cacheFresh)
        #expect(server.count == 3)
    }

    @Test func notModifiedWithAnotherETagIsFetchedAgain() async throws {
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"1\""]
        _ = try await get()
        fixture.clock.advance(by: .seconds(11))
        server.confirmsEveryValidator = true
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"2\""]
        let second = try await get()
        #expect(second.source == .network && second.status == 200)
        #expect(fixture.transport.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", nil])
    }

    @Test func variantsAreSelectedByVary() async throws {
        server.headers = [.cacheControl: "max-age=60", .vary: "Accept-Language"]
        let german = try await get([.acceptLanguage: "de"])
        let french = try await get([.acceptLanguage: "fr"])
        #expect(german.data != french.data)
        #expect(try await get([.acceptLanguage: "de"]).data == german.data)
        #expect(try await get([.acceptLanguage: "fr"]).data == french.data)
        #expect(try await get([.acceptLanguage: "de", .accept: "x/y"]).source == .cacheFresh)
        #expect(server.count == 2)
        // An unsafe request invalidates all variants.
        _ = try await get([:], .post)
        #expect(try await get([.acceptLanguage: "de"]).source == .network)
        #expect(try await get([.acceptLanguage: "fr"]).source == .network)
    }

    @Test func cookiesOfTheJarSelectVariants() async throws {
        server.headers = [.cacheControl: "max-age=60", .vary: "Cookie"]
        _ = try await get()
        #expect(try await get().source == .cacheFresh)
        let url = try HTTPURL(parsing: "https://api.example.com/page")
        fixture.agent.cookieJar.receive([.setCookie: "user=bob"], from: url)
        #expect(try await get().source == .network)
        #expect(try await get().source == .cacheFresh)
    }

    @Test func onlyIfCachedSendsNothing() async throws {
        server.headers = [.cacheControl: "max-age=10"]
        let error = await #expect(throws: RequestError.self) {
            try await get([.cacheControl: "only-if-cached"])
        }
        #expect(error?.code == .cacheMiss && server.count == 0)
        _ = try await get()
        #expect(try await get([.cacheControl: "only-if-cached"]).source == .cacheFresh)
        fixture.clock.advance(by: .seconds(20))
        let late = await #expect(throws: RequestError.self) {
            try await get([.cacheControl: "only-if-cached"])
        }
        #expect(late?.cacheMiss == .expired)
        #expect(try await get([.cacheControl: "only-if-cached, max-stale"]).source == .cacheStale)
        #expect(server.count == 1)
    }

    @Test func staleEntryIsServedWhileItIsRevalidated() async throws {
        server.headers = [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"1\""]
        let first = try await get()
        fixture.clock.advance(by: .seconds(11))
        let gate = Gate()
        server.gate = gate
        let stale = try await get()
        #expect(stale.source == .cacheStale && stale.data == first.data)
        #expect(try await get().source == .cacheStale)
        gate.open()
        // Both stale hits share one revalidation, which is a request of its own.
        for task in fixture.agent.activeTasks { await task.untilEnded() }
        await fixture.agent.flushCache()
        #expect(server.count == 2)
        #expect(try await get().source == .cacheFresh)
    }

    /// The policy comes from the configuration, and only after other requests.
    @Test func policyOfTheConfigurationRevalidatesInTheBackground() async throws {
        server.headers = [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"1\""]
        func get() async throws -> Response { try await fixture.with(Plain("page")).send() }
        #expect(try await get().source == .network)
        fixture.agent.reconfigure { $0.cachePolicy = .http }
        #expect(try await get().source == .network)
        await fixture.agent.flushCache()
        fixture.clock.advance(by: .seconds(11))
        #expect(try await get().source == .cacheStale)
        for task in fixture.agent.activeTasks { await task.untilEnded() }
        #expect(server.count == 3)
    }

    @Test func staleIfErrorServesTheEntryOnFailure() async throws {
        server.headers = [.cacheControl: "max-age=10, stale-if-error=60"]
        _ = try await get()
        fixture.clock.advance(by: .seconds(20))
        server.status = 503
        #expect(try await get().source == .cacheStale)
        fixture.clock.advance(by: .seconds(60))
        let error = await #expect(throws: RequestError.self) { try await get() }
        #expect(error?.response?.statusCode == 503)
    }

    @Test func successfulUnsafeRequestInvalidatesTheEntry() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        _ = try await get()
        server.status = 500
        _ = try? await get([:], .put)
        #expect(try await get().source == .cacheFresh, "an error response invalidates nothing")
        server.status = 200
        _ = try await get([:], .delete)
        #expect(try await get().source == .network)
    }

    @Test func requestWithItsOwnConditionsBypassesTheCache() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        _ = try await get()
        #expect(try await get([.ifNoneMatch: "\"x\""]).source == .network)
        #expect(try await get([.cacheControl: "no-store"]).source == .network)
        #expect(try await get().source == .cacheFresh)
        #expect(server.count == 3)
    }

    @Test func headIsServedFromAGetEntryWithoutBody() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        _ = try await get()
        let head = try await get([:], .head)
        #expect(head.source == .cacheFresh && head.data.isEmpty)
        #expect(server.count == 1)
    }

    @Test func redirectedResponseIsNotStoredUnderTheOriginalURL() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        server.redirectsOnce = true
        _ = try await get()
        // The redirect is stored, its target is not.
        #expect(try await get().source == .network)
        #expect(server.count == 3)
        fixture.clock.advance(by: .seconds(61))
        #expect(try await get().source == .network)
        #expect(try await get().source == .cacheFresh)
        #expect(server.count == 4)
    }

    @Test func entryThatFailsValidationIsFetchedUnconditionally() async throws {
        server.headers = [.cacheControl: "max-age=60", .eTag: "\"1\""]
        _ = try await get()
        _ = try? await get(shape: ["missing": .number])
        #expect(server.count == 2)
        #expect(fixture.transport.requests.last?.headers[.ifNoneMatch] == nil)
    }
}
