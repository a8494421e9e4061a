import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// Limits, activity, progress and events of a stream last until its end.
@Suite(.limited) struct StreamLimitTests {
    private let gate = Gate()

    /// The way in which the first stream ends.
    enum Ending: CaseIterable, Sendable {
        case complete, interrupted, left, released, cancelled, swiftTask, timedOut
    }

    @Test(arguments: Ending.allCases) func thePermitIsHeldUntilTheEnd(ending: Ending) async throws {
        let fixture = AgentFixture {
            $0.limits.total = 1
            $0.timeouts.total = ending == .timedOut ? .seconds(10) : nil
        }
        let last: ScriptedResponse.Step = ending == .interrupted ? .interruption : .text("b")
        fixture.transport.on(.get, "/feed", .stream(.text("a"), .hold(gate), last))
        fixture.transport.on(.get, "/next", .json("{}"))
        var stream: ResponseStream? = try await Feed().stream(on: fixture.agent)
        let task = try #require(stream?.task)
        try await gate.reached()
        var next = Plain("next").makeDescription()
        next.timeouts = Timeouts()
        let waiting = fixture.agent.start(next)
        try await fixture.untilQueued()
        #expect(fixture.transport.requestCount == 1)
        switch ending {
        case .complete, .interrupted:
            gate.open()
            _ = await stream?.readToEnd()
        case .left:
            if let stream { for try await _ in stream.bytes { break } }
        case .released: stream = nil
        case .cancelled: task.cancel()
        case .swiftTask:
            let work = Task { [stream] in await stream?.readToEnd() }
            work.cancel()
            _ = await work.value
        case .timedOut:
            try await fixture.clock.untilSleeping()
            fixture.clock.advance(by: .seconds(10))
        }
        // It gets the only permit.
        #expect(try await waiting.response().status == .ok)
        await task.untilEnded()
        try await fixture.transport.untilIdle()
        #expect(fixture.agent.activeTasks.isEmpty)
        withExtendedLifetime(stream) {}
    }

    @Test func aQueuedStreamIsSentByPriority() async throws {
        let fixture = AgentFixture { $0.limits.total = 1 }
        fixture.transport.on(.get, "/feed", .stream(.hold(gate)))
        for path in ["/low", "/high"] { fixture.transport.on(.get, path, .stream(.text(path))) }
        let first = try await Feed().stream(on: fixture.agent)
        let agent = fixture.agent
        let low = Task {
            try await PrioritizedRequest("low", .low).stream(on: agent).readToEnd().text
        }
        try await fixture.untilQueued(1)
        let high = Task {
            try await PrioritizedRequest("high", .high).stream(on: agent).readToEnd().text
        }
        try await fixture.untilQueued(2)
        gate.open()
        _ = await first.readToEnd()
        #expect(try await high.value == "/high")
        #expect(try await low.value == "/low")
        #expect(fixture.transport.requests.map(\.url.path) == ["/feed", "/high", "/low"])
    }

    @Test func aQueuedStreamCanBeCancelled() async throws {
        let fixture = AgentFixture { $0.limits.total = 1 }
        let first = try await fixture.feed(.hold(gate))
        let agent = fixture.agent
        let second = Task { try await Plain("second").stream(on: agent) }
        try await fixture.untilQueued()
        second.cancel()
        let error = await #expect(throws: RequestError.self) { try await second.value }
        #expect(error?.code == .cancelled && fixture.transport.requestCount == 1)
        gate.open()
        #expect(await first.readToEnd().error == nil)
    }

    @Test func activityCountsAStreamUntilItsEnd() async throws {
        let fixture = AgentFixture()
        var counts = fixture.agent.activity.makeAsyncIterator()
        #expect(await counts.next() == 0)
        let stream = try await fixture.feed(.text("a"), .hold(gate))
        #expect(await counts.next() == 1)
        #expect(fixture.agent.activity.current == 1)
        gate.open()
        _ = await stream.readToEnd()
        #expect(await counts.next() == 0)
    }

    @Test func progressCountsTheBody() async throws {
        let fixture = AgentFixture()
        let first = Gate()
        fixture.transport.on(
            .get, "/feed",
            .stream(length: 6, .text("abcd"), .hold(first), .text("ef"), .hold(gate)))
        let values = Mutex<[Int64]>([])
        let stream = try await InlineRequest("feed").stream(on: fixture.agent) { task in
            task.onProgress { progress in
                values.withLock { $0.append(progress.bytesReceived) }
            }
        }
        try await first.reached()
        #expect(stream.task.progress.current.bytesReceived == 4)
        #expect(stream.task.progress.current.totalBytesToReceive == 6)
        first.open()
        try await gate.reached()
        #expect(stream.task.progress.current.fractionReceived == 1)
        gate.open()
        #expect(await stream.readToEnd().text == "abcdef")
        // The last value comes before the end.
        #expect(values.withLock { $0.last } == 6)
        #expect(stream.task.progress.current.bytesReceived == 6)
    }

    @Test func theTotalIsKnownAtTheEndWithoutALength() async throws {
        let fixture = AgentFixture()
        let stream = try await fixture.feed(.text("abc"), .hold(gate))
        #expect(stream.task.progress.current.totalBytesToReceive == nil)
        gate.open()
        _ = await stream.readToEnd()
        #expect(stream.task.progress.current.totalBytesToReceive == 3)
    }

    @Test func eventsAreEmittedInOrder() async throws {
        let fixture = AgentFixture()
        var response = ScriptedResponse.stream(.text("a"), .hold(gate), .text("b"))
        response.timings.connected = .milliseconds(3)
        fixture.transport.on(.get, "/feed", response)
        let stream = try await Feed().stream(on: fixture.agent)
        try await gate.reached()
        let head = [
            "started", "adapted", "attemptStarted", "transferStarted", "headReceived",
            "validated", "attemptEnded",
        ]
        try await fixture.events.until { $0.count >= head.count }
        #expect(fixture.events.names == head)
        gate.open()
        _ = await stream.readToEnd()
        #expect(
            fixture.events.names == head + ["phase", "bodyReceived", "transferEnded", "ended"])
        let bytes = fixture.events.events.compactMap { event -> Int64? in
            if case .bodyReceived(_, let bytes) = event.kind { bytes } else { nil }
        }
        #expect(bytes == [2])
    }

    @Test func phasesOfAStream() async throws {
        let fixture = AgentFixture()
        let stream = try await fixture.feed(.text("a"), .hold(gate))
        #expect(stream.task.phase == .inFlight(attempt: 1))
        stream.task.suspend()
        #expect(stream.task.phase == .suspended)
        stream.task.resume()
        gate.open()
        _ = await stream.readToEnd()
        #expect(stream.task.phase == .ended)
    }
}
