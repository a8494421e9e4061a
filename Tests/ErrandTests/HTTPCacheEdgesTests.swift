import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// `CachePolicy.http` where requests and answers are unusual: parts, `HEAD`, failures that are accepted, clocks, sizes.
@Suite(.timeLimit(.minutes(2))) struct HTTPCacheEdgesTests {
    private static let note = HTTPField.Name("X-Note") ?? .date

    private let world = World()
    private let server = Pages()

    init() {
        world.transport.answer { [server] in server.answer(to: $0) }
    }

    private func page(_ asked: HTTPFields = [:], _ verb: HTTPMethod = .get) -> HTTPCacheTests.Page {
        let page = world.with(HTTPCacheTests.Page())
        (page.asked, page.verb) = (asked, verb)
        return page
    }

    private func get(
        _ asked: HTTPFields = [:], _ verb: HTTPMethod = .get
    ) async throws -> Response {
        try await page(asked, verb).send()
    }

    /// A part that need not be JSON.
    private func part(_ range: String) async throws -> Response {
        let endpoint = InlineRequest("page") {
            $0.headers = [.range: range]
            $0.cachePolicy = .http
            $0.responseSerializer = .data
        }
        endpoint.agent = world.agent
        return try await endpoint.send()
    }

    @Test func partsOfAFreshAnswerAreCutFromIt() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        let whole = try await get()
        let first = try await part("bytes=0-3")
        #expect(first.source == .cacheFresh && first.statusCode == 206)
        #expect(first.data == whole.data.prefix(4) && first.headers[.contentLength] == "4")
        #expect(first.headers[.contentRange] == "bytes 0-3/\(whole.data.count)")
        #expect(try await part("bytes=-2").data == whole.data.suffix(2))
        #expect(try await part("bytes=3-").data == whole.data.dropFirst(3))
        #expect(server.count == 1)
        // What it cannot cut goes to the server: several parts, none, and of what is out of date.
        for range in ["bytes=0-0,2-2", "bytes=9000-", "lines=1-2"] {
            #expect(try await part(range).source == .network)
        }
        world.clock.advance(by: .seconds(61))
        #expect(try await part("bytes=0-3").source == .network)
        #expect(server.count == 5)
    }

    @Test func partsOfAnEncodedAnswerAreTheServers() async throws {
        server.headers = [.cacheControl: "max-age=60", .contentEncoding: "identity"]
        _ = try await get()
        #expect(try await get().source == .cacheFresh)
        #expect(try await part("bytes=0-3").source == .network)
    }

    @Test func aHeadRenewsWhatIsStored() async throws {
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"1\"", Self.note: "old"]
        let first = try await get()
        world.clock.advance(by: .seconds(11))
        server.headers[Self.note] = "new"
        #expect(try await get([:], .head).source == .network)
        let second = try await get()
        #expect(second.source == .cacheFresh && second.data == first.data)
        #expect(second.headers[Self.note] == "new")
        #expect(server.count == 2)
    }

    @Test func aHeadOfAnotherAnswerMakesTheStoredOneWorthless() async throws {
        server.headers = [.cacheControl: "max-age=10, stale-if-error=90", .eTag: "\"1\""]
        _ = try await get()
        world.clock.advance(by: .seconds(11))
        server.headers[.eTag] = "\"2\""
        _ = try await get([:], .head)
        server.status = 503
        await #expect(throws: RequestError.self) { try await get() }
    }

    @Test func aHeadWithoutAValidatorProvesNothing() async throws {
        server.headers = [.cacheControl: "max-age=10"]
        _ = try await get()
        world.clock.advance(by: .seconds(11))
        _ = try await get([:], .head)
        #expect(try await get().source == .network)
    }

    @Test func aFailureThatIsAcceptedAsAnAnswerIsStoodInForToo() async throws {
        server.headers = [.cacheControl: "max-age=10, stale-if-error=60"]
        _ = try await get()
        world.clock.advance(by: .seconds(20))
        server.status = 503
        server.headers = [:]
        let lenient = page()
        lenient.acceptable = 200..<600
        #expect(try await lenient.send().source == .cacheStale)
        world.clock.advance(by: .seconds(60))
        let late = page()
        late.acceptable = 200..<600
        let failed = try await late.send()
        #expect(failed.statusCode == 503 && failed.source == .network)
        // Nor has it made the stored one worthless: a clock that is put right finds it.
        world.clock.setNow(world.clock.now - 75)
        #expect(try await get().source == .cacheFresh)
    }

    @Test func whoShowsCredentialsChangesWhatEverybodySees() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        _ = try await get()
        _ = try await get([.authorization: "Bearer a"])
        #expect(server.count == 2)
        _ = try await get([.authorization: "Bearer a"], .put)
        #expect(try await get().source == .network)
        #expect(try await get([.authorization: "Bearer a"]).source == .network)
    }

    @Test func aClockThatWasSetBackProvesNothing() async throws {
        server.headers = [.cacheControl: "max-age=60", .eTag: "\"1\""]
        _ = try await get()
        world.clock.setNow(world.clock.now - 3600)
        #expect(try await get().source == .revalidated)
        #expect(try await get().source == .cacheFresh)
        // A server whose clock is ahead makes nothing fresher.
        server.headers = [
            .cacheControl: "max-age=60", .date: "Fri, 31 Dec 9999 23:59:59 GMT", .age: "1",
        ]
        world.clock.advance(by: .seconds(60))
        #expect(try await get().source == .network)
        world.clock.advance(by: .seconds(59))
        #expect(try await get().source == .network)
    }

    /// What the answer waited for is not its age: a place, a first attempt.
    @Test func onlyTheLastAttemptMakesAnAnswerOlder() async throws {
        world.transport.answer { [clock = world.clock] _ in
            clock.advance(by: .seconds(40))
            var answer = ScriptedAnswer.json("{}")
            answer.steps[0] = .head(
                ResponseHead(
                    status: .ok,
                    headers: [.contentType: "application/json", .cacheControl: "max-age=30"],
                    httpVersion: .http11, contentLength: 2))
            answer.timings.finished = .seconds(3)
            return answer
        }
        _ = try await get()
        world.clock.advance(by: .seconds(20))
        let second = try await get()
        #expect(second.source == .cacheFresh && second.headers[.age] == "23")
    }

    @Test func aBodyThatIsSentLeavesTheStoreAlone() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        _ = try await get()
        let sending = page()
        sending.content = .data(Data("{}".utf8), contentType: "application/json")
        #expect(try await sending.send().source == .network)
        #expect(try await get().source == .cacheFresh)
    }

    @Test func manyVariantsStandSideBySide() async throws {
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
        // Five different lists: what only the first one describes is not found any more, and not mistaken.
        for name in ["Accept", "User-Agent", "Referer", "Via"] {
            server.headers[.vary] = name
            _ = try await get([.acceptLanguage: "y", .cacheControl: "no-cache"])
        }
        #expect(try await get([.acceptLanguage: "y"]).source == .cacheFresh)
    }

    @Test func keysHoldNoSecrets() async throws {
        let store = MemoryResponseStore()
        let agent = RequestAgent(
            configuration: Configuration(baseURL: "https://api.example.com/"),
            transport: world.transport, store: store, clock: world.clock)
        server.headers = [.cacheControl: "max-age=600", .vary: "Cookie, Authorization"]
        let endpoint = page([.cookie: "session=hush", .authorization: "Bearer hush"])
        endpoint.agent = agent
        _ = try await endpoint.send()
        let keys = try await store.entries().map(\.key.canonical)
        #expect(keys.count == 2 && !keys.contains { $0.contains("hush") })
    }
}
