import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import Testing

/// `CachePolicy.http` with many requests at once, and with ends that come early.
@Suite(.timeLimit(.minutes(2))) struct HTTPCacheParallelTests {
    private let world = World()
    private let server = Pages()

    init() {
        world.transport.answer { [server] in server.answer(to: $0) }
    }

    private func page() -> HTTPCacheTests.Page { world.with(HTTPCacheTests.Page()) }

    private func begin(_ duplicates: DuplicatePolicy = .allow) -> RequestTask {
        var page = RequestDescription(endpoint: "Page", url: "page")
        page.cachePolicy = .http
        page.duplicatePolicy = duplicates
        return world.agent.start(page)
    }

    /// Stores an answer, lets it become stale, and holds the server's next ones back.
    private func holdBackRenewals() async throws -> Gate {
        server.headers = [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"1\""]
        _ = try await page().send()
        world.clock.advance(by: .seconds(11))
        let gate = Gate()
        server.gate = gate
        return gate
    }

    @Test func aHundredStaleAnswersAreRenewedOnce() async throws {
        let gate = try await holdBackRenewals()
        let tasks = (0..<100).map { _ in begin() }
        for task in tasks { #expect(try await task.response().source == .cacheStale) }
        gate.open()
        for task in world.agent.activeTasks { await task.untilEnded() }
        #expect(server.count == 2)
        #expect(try await page().send().source == .cacheFresh)
        // And once more, when that one is over.
        world.clock.advance(by: .seconds(11))
        #expect(try await page().send().source == .cacheStale)
        for task in world.agent.activeTasks { await task.untilEnded() }
        #expect(server.count == 3)
    }

    @Test func whoJoinsGetsTheConfirmedAnswerToo() async throws {
        server.headers = [.cacheControl: "max-age=10", .eTag: "\"1\""]
        let first = try await page().send()
        world.clock.advance(by: .seconds(11))
        let gate = Gate()
        server.gate = gate
        let tasks = (0..<20).map { _ in begin(.join) }
        _ = try await world.transport.nextRequest()
        _ = try await world.transport.nextRequest()
        gate.open()
        for task in tasks {
            let response = try await task.response()
            #expect(response.source == .revalidated && response.data == first.data)
        }
        #expect(server.count == 2)
    }

    @Test func whoCancelsWhileTheServerIsAskedLeavesTheStoredOneAsItWas() async throws {
        server.headers = [
            .cacheControl: "max-age=10, stale-if-error=60", .eTag: "\"1\"",
        ]
        let first = try await page().send()
        world.clock.advance(by: .seconds(11))
        let gate = Gate()
        server.gate = gate
        let task = begin()
        _ = try await world.transport.nextRequest()
        _ = try await world.transport.nextRequest()
        task.cancel()
        let error = await #expect(throws: RequestError.self) { try await task.response() }
        #expect(error?.code == .cancelled)
        gate.open()
        server.gate = nil
        let second = try await page().send()
        #expect(second.source == .revalidated && second.data == first.data)
    }

    @Test func whoShutsDownEndsARenewalToo() async throws {
        let gate = try await holdBackRenewals()
        #expect(try await page().send().source == .cacheStale)
        let renewal = try #require(world.agent.activeTasks.first)
        await world.agent.shutdown(draining: false)
        await renewal.untilEnded()
        #expect(world.agent.activeTasks.isEmpty)
        gate.open()
        #expect(world.transport.inFlight == 0)
    }
}
