import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Updates of stored responses by a 304 (RFC 9111 §4.3.4) or by a response to `HEAD` (§4.3.5).
@Suite(.limited) struct HTTPCacheUpdateTests {
    /// The fields of an update that differ from those of the stored response.
    struct Update: Sendable {
        var control = "max-age=60"
        var vary: String?
    }

    private let fixture = AgentFixture()

    private func get(
        _ method: HTTPMethod = .get, on fixture: AgentFixture? = nil
    ) async throws -> Response {
        let endpoint = InlineRequest("a") {
            $0.method = method
            $0.cache.policy = .http
            $0.cache.writesAsynchronously = false
            $0.acceptance.format = .any
        }
        return try await endpoint.send(on: (fixture ?? self.fixture).agent)
    }

    /// Serves a response for ten seconds, and then an update of it.
    private func serve(_ update: Update, vary: String?) {
        fixture.transport.respond { request in
            var headers: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"1\""]
            headers[.vary] = vary
            guard request.method == .head || request.headers.contains(.ifNoneMatch) else {
                return ScriptedResponse(headers: headers, body: Data("a".utf8))
            }
            headers[.cacheControl] = update.control
            if let vary = update.vary { headers[.vary] = vary }
            return ScriptedResponse(
                status: request.method == .head ? .ok : .notModified, headers: headers)
        }
    }

    private func update(
        _ method: HTTPMethod, _ update: Update, vary: String?
    ) async throws -> Response {
        serve(update, vary: vary)
        _ = try await get()
        fixture.clock.advance(by: .seconds(11))
        let updated = try await get(method)
        #expect(updated.status == .ok)
        #expect(updated.source == (method == .head ? .network : .revalidated))
        #expect(updated.headers[.cacheControl] == update.control)
        return updated
    }

    @Test(
        arguments: [HTTPMethod.get, .head],
        [
            Update(control: "max-age=60, no-store"), Update(vary: "*"), Update(vary: "Accept"),
            Update(vary: "Accept, Accept-Language"),
        ])
    func updateThatCannotBeStoredRemovesTheEntry(method: HTTPMethod, update: Update) async throws {
        for vary in [nil, "Accept-Language"] {
            let updated = try await self.update(method, update, vary: vary)
            #expect(updated.data == Data((method == .head ? "" : "a").utf8))
            #expect(try await get().source == .network)
            #expect(fixture.transport.requests.last?.headers[.ifNoneMatch] == nil)
            try await fixture.agent.clearCache()
        }
    }

    @Test(
        arguments: [HTTPMethod.get, .head],
        [Update(), Update(control: "max-age=60, no-store, must-understand")])
    func otherUpdatesAreStored(method: HTTPMethod, update: Update) async throws {
        for vary in ["Accept-Language", "accept-language,Accept-Language"] {
            var update = update
            update.vary = vary
            _ = try await self.update(method, update, vary: "Accept-Language")
            #expect(try await get().source == .cacheFresh)
            try await fixture.agent.clearCache()
        }
    }

    /// The update may be for another user than the stored response.
    @Test(arguments: [HTTPMethod.get, .head])
    func updateAfterAChangeOfTheCredentialsIsNotStored(method: HTTPMethod) async throws {
        let tokens = RefreshableToken()
        let fixture = AgentFixture {
            $0.authenticators = [
                "*.example.com": .bearer {
                    tokens.current
                } refresh: {
                    tokens.refresh()
                }
            ]
        }
        let isFirst = Shared(true)
        fixture.transport.respond { request in
            let isOld = request.headers[.authorization] == "Bearer old"
            if isOld, !isFirst.value { return ScriptedResponse(status: .unauthorized) }
            isFirst.value = false
            return ScriptedResponse(
                status: request.headers.contains(.ifNoneMatch) ? .notModified : .ok,
                headers: [.cacheControl: "max-age=10", .eTag: "\"1\""])
        }
        _ = try await get(on: fixture)
        fixture.clock.advance(by: .seconds(11))
        let updated = try await get(method, on: fixture)
        #expect(updated.source == (method == .head ? .network : .revalidated))
        #expect(fixture.transport.requestCount == 3)
        #expect(fixture.events.names.count { $0 == "cacheStored" } == 1)
        #expect(fixture.events.names.count { $0 == "cacheWriteFailed" } == 1)
    }
}
