import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// `CachePolicy.http` with concurrent requests, cancellation and shutdown.
@Suite(.limited) struct HTTPCacheConcurrencyTests {
    private let fixture = AgentFixture()
    private let server = PageServer()

    init() {
        fixture.transport.respond { [server] in server.respond(to: $0) }
    }

    private func page() -> HTTPCacheTests.PageRequest {
        fixture.with(HTTPCacheTests.PageRequest())
    }

    private func startPage(_ duplicates: RequestDescription.SendingOptions.Duplicates = .allow)
        -> RequestTask
    {
        var page = RequestDescription(endpoint: "Page", url: "page")
        page.cache.policy = .http
        page.sending.duplicates = duplicates
        return fixture.agent.start(page)
    }

    /// Stores a response, lets it become stale, and holds the server's further responses at the returned gate.
    private func holdRevalidations() async throws -> Gate {
        server.headers = [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"1\""]
        _ = try await page().send()
        fixture.clock.advance(by: .seconds(11))
        let gate = Gate()
        server.gate = gate
        return gate
    }

    @Test func concurrentStaleHitsCauseOneRevalidation() async throws {
        let gate = try await holdRevalidations()
        let tasks = (0..<100).map { _ in startPage() }
        for task in tasks { #expect(try await task.response().source == .cacheStale) }
        gate.open()
        for task in fixture.agent.activeTasks { await task.untilEnded() }
        #expect(server.count == 2)
        #expect(try await page().send().source == .cacheFresh)
        // After the first revalidation has ended, the next stale hit starts another.
        fixture.clock.advance(by: .seconds(11))
        #expect(try await page().send().source == .cacheStale)
        for task in fixture.agent.activeTasks { await task.untilEnded() }
        #expect(server.count == 3)
    }

    @Test func joinedRequestsReceiveTheRevalidatedResponse() async throws {
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"1\""]
        let first = try await page().send()
        fixture.clock.advance(by: .seconds(11))
        let gate = Gate()
        server.gate = gate
        let tasks = (0..<20).map { _ in startPage(.join) }
        _ = try await fixture.transport.nextRequest()
        _ = try await fixture.transport.nextRequest()
        try await fixture.untilJoined(tasks.count - 1)
        gate.open()
        for task in tasks {
            let response = try await task.response()
            #expect(response.source == .revalidated && response.data == first.data)
        }
        #expect(server.count == 2)
    }

    @Test func cancelledRevalidationLeavesTheEntryUnchanged() async throws {
        server.headers = [
            .cacheControl: "max-age=10, stale-if-error=60", .eTag: "\"1\"",
        ]
        let first = try await page().send()
        fixture.clock.advance(by: .seconds(11))
        let gate = Gate()
        server.gate = gate
        let task = startPage()
        _ = try await fixture.transport.nextRequest()
        _ = try await fixture.transport.nextRequest()
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled)
        gate.open()
        server.gate = nil
        let second = try await page().send()
        #expect(second.source == .revalidated && second.data == first.data)
    }

    @Test func shutdownCancelsABackgroundRevalidation() async throws {
        let gate = try await holdRevalidations()
        #expect(try await page().send().source == .cacheStale)
        let revalidation = try #require(fixture.agent.activeTasks.first)
        await fixture.agent.shutdown(draining: false)
        await revalidation.untilEnded()
        #expect(fixture.agent.activeTasks.isEmpty)
        gate.open()
        #expect(fixture.transport.inFlight == 0)
    }
}
