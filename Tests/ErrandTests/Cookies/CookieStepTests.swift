import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

private final class WithoutCookies: BaseRequest {
    override var url: EndpointURL { "x" }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.uses.remove(.cookies)
    }
}

private final class OwnCookieHeader: BaseRequest {
    override var url: EndpointURL { "x" }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.headers[.cookie] = "a=mine; own=1"
    }
}

@Suite(.limited) struct CookieStepTests {
    let fixture = AgentFixture()

    private func setting(_ cookies: String..., status: HTTPResponse.Status = .ok, to: String? = nil)
        -> ScriptedResponse
    {
        var headers: HTTPFields = [.contentType: "application/json"]
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        if let to { headers[.location] = to }
        return ScriptedResponse(status: status, headers: headers, body: Data("{}".utf8))
    }

    private func sent(_ index: Int) -> [String] {
        fixture.transport.requests[index].headers[values: .cookie]
    }

    @Test func cookiesSetByAResponseAreSentWithTheNextRequest() async throws {
        fixture.transport.on(.get, "/x", setting("a=1; Path=/", "b=2"))
        try await fixture.with(Plain("x")).send()
        try await fixture.with(Plain("x")).send()
        #expect(sent(0) == [])
        #expect(sent(1) == ["a=1; b=2"])
        #expect(fixture.agent.cookieJar.all.map(\.name) == ["a", "b"])
    }

    @Test func cookiesSetByARedirectAreSentWithTheNextHop() async throws {
        fixture.transport.on(
            .get, "/a", setting("hop=1", "far=1; Domain=other.com", status: .found, to: "/b"))
        fixture.transport.on(
            .get, "/b", setting("second=1", status: .found, to: "https://other.com/c"))
        fixture.transport.on(.get, "/c", .json("{}"))
        try await fixture.with(Plain("a")).send()
        #expect(sent(1) == ["hop=1"])
        #expect(sent(2) == [])
    }

    @Test func errorResponsesSetCookies() async throws {
        fixture.transport.on(.get, "/x", setting("a=1", status: .notFound))
        await #expect(throws: RequestError.self) { try await fixture.with(Plain("x")).send() }
        #expect(fixture.agent.cookieJar.all.map(\.name) == ["a"])
    }

    @Test func truncatedResponseSetsCookies() async throws {
        let head = ResponseHead(status: .ok, headers: [.setCookie: "a=1"])
        let lost = RequestError(.truncatedBody, stage: .transport, "The body is incomplete.")
        fixture.transport.on(.get, "/x", ScriptedResponse(steps: [.head(head), .fail(lost)]))
        let error = await #expect(throws: RequestError.self) {
            try await fixture.with(Plain("x")).send()
        }
        #expect(error?.code == .truncatedBody)
        #expect(fixture.agent.cookieJar.all.map(\.name) == ["a"])
    }

    @Test func cookiesCanBeDisabledPerRequestAndPerAgent() async throws {
        fixture.transport.on(.get, "/x", setting("a=1"))
        try await fixture.with(Plain("x")).send()
        fixture.transport.on(.get, "/x", setting("b=1"))
        try await fixture.with(WithoutCookies()).send()
        #expect(sent(1) == [])
        #expect(fixture.agent.cookieJar.all.map(\.name) == ["a"])
        fixture.agent.configuration.usesCookies = false
        try await fixture.with(Plain("x")).send()
        #expect(sent(2) == [])
    }

    @Test func cookiesInTheRequestsOwnHeaderTakePrecedence() async throws {
        fixture.transport.on(.get, "/x", setting("a=1", "b=2"))
        try await fixture.with(Plain("x")).send()
        try await fixture.with(OwnCookieHeader()).send()
        #expect(sent(1) == ["a=mine; own=1; b=2"])
    }

    @Test func cookiesExpireByTheAgentsClock() async throws {
        fixture.transport.on(.get, "/x", setting("a=1; Max-Age=60"))
        try await fixture.with(Plain("x")).send()
        fixture.clock.advance(by: .seconds(60))
        fixture.transport.on(.get, "/x", .json("{}"))
        try await fixture.with(Plain("x")).send()
        #expect(sent(1) == [])
    }

    @Test func agentsShareACookieJarOnlyWhenConfigured() async throws {
        let other = AgentFixture()
        for fixture in [fixture, other] { fixture.transport.on(.get, "/x", setting("a=1")) }
        try await fixture.with(Plain("x")).send()
        #expect(other.agent.cookieJar.all.isEmpty)
        let shared = CookieJar()
        other.agent.configuration.cookieJar = shared
        try await other.with(Plain("x")).send()
        #expect(shared.all.map(\.name) == ["a"])
        #expect(other.agent.cookieJar === shared)
    }
}
