import Errand
import ErrandTesting
import Foundation
import Testing

private final class Without: BaseRequest {
    override var url: String { "x" }
    override var usesCookies: Bool { false }
}

private final class Own: BaseRequest {
    override var url: String { "x" }
    override var headerFieldValues: [String: String] { ["Cookie": "a=mine; own=1"] }
}

@Suite(.timeLimit(.minutes(5))) struct CookieStepTests {
    let world = World()

    private func setting(_ cookies: String..., status: HTTPResponse.Status = .ok, to: String? = nil)
        -> ScriptedAnswer
    {
        var headers: HTTPFields = [.contentType: "application/json"]
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        if let to { headers[.location] = to }
        return ScriptedAnswer(status: status, headers: headers, body: Data("{}".utf8))
    }

    private func sent(_ index: Int) -> [String] {
        world.transport.requests[index].headers[values: .cookie]
    }

    @Test func whatOneAnswerSetsTheNextRequestSends() async throws {
        world.transport.on(.get, "/x", setting("a=1; Path=/", "b=2"))
        try await world.with(Plain("x")).send()
        try await world.with(Plain("x")).send()
        #expect(sent(0) == [])
        #expect(sent(1) == ["a=1; b=2"])
        #expect(world.agent.cookieJar.all.map(\.name) == ["a", "b"])
    }

    @Test func aRedirectsCookiesGoOutWithTheNextHop() async throws {
        world.transport.on(
            .get, "/a", setting("hop=1", "far=1; Domain=other.com", status: .found, to: "/b"))
        world.transport.on(
            .get, "/b", setting("second=1", status: .found, to: "https://other.com/c"))
        world.transport.on(.get, "/c", .json("{}"))
        try await world.with(Plain("a")).send()
        #expect(sent(1) == ["hop=1"])
        #expect(sent(2) == [])
    }

    @Test func errorsSetCookiesToo() async throws {
        world.transport.on(.get, "/x", setting("a=1", status: .notFound))
        await #expect(throws: RequestError.self) { try await world.with(Plain("x")).send() }
        #expect(world.agent.cookieJar.all.map(\.name) == ["a"])
    }

    @Test func offForOneRequestAndForAll() async throws {
        world.transport.on(.get, "/x", setting("a=1"))
        try await world.with(Plain("x")).send()
        world.transport.on(.get, "/x", setting("b=1"))
        try await world.with(Without()).send()
        #expect(sent(1) == [])
        #expect(world.agent.cookieJar.all.map(\.name) == ["a"])
        world.agent.configuration.usesCookies = false
        try await world.with(Plain("x")).send()
        #expect(sent(2) == [])
    }

    @Test func theRequestsOwnCookiesWinByName() async throws {
        world.transport.on(.get, "/x", setting("a=1", "b=2"))
        try await world.with(Plain("x")).send()
        try await world.with(Own()).send()
        #expect(sent(1) == ["a=mine; own=1; b=2"])
    }

    @Test func theAgentsClockEndsCookies() async throws {
        world.transport.on(.get, "/x", setting("a=1; Max-Age=60"))
        try await world.with(Plain("x")).send()
        world.clock.advance(by: .seconds(60))
        world.transport.on(.get, "/x", .json("{}"))
        try await world.with(Plain("x")).send()
        #expect(sent(1) == [])
    }

    @Test func agentsShareAJarOnlyWhenTold() async throws {
        let other = World()
        for world in [world, other] { world.transport.on(.get, "/x", setting("a=1")) }
        try await world.with(Plain("x")).send()
        #expect(other.agent.cookieJar.all.isEmpty)
        let shared = CookieJar()
        other.agent.configuration.cookieJar = shared
        try await other.with(Plain("x")).send()
        #expect(shared.all.map(\.name) == ["a"])
        #expect(other.agent.cookieJar === shared)
    }
}
