import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// `CachePolicy.http` with unusual requests and responses: ranges, `HEAD`, accepted errors, clock changes, variants.
@Suite(.limited) struct HTTPCacheEdgeCaseTests {
    private static let xNote = HTTPField.Name("X-Note") ?? .date

    private let fixture = AgentFixture()
    private let server = PageServer()

    init() {
        fixture.transport.respond { [server] in server.respond(to: $0) }
    }

    private func page(
        _ headers: HTTPFields = [:], _ verb: HTTPMethod = .get
    ) -> HTTPCacheTests.PageRequest {
        let page = fixture.with(HTTPCacheTests.PageRequest())
        (page.requestHeaders, page.verb) = (headers, verb)
        return page
    }

    private func get(
        _ headers: HTTPFields = [:], _ verb: HTTPMethod = .get
    ) async throws -> Response {
        try await page(headers, verb).send()
    }

    /// A range of the page, not decoded as JSON.
    private func getRange(_ range: String) async throws -> Response {
        let endpoint = InlineRequest("page") {
            $0.headers = [.range: range]
            $0.cache.policy = .http
            $0.acceptance.format = .any
        }
        return try await endpoint.send(on: fixture.agent)
    }

    @Test func rangeOfAFreshEntryIsServedFromTheCache() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        let whole = try await get()
        let first = try await getRange("bytes=0-3")
        #expect(first.source == .cacheFresh && first.statusCode == 206)
        #expect(first.data == whole.data.prefix(4) && first.headers[.contentLength] == "4")
        #expect(first.headers[.contentRange] == "bytes 0-3/\(whole.data.count)")
        #expect(try await getRange("bytes=-2").data == whole.data.suffix(2))
        #expect(try await getRange("bytes=3-").data == whole.data.dropFirst(3))
        #expect(server.count == 1)
        // Sent to the server: several ranges, unsatisfiable ranges, other units, and ranges of stale entries.
        for range in ["bytes=0-0,2-2", "bytes=9000-", "lines=1-2"] {
            #expect(try await getRange(range).source == .network)
        }
        fixture.clock.advance(by: .seconds(61))
        #expect(try await getRange("bytes=0-3").source == .network)
        #expect(server.count == 5)
    }

    @Test func rangeOfAnEncodedEntryIsSentToTheServer() async throws {
        server.headers = [.cacheControl: "max-age=60", .contentEncoding: "identity"]
        _ = try await get()
        #expect(try await get().source == .cacheFresh)
        #expect(try await getRange("bytes=0-3").source == .network)
    }

    @Test func headResponseFreshensTheEntry() async throws {
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"1\"", Self.xNote: "old"]
        let first = try await get()
        fixture.clock.advance(by: .seconds(11))
        server.headers[Self.xNote] = "new"
        #expect(try await get([:], .head).source == .network)
        let second = try await get()
        #expect(second.source == .cacheFresh && second.data == first.data)
        #expect(second.headers[Self.xNote] == "new")
        #expect(server.count == 2)
    }

    @Test func headResponseWithAnotherETagInvalidatesTheEntry() async throws {
        server.headers = [.cacheControl: "max-age=10, stale-if-error=90", .eTag: "\"1\""]
        _ = try await get()
        fixture.clock.advance(by: .seconds(11))
        server.headers[.eTag] = "\"2\""
        _ = try await get([:], .head)
        server.status = 503
        await #expect(throws: RequestError.self) { try await get() }
    }

    @Test func headResponseWithoutValidatorDoesNotFreshenTheEntry() async throws {
        server.headers = [.cacheControl: "max-age=10"]
        _ = try await get()
        fixture.clock.advance(by: .seconds(11))
        _ = try await get([:], .head)
        #expect(try await get().source == .network)
    }

    @Test func staleIfErrorAppliesToAcceptedErrorResponses() async throws {
        server.headers = [.cacheControl: "max-age=10, stale-if-error=60"]
        _ = try await get()
        fixture.clock.advance(by: .seconds(20))
        server.status = 503
        server.headers = [:]
        let lenient = page()
        lenient.acceptable = 200..<600
        #expect(try await lenient.send().source == .cacheStale)
        fixture.clock.advance(by: .seconds(60))
        let late = page()
        late.acceptable = 200..<600
        let failed = try await late.send()
        #expect(failed.statusCode == 503 && failed.source == .network)
        // The error did not invalidate the entry: it is fresh again when the clock is set back.
        fixture.clock.setNow(fixture.clock.now - 75)
        #expect(try await get().source == .cacheFresh)
    }

    @Test func authorizedPutInvalidatesTheEntriesOfAllUsers() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        _ = try await get()
        _ = try await get([.authorization: "Bearer a"])
        #expect(server.count == 2)
        _ = try await get([.authorization: "Bearer a"], .put)
        #expect(try await get().source == .network)
        #expect(try await get([.authorization: "Bearer a"]).source == .network)
    }

    @Test func entryIsRevalidatedAfterTheClockIsSetBack() async throws {
        server.headers = [.cacheControl: "max-age=60", .eTag: "\"1\""]
        _ = try await get()
        fixture.clock.setNow(fixture.clock.now - 3600)
        #expect(try await get().source == .revalidated)
        #expect(try await get().source == .cacheFresh)
        // A `Date` in the future does not extend freshness.
        server.headers = [
            .cacheControl: "max-age=60", .date: "Fri, 31 Dec 9999 23:59:59 GMT", .age: "1",
        ]
        fixture.clock.advance(by: .seconds(60))
        #expect(try await get().source == .network)
        fixture.clock.advance(by: .seconds(59))
        #expect(try await get().source == .network)
    }

    /// Time in the queue and in earlier attempts does not count as age.
    @Test func ageIncludesOnlyTheLastAttempt() async throws {
        fixture.transport.respond { [clock = fixture.clock] _ in
            clock.advance(by: .seconds(40))
            var response = ScriptedResponse.json("{}")
            response.steps[0] = .head(
                ResponseHead(
                    status: .ok,
                    headers: [.contentType: "application/json", .cacheControl: "max-age=30"],
                    httpVersion: .http11, contentLength: 2))
            response.timings.finished = .seconds(3)
            return response
        }
        _ = try await get()
        fixture.clock.advance(by: .seconds(20))
        let second = try await get()
        #expect(second.source == .cacheFresh && second.headers[.age] == "23")
    }

    @Test(arguments: [true, false])
    func argumentsOfTheKeyApplyUnderEveryPolicy(isOwn: Bool) async throws {
        let fixture = AgentFixture { if !isOwn { $0.cachePolicy = .http } }
        fixture.transport.on(
            .get, "/a",
            ScriptedResponse(headers: [.cacheControl: "max-age=60"], body: Data("a".utf8)))
        for nonce in 0..<3 {
            let endpoint = InlineRequest("a") {
                $0.arguments = ["q": "x", "nonce": nonce]
                $0.cache.arguments = ["q": "x"]
                $0.cache.writesAsynchronously = false
                if isOwn { $0.cache.policy = .http }
            }
            let response = try await endpoint.send(on: fixture.agent)
            #expect(response.source == (nonce == 0 ? .network : .cacheFresh))
        }
    }

    @Test func requestWithBodyBypassesTheCache() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        _ = try await get()
        let sending = page()
        sending.content = .data(Data("{}".utf8), contentType: "application/json")
        #expect(try await sending.send().source == .network)
        #expect(try await get().source == .cacheFresh)
    }

    @Test func manyVariantsAreStoredSeparately() async throws {
        server.headers = [.cacheControl: "max-age=600", .vary: "Accept-Language"]
        var bodies: [Data] = []
        for number in 0..<100 {
            bodies.append(try await get([.acceptLanguage: "x-\(number)"]).data)
        }
        for number in 0..<100 {
            let again = try await get([.acceptLanguage: "X-\(number)"])
            #expect(again.source == .cacheFresh && again.data == bodies[number])
        }
        #expect(server.count == 100)
        // Five different `Vary` lists: entries stored under the first one are not found, and not confused.
        for name in ["Accept", "User-Agent", "Referer", "Via"] {
            server.headers[.vary] = name
            _ = try await get([.acceptLanguage: "y", .cacheControl: "no-cache"])
        }
        #expect(try await get([.acceptLanguage: "y"]).source == .cacheFresh)
    }

    @Test func cacheKeysContainNoSecrets() async throws {
        let store = MemoryResponseStore()
        let agent = RequestAgent(
            configuration: Configuration(baseURL: "https://api.example.com/"),
            transport: fixture.transport, store: store, clock: fixture.clock)
        server.headers = [.cacheControl: "max-age=600", .vary: "Cookie, Authorization"]
        let endpoint = page([.cookie: "session=hush", .authorization: "Bearer hush"])
        _ = try await endpoint.send(on: agent)
        let keys = try await store.entries().map(\.key.canonical)
        #expect(keys.count == 2 && !keys.contains { $0.contains("hush") })
    }
}
