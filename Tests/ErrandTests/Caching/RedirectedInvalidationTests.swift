import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Invalidation by the responses to an unsafe request that is redirected (RFC 9111 §4.4).
@Suite(.limited) struct RedirectedInvalidationTests {
    private let fixture = AgentFixture {
        $0.retryPolicy = RetryPolicy(
            maximumAttempts: 2, baseDelay: .zero, retriesNonIdempotent: true)
    }

    /// Stores responses of these paths.
    private func keep(_ paths: String...) async throws {
        fixture.transport.on(
            .get, nil, ScriptedResponse(headers: [.cacheControl: "max-age=60"]))
        for path in paths { #expect(try await source(path) == .network) }
        for path in paths { #expect(try await source(path) == .cacheFresh) }
    }

    private func source(_ path: String) async throws -> Response.Source {
        try await send(.get, path).source
    }

    @discardableResult
    private func send(_ method: HTTPMethod, _ path: String) async throws -> Response {
        let endpoint = InlineRequest(EndpointURL(raw: path)) {
            $0.method = method
            $0.cache.policy = .http
            $0.cache.writesAsynchronously = false
            $0.acceptance.format = .any
        }
        return try await endpoint.send(on: fixture.agent)
    }

    private func moved(_ status: HTTPResponse.Status, to target: String) -> ScriptedResponse {
        ScriptedResponse(status: status, headers: [.location: target])
    }

    @Test func everyTargetOfAnUnsafeRequestIsInvalidated() async throws {
        try await keep("/a", "/d/b", "/d/current", "/current", "/other")
        fixture.transport.on(.put, "/a", moved(.temporaryRedirect, to: "/d/b"))
        fixture.transport.on(
            .put, "/d/b", ScriptedResponse(headers: [.contentLocation: "current"]))
        try await send(.put, "/a")
        for path in ["/a", "/d/b", "/d/current"] { #expect(try await source(path) == .network) }
        for path in ["/current", "/other"] { #expect(try await source(path) == .cacheFresh) }
    }

    /// `Location` of the redirect names the target, but an error of the target invalidates nothing.
    @Test func errorOfTheTargetInvalidatesNothing() async throws {
        try await keep("/a", "/d")
        fixture.transport.on(.put, "/a", moved(.permanentRedirect, to: "/b"))
        fixture.transport.on(
            .put, "/b", ScriptedResponse(status: .conflict, headers: [.contentLocation: "/d"]))
        await #expect(throws: RequestError.self) { try await send(.put, "/a") }
        #expect(try await source("/a") == .network)
        #expect(try await source("/d") == .cacheFresh)
    }

    /// The server has performed the request when it redirects with 303 (RFC 9110 §15.4.4).
    @Test(arguments: [true, false])
    func redirectInvalidatesIfItsTargetCannotBeLoaded(isFound: Bool) async throws {
        try await keep("/items")
        fixture.transport.on(.post, "/items", moved(.seeOther, to: "/items/7"))
        fixture.transport.on(
            .get, "/items/7",
            isFound
                ? .failure(RequestError(.connectionLost, stage: .transport, "cut"))
                : ScriptedResponse(status: .notFound))
        await #expect(throws: RequestError.self) { try await send(.post, "/items") }
        #expect(try await source("/items") == .network)
    }

    /// The response of a safe request says nothing about the entries of its URL.
    @Test func targetThatIsOnlyLoadedIsKept() async throws {
        try await keep("/page", "/page/it", "/items")
        fixture.transport.on(.post, "/items", moved(.seeOther, to: "/next"))
        fixture.transport.on(.get, "/next", moved(.found, to: "/page"))
        fixture.transport.on(
            .get, "/page", ScriptedResponse(headers: [.contentLocation: "/page/it"]))
        try await send(.post, "/items")
        for path in ["/page", "/page/it"] { #expect(try await source(path) == .cacheFresh) }
        #expect(try await source("/items") == .network)
    }

    /// The second attempt is not redirected: its response belongs to the first URL again.
    @Test func attemptsAreSeparate() async throws {
        try await keep("/items", "/items/8")
        fixture.transport.on(
            .post, "/items", moved(.seeOther, to: "/items/7"),
            ScriptedResponse(status: .created, headers: [.location: "/items/8"]))
        fixture.transport.on(
            .get, "/items/7",
            .failure(RequestError(.connectionLost, stage: .transport, "cut")))
        #expect(try await send(.post, "/items").status == .created)
        for path in ["/items", "/items/8"] { #expect(try await source(path) == .network) }
    }
}
