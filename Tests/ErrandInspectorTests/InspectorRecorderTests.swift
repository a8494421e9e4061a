import ErrandCore
import ErrandRecording
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

@testable import ErrandInspector

@Suite("Inspector: recorder", .limited)
struct InspectorRecorderTests {
    @Test func requestIsRecordedWithItsTransfer() async throws {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/issues/4", .json(#"{"title":"A"}"#))
        await fixture.run("/issues/4?page=2")
        let request = try #require(fixture.recorder.record(1)?.request)
        #expect(request.endpoint == "GetIssue")
        #expect(request.method == .get)
        #expect(request.shortURL == "https://api.example.com/issues/4")
        #expect(request.outcome == .response(status: 200, source: .network))
        #expect(request.activity == .ended)
        #expect(request.transfers.count == 1)
        let transfer = try #require(request.transfers.first)
        #expect(transfer.messages.request.url.string == "https://api.example.com/issues/4?page=2")
        #expect(transfer.messages.head?.status == .ok)
        #expect(transfer.messages.body.bytes == Data(#"{"title":"A"}"#.utf8))
        #expect(transfer.end != nil)
        #expect(request.response == nil)
    }

    @Test func everyAttemptAndRedirectIsATransfer() async throws {
        let fixture = InspectorFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .seconds(30))
        }
        fixture.transport.on(
            .get, "/a", ScriptedResponse(status: .serviceUnavailable),
            ScriptedResponse(status: .found, headers: [.location: "/b"]))
        fixture.transport.on(.get, "/b", .json("{}"))
        let task = fixture.agent.start(fixture.description("/a"))
        try await fixture.clock.untilSleeping()
        let waiting = await fixture.until { if case .delayed = $0.activity { true } else { false } }
        #expect(
            waiting.waitReason(now: fixture.clock.uptime, obstacle: nil)?
                .hasPrefix("Waits before the next attempt") == true)
        fixture.clock.advance(by: .seconds(60))
        _ = await task.outcome()
        let request = try #require(fixture.recorder.record(1)?.request)
        #expect(request.transfers.map(\.messages.head?.status.code) == [503, 302, 200])
        #expect(request.transfers.map(\.attempt) == [1, 2, 2])
        let delay = try #require(request.waterfall.first { $0.kind == .delay })
        #expect(delay.start == 0)
        #expect(delay.end == 60_000)
    }

    @Test func failureHasItsErrorAndNoResponseInItsEvents() async throws {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/a", .json(#"{"message":"no"}"#, status: .notFound))
        await fixture.run("/a")
        let request = try #require(fixture.recorder.record(1)?.request)
        guard case .failure(let error, let status) = request.outcome else {
            Issue.record("no failure")
            return
        }
        #expect(error.code == "unacceptableStatus")
        #expect(status == 404)
        let errors = request.events.compactMap { event -> RequestError? in
            switch event.kind {
            case .ended(let error), .validated(let error), .attemptEnded(_, _, let error): error
            default: nil
            }
        }
        #expect(errors.count >= 2)
        #expect(errors.allSatisfy { $0.response == nil })
        #expect(request.transfers.first?.messages.body.bytes.isEmpty == false)
    }

    @Test func cancellationIsNoFailure() async throws {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/a", .silence)
        let task = fixture.agent.start(fixture.description("/a"))
        _ = try await fixture.transport.nextRequest()
        task.cancel()
        _ = await task.outcome()
        #expect(fixture.recorder.record(1)?.request.outcome == .cancelled)
    }

    @Test func storedResponseIsRecordedWithoutTransfer() async throws {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/a", .json(#"{"n":1}"#))
        for _ in 0..<2 {
            await fixture.run("/a") { $0.cacheSeconds = 60 }
            await fixture.agent.flushCache()
        }
        let first = try #require(fixture.recorder.record(1)?.request)
        let second = try #require(fixture.recorder.record(2)?.request)
        guard case .stored = first.cache else {
            Issue.record("\(String(describing: first.cache))")
            return
        }
        guard case .hit(_, .cacheFresh) = second.cache else {
            Issue.record("\(String(describing: second.cache))")
            return
        }
        #expect(second.transfers.isEmpty)
        #expect(second.response?.body.bytes == Data(#"{"n":1}"#.utf8))
        #expect(second.waterfall.map(\.kind) == [.cache])
    }

    @Test func oldestRequestsAreRemoved() async {
        let fixture = InspectorFixture(limits: .init(requests: 3))
        fixture.transport.on(.get, "/a", .json("{}"))
        for _ in 0..<5 { await fixture.run("/a") }
        #expect(fixture.recorder.records.map(\.id) == [3, 4, 5])
        #expect(fixture.recorder.firstID == 3)
        #expect(fixture.recorder.record(2) == nil)
    }

    @Test func bodiesAboveTheMemoryLimitAreRemoved() async throws {
        let fixture = InspectorFixture(limits: .init(bodyBytes: 600, memory: 1000))
        let text = "\"" + String(repeating: "x", count: 498) + "\""
        fixture.transport.on(nil, "/a", .json(text))
        for _ in 0..<3 {
            await fixture.run("/a") {
                $0.method = .post
                $0.body = .string("body")
            }
        }
        #expect(fixture.recorder.bodyBytes == 504)
        let dropped = try #require(fixture.recorder.record(2)?.request.transfers.first)
        #expect(dropped.messages.body.count == 500)
        #expect(dropped.messages.body.bytes.isEmpty)
        #expect(dropped.messages.body.problem == InspectedTransfer.dropped)
        #expect(dropped.messages.streamedBody?.count == 4)
        #expect(!Replay.isPossible(dropped))
        let kept = try #require(fixture.recorder.record(3)?.request)
        #expect(kept.transfers.map(\.bodyBytes) == [504])
    }

    @Test func bodyAboveItsLimitIsNotKept() async throws {
        let fixture = InspectorFixture(limits: .init(bodyBytes: 10))
        fixture.transport.on(nil, "/a", .json(#"{"long":"text"}"#))
        await fixture.run("/a") {
            $0.method = .post
            $0.body = .string("longer than ten bytes")
        }
        let transfer = try #require(fixture.recorder.record(1)?.request.transfers.first)
        #expect(transfer.bodyBytes == 0)
        #expect(transfer.messages.body.problem?.contains("limit of 10 bytes") == true)
        #expect(transfer.messages.streamedBody?.count == 21)
        #expect(fixture.recorder.bodyBytes == 0)
    }

    @Test func eventsOfARequestAreBounded() {
        var request = InspectedRequest(
            1,
            InspectedStart(
                taskID: UUID(), endpoint: "A", tag: 0, method: .get, url: "", priority: .normal,
                date: Date(), time: .zero, observesEvents: true))
        for _ in 0..<1000 {
            request.read(
                RequestEvent(
                    taskID: UUID(), endpoint: "A", tag: 0, uptime: .seconds(1),
                    kind: .credentialsRenewed))
        }
        request.read(
            RequestEvent(
                taskID: UUID(), endpoint: "A", tag: 0, uptime: .seconds(2), kind: .ended(.cancelled)
            ))
        #expect(request.events.count == InspectedRequest.maximumEvents + 1)
        #expect(request.omittedEvents == 1000 - InspectedRequest.maximumEvents)
        #expect(request.events.last?.isEnd == true)
    }

    @Test func clearedRecorderContinuesItsNumbers() async {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/a", .json("{}"))
        await fixture.run("/a")
        fixture.recorder.clear()
        #expect(fixture.recorder.records.isEmpty)
        #expect(fixture.recorder.bodyBytes == 0)
        await fixture.run("/a")
        #expect(fixture.recorder.records.map(\.id) == [2])
    }

    @Test func waiterIsResumedByAChangeAndByCancellation() async {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/a", .json("{}"))
        let revision = fixture.recorder.revision
        let waiter = Task { await fixture.recorder.change(after: revision) }
        await fixture.run("/a")
        await waiter.value
        let latest = fixture.recorder.revision
        #expect(latest > revision)
        let abandoned = Task { await fixture.recorder.change(after: latest) }
        abandoned.cancel()
        await abandoned.value
    }
}
