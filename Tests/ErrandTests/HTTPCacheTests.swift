import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// `CachePolicy.http` from endpoint to endpoint: RFC 9111 as a user meets it.
@Suite(.timeLimit(.minutes(2))) struct HTTPCacheTests {
    final class Page: BaseRequest {
        var asked: HTTPFields = [:]
        var verb = HTTPMethod.get
        var shape: JSONShape?
        var acceptable = 200..<300
        var duplicates = DuplicatePolicy.allow
        var content: HTTPBody?
        override var url: String { "page" }
        override var method: HTTPMethod { verb }
        override var headers: HTTPFields { asked }
        override var cachePolicy: CachePolicy? { .http }
        override var validator: JSONShape? { shape }
        override var responseSerializer: ResponseSerializer { .json }
        override var acceptableStatusCodes: Range<Int> { acceptable }
        override var duplicatePolicy: DuplicatePolicy { duplicates }
        override var body: HTTPBody? { content }
        override var writesCacheAsynchronously: Bool { false }
    }

    private static let count = HTTPField.Name("X-Count") ?? .date

    private let world = World()
    private let server = Pages()

    init() {
        world.transport.answer { [server] in server.answer(to: $0) }
    }

    private func get(
        _ asked: HTTPFields = [:], _ verb: HTTPMethod = .get, shape: JSONShape? = nil
    ) async throws -> Response {
        let page = world.with(Page())
        (page.asked, page.verb, page.shape) = (asked, verb, shape)
        return try await page.send()
    }

    @Test func freshAnswersSendNothingAndTellTheirAge() async throws {
        server.headers = [.cacheControl: "max-age=60", .age: "5"]
        let first = try await get()
        #expect(first.source == .network)
        world.clock.advance(by: .seconds(50))
        let second = try await get()
        #expect(second.source == .cacheFresh && second.headers[.age] == "55")
        #expect(second.data == first.data && second.attempts == 0)
        world.clock.advance(by: .seconds(5))
        #expect(try await get().source == .network)
        #expect(server.count == 2)
    }

    @Test func staleAnswersAreConfirmed() async throws {
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"1\""]
        let first = try await get()
        world.clock.advance(by: .seconds(11))
        let second = try await get()
        #expect(second.source == .revalidated && second.status == 200 && second.data == first.data)
        #expect(second.attempts == 1 && second.headers[Self.count] == "2")
        #expect(world.transport.requests.last?.headers[.ifNoneMatch] == "\"1\"")
        world.clock.advance(by: .seconds(9))
        #expect(try await get().source == .cacheFresh)
        // It changes: the conditions do not hold, and the new one is kept.
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"2\""]
        world.clock.advance(by: .seconds(2))
        #expect(try await get().source == .network)
        #expect(try await get().source == .cacheFresh)
        #expect(server.count == 3)
    }

    @Test func aConfirmationOfAnotherAnswerIsNotBelieved() async throws {
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"1\""]
        _ = try await get()
        world.clock.advance(by: .seconds(11))
        server.confirmsAnything = true
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"2\""]
        let second = try await get()
        #expect(second.source == .network && second.status == 200)
        #expect(world.transport.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", nil])
    }

    @Test func variantsAreToldApart() async throws {
        server.headers = [.cacheControl: "max-age=60", .vary: "Accept-Language"]
        let german = try await get([.acceptLanguage: "de"])
        let french = try await get([.acceptLanguage: "fr"])
        #expect(german.data != french.data)
        #expect(try await get([.acceptLanguage: "de"]).data == german.data)
        #expect(try await get([.acceptLanguage: "fr"]).data == french.data)
        #expect(try await get([.acceptLanguage: "de", .accept: "x/y"]).source == .cacheFresh)
        #expect(server.count == 2)
        // A change makes all of them out of date.
        _ = try await get([:], .post)
        #expect(try await get([.acceptLanguage: "de"]).source == .network)
        #expect(try await get([.acceptLanguage: "fr"]).source == .network)
    }

    @Test func cookiesOfTheJarChooseToo() async throws {
        server.headers = [.cacheControl: "max-age=60", .vary: "Cookie"]
        _ = try await get()
        #expect(try await get().source == .cacheFresh)
        let url = try URI(parsing: "https://api.example.com/page")
        world.agent.cookieJar.receive([.setCookie: "who=bob"], from: url)
        #expect(try await get().source == .network)
        #expect(try await get().source == .cacheFresh)
    }

    @Test func whoAsksForCachedAnswersOnlySendsNothing() async throws {
        server.headers = [.cacheControl: "max-age=10"]
        let error = await #expect(throws: RequestError.self) {
            try await get([.cacheControl: "only-if-cached"])
        }
        #expect(error?.code == .cacheMiss && server.count == 0)
        _ = try await get()
        #expect(try await get([.cacheControl: "only-if-cached"]).source == .cacheFresh)
        world.clock.advance(by: .seconds(20))
        let late = await #expect(throws: RequestError.self) {
            try await get([.cacheControl: "only-if-cached"])
        }
        #expect(late?.cacheMiss == .expired)
        #expect(try await get([.cacheControl: "only-if-cached, max-stale"]).source == .cacheStale)
        #expect(server.count == 1)
    }

    @Test func whileItIsRenewedTheStaleOneAnswers() async throws {
        server.headers = [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"1\""]
        let first = try await get()
        world.clock.advance(by: .seconds(11))
        let gate = Gate()
        server.gate = gate
        let stale = try await get()
        #expect(stale.source == .cacheStale && stale.data == first.data)
        #expect(try await get().source == .cacheStale)
        gate.open()
        // One renewal for both, and it is a request like any other.
        for task in world.agent.activeTasks { await task.untilEnded() }
        await world.agent.flushCache()
        #expect(server.count == 2)
        #expect(try await get().source == .cacheFresh)
    }

    @Test func failuresAreStoodInForWhereAllowed() async throws {
        server.headers = [.cacheControl: "max-age=10, stale-if-error=60"]
        _ = try await get()
        world.clock.advance(by: .seconds(20))
        server.status = 503
        #expect(try await get().source == .cacheStale)
        world.clock.advance(by: .seconds(60))
        let error = await #expect(throws: RequestError.self) { try await get() }
        #expect(error?.response?.statusCode == 503)
    }

    @Test func changesMakeStoredAnswersOutOfDate() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        _ = try await get()
        server.status = 500
        _ = try? await get([:], .put)
        #expect(try await get().source == .cacheFresh, "an error has changed nothing")
        server.status = 200
        _ = try await get([:], .delete)
        #expect(try await get().source == .network)
    }

    @Test func ownConditionsAreLeftAlone() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        _ = try await get()
        #expect(try await get([.ifNoneMatch: "\"x\""]).source == .network)
        #expect(try await get([.cacheControl: "no-store"]).source == .network)
        #expect(try await get().source == .cacheFresh)
        #expect(server.count == 3)
    }

    @Test func aHeadIsAnsweredByAGetAndHasNoBody() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        _ = try await get()
        let head = try await get([:], .head)
        #expect(head.source == .cacheFresh && head.data.isEmpty)
        #expect(server.count == 1)
    }

    @Test func redirectedAnswersAreNotKeptUnderTheFirstAddress() async throws {
        server.headers = [.cacheControl: "max-age=60"]
        server.redirectsOnce = true
        _ = try await get()
        #expect(try await get().source == .network)
        #expect(try await get().source == .cacheFresh)
    }

    @Test func whatPassesNoMoreIsAskedForAgain() async throws {
        server.headers = [.cacheControl: "max-age=60", .eTag: "\"1\""]
        _ = try await get()
        _ = try? await get(shape: ["missing": .number])
        #expect(server.count == 2)
        #expect(world.transport.requests.last?.headers[.ifNoneMatch] == nil)
    }
}
