import ErrandCore
import ErrandHTTP
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandDownloadQueue

/// Limits, and the settings of single downloads.
@Suite(.limited) struct QueueSettingsTests {
    let fixture: DownloadQueueFixture
    let transport = ScriptedTransport()

    init() throws { fixture = try DownloadQueueFixture() }

    private func download(_ name: String) -> DownloadQueue.Download {
        .init("https://cdn.example.com/\(name)", to: fixture.file(name))
    }

    private static let invalid: [DownloadQueue.Limits] = [
        .init(total: 0), .init(perHost: -1), .init(bytesPerSecond: 0),
    ]

    @Test(arguments: invalid) func limitsBelowOneAreRefused(
        limits: DownloadQueue.Limits
    ) async throws {
        let queue = DownloadQueueFixture.queue(
            in: fixture.folder.path, limits, transport: transport)
        let opening = await #expect(throws: RequestError.self) { try await queue.open() }
        let adding = await #expect(throws: RequestError.self) {
            try await queue.add([download("a")])
        }
        for error in [opening, adding] {
            #expect(error?.code == .invalidConfiguration && error?.stage == .build)
        }
        #expect(queue.entries.isEmpty && transport.requestCount == 0)
    }

    @Test(arguments: invalid) func limitsThatBecomeInvalidFailWaitingDownloads(
        limits: DownloadQueue.Limits
    ) async throws {
        let gate = Gate()
        transport.on(.get, "/a", ScriptedResponse(body: Data("a".utf8)).held(by: gate))
        let queue = try await fixture.queue(.init(total: 1), transport: transport)
        try await queue.add([download("a"), download("b")])
        try await gate.reached()
        queue.limits = limits
        gate.open()
        try await queue.untilIdle()
        #expect(queue.entries[1].failure?.code == .invalidConfiguration)
        #expect(transport.requestCount == 1)
        await queue.close()
    }

    @Test func downloadsHaveTheirOwnRetryPolicyAndTimeouts() async throws {
        let count = Mutex(0)
        transport.respond { _ in
            count.withLock { $0 += 1 }
            return ScriptedResponse(status: 503)
        }
        let queue = try await fixture.queue(transport: transport)
        var once = download("once")
        once.retryPolicy = RetryPolicy(maximumAttempts: 1)
        try await queue.add([once])
        try await queue.untilIdle()
        #expect(count.withLock { $0 } == 1)
        let failure = try #require(queue.entries[0].failure)
        #expect(failure.code == .unacceptableStatus && failure.statusCode == 503)
        #expect(failure.attempts == 1)

        var invalid = download("invalid")
        invalid.retryPolicy = RetryPolicy(maximumAttempts: 0)
        var late = download("late")
        late.timeouts = Timeouts(total: .zero)
        for download in [invalid, late] {
            let error = await #expect(throws: RequestError.self) { try await queue.add([download]) }
            #expect(error?.code == .invalidConfiguration)
        }
        await queue.close()
    }

    @Test func expiredURLsAreReplaced() async throws {
        transport.on(.get, "/a", ScriptedResponse(status: 403))
        transport.on(.get, "/new", ScriptedResponse(body: Data("fresh".utf8)))
        let asked = Mutex<[String]>([])
        let agent = RequestAgent(transport: transport)
        let queue = DownloadQueue(path: fixture.database, agent: agent) { download, error in
            asked.withLock {
                $0.append(
                    "\(download.metadata["id"] ?? "") \(error.response?.statusCode ?? 0)")
            }
            return "https://cdn.example.com/new"
        }
        try await queue.open()
        var download = download("a")
        download.metadata["id"] = "7"
        try await queue.add([download])
        try await queue.untilIdle()
        #expect(queue.entries[0].file?.bytes == 5)
        #expect(asked.withLock { $0 } == ["7 403"])
        await queue.close()
    }

    @Test func eventsComeInTheOrderOfStartsAndEnds() async throws {
        let names = ["a", "b", "c"]
        let gates = Dictionary(uniqueKeysWithValues: names.map { ($0, Gate()) })
        for (name, gate) in gates {
            transport.on(
                .get, "/" + name, ScriptedResponse(body: Data(name.utf8)).held(by: gate))
        }
        let queue = try await fixture.queue(.init(total: 2, perHost: 2), transport: transport)
        var events = queue.events.makeAsyncIterator()
        var downloads = names.map(download)
        downloads[2].priorityLevel = 1
        let ids = try await queue.add(downloads)
        try await gates["a"]?.reached()
        try await gates["c"]?.reached()
        gates["a"]?.open()
        try await gates["b"]?.reached()
        gates["b"]?.open()
        await fixture.until(queue) { $0[1].state.isOver }
        gates["c"]?.open()
        try await queue.untilIdle()
        let expected: [DownloadQueue.Event] = [
            .started(ids[2]), .started(ids[0]), .ended(ids[0], .finished(fixture.file("a"))),
            .started(ids[1]), .ended(ids[1], .finished(fixture.file("b"))),
            .ended(ids[2], .finished(fixture.file("c"))),
        ]
        var found: [DownloadQueue.Event] = []
        while found.count < expected.count, let event = await events.next() { found.append(event) }
        #expect(found == expected)
        await queue.close()
    }

    /// The limit counts each byte, also of downloads that fit into one buffer.
    @Test func shortDownloadsKeepTheBandwidth() async throws {
        let clock = ManualClock()
        let names = (0..<10).map { "\($0)" }
        transport.respond { _ in ScriptedResponse(body: Data(count: 1000)) }
        let queue = try await fixture.queue(
            .init(total: 10, perHost: 10, bytesPerSecond: 1000), transport: transport, clock: clock)
        try await queue.add(names.map(download))
        for second in 1...10 {
            // All that wait: one that is counted before the clock advances, and sleeps after it, sleeps too long.
            try await clock.untilSleeping(11 - second)
            #expect(queue.entries.count { $0.state.isOver } <= second - 1)
            clock.advance(by: .seconds(1))
            await fixture.until(queue) { $0.count { $0.state.isOver } >= second }
        }
        try await queue.untilIdle()
        #expect(queue.entries.allSatisfy { $0.file?.bytes == 1000 })
        await queue.close()
    }

    /// A queue that is opened again has the settings of its downloads from the database.
    @Test func settingsAreKeptByARestart() async throws {
        let gate = Gate()
        transport.on(.get, "/a", ScriptedResponse(body: Data("a".utf8)).held(by: gate))
        let first = try await fixture.queue(.init(total: 1), transport: transport)
        var low = download("low")
        low.priorityLevel = -2
        low.segments = 3
        low.retryPolicy = RetryPolicy(
            maximumAttempts: 2, baseDelay: .zero, maximumDelay: .seconds(3),
            maximumRetryAfter: .seconds(4), retryableStatusCodes: [418],
            retriesNonIdempotent: true, attemptTimeout: .seconds(50), sendsIdempotencyKey: false)
        low.timeouts = Timeouts(connect: .seconds(70), idle: .seconds(80), total: .seconds(900))
        var high = download("high")
        high.priorityLevel = 3
        let downloads = [download("a"), low, high]
        try await first.add([downloads[0]])
        try await gate.reached()
        try await first.add(Array(downloads.dropFirst()))
        await first.close()
        let other = ScriptedTransport()
        other.respond { request in
            ScriptedResponse(
                status: request.url.path == "/low" ? .init(code: 418) : .ok, body: Data("x".utf8))
        }
        let second = try await fixture.queue(.init(total: 1), transport: other)
        #expect(second.entries.map(\.download) == downloads)
        #expect(second.entries[1].download.retryPolicy == low.retryPolicy)
        try await second.untilIdle()
        #expect(other.requests.map(\.url.path) == ["/high", "/a", "/low", "/low"])
        #expect(other.requests.last?.timeouts == low.timeouts)
        #expect(other.requests.first?.timeouts != low.timeouts)
        let failure = try #require(second.entries[1].failure)
        #expect(failure.statusCode == 418 && failure.attempts == 2)
        await second.close()
    }
}
