import ErrandRecording
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandCore
@testable import ErrandInspector

/// Requests that start while no page is open.
@Suite("Inspector: no page is open", .limited)
struct ClosedPageTests {
    @Test func requestIsRecordedWithoutEvents() async throws {
        let fixture = InspectorFixture(isPageOpen: false)
        fixture.transport.on(.post, "/a", .json(#"{"n":1}"#))
        let task = fixture.agent.start(
            fixture.description("/a?page=2") {
                $0.method = .post
                $0.body = .string("body")
                $0.tag = 3
            })
        _ = await task.outcome()
        let request = try #require(fixture.recorder.record(1)?.request)
        #expect(request.outcome == .response(status: 200, source: .network))
        #expect(request.activity == .ended)
        #expect(request.end != nil)
        #expect(request.events.isEmpty)
        #expect(request.taskID == task.id)
        let transfer = try #require(request.transfers.first)
        #expect(transfer.attempt == 1)
        #expect(transfer.end != nil)
        #expect(transfer.messages.request.method == .post)
        #expect(transfer.messages.head?.status == .ok)
        #expect(transfer.messages.body.bytes == Data(#"{"n":1}"#.utf8))
        #expect(transfer.messages.started == request.date)
        #expect(fixture.recorder.bodyBytes == 11)

        let row = try await fixture.get("changes", ["since": "0"])["rows"][0]
        #expect(row["method"].string == "POST")
        #expect(row["url"].string == "https://api.example.com/a?page=2")
        #expect(row["state"].string == "done")
        #expect(row["tag"].int == 3)
        let detail = try await fixture.get("requests/1")
        #expect(detail["events"].count == 0)
        #expect(detail["eventsNote"].string?.hasPrefix("No events: ") == true)
        #expect(detail["canReplay"].bool == true)
    }

    @Test func noEventIsMade() async throws {
        let fixture = InspectorFixture(isPageOpen: false)
        fixture.transport.on(.get, "/a", .silence)
        let first = fixture.agent.start(fixture.description("/a"))
        #expect(!first.isObserved)
        _ = try await fixture.transport.nextRequest()
        // The page opens: later requests have events, this one has none.
        _ = try await fixture.get("state")
        let second = fixture.agent.start(fixture.description("/a"))
        #expect(second.isObserved)
        #expect(!first.isObserved)
        _ = try await fixture.transport.nextRequest()
        // The second one must not receive the permit of the first one.
        for task in [second, first] {
            task.cancel()
            _ = await task.outcome()
        }
        let requests = fixture.recorder.records.map(\.request)
        #expect(requests.map(\.outcome) == [.cancelled, .cancelled])
        #expect(requests.map(\.events.isEmpty) == [true, false])
        let detail = try await fixture.get("requests/2")
        #expect(detail["eventsNote"].string == nil)
    }

    @Test func pageCountsAsOpenForHalfAMinute() async {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/a", .json("{}"))
        fixture.clock.advance(by: .milliseconds(29_999))
        await fixture.run("/a")
        fixture.clock.advance(by: .milliseconds(1))
        await fixture.run("/a")
        #expect(fixture.recorder.records.map(\.request.events.isEmpty) == [false, true])
    }

    @Test func otherListenersStillReceiveEvents() async {
        let events = EventRecorder()
        let fixture = InspectorFixture(isPageOpen: false) { $0.eventListeners.append(events) }
        fixture.transport.on(.get, "/a", .json("{}"))
        await fixture.run("/a")
        #expect(events.events.isEmpty == false)
        #expect(fixture.recorder.record(1)?.request.events.isEmpty == true)
        #expect(fixture.recorder.record(1)?.request.outcome != nil)
    }

    @Test func readerOfATaskReceivesItsEvents() async {
        let fixture = InspectorFixture(isPageOpen: false)
        fixture.transport.on(.get, "/a", .json("{}"))
        var kinds = 0
        for await _ in fixture.agent.start(fixture.description("/a")).events() { kinds += 1 }
        #expect(kinds >= 1)
        #expect(fixture.recorder.record(1)?.request.events.isEmpty == true)
    }

    @Test func waitingTimesAreShownWithoutTheirReasons() async throws {
        let fixture = InspectorFixture(isPageOpen: false) {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .seconds(30))
        }
        fixture.transport.on(
            .get, "/a", ScriptedResponse(status: .serviceUnavailable), .json("{}"))
        let task = fixture.agent.start(fixture.description("/a"))
        try await fixture.clock.untilSleeping()
        let waiting = try #require(fixture.recorder.record(1)?.request)
        #expect(waiting.activity == .processing)
        let open = try #require(waiting.waterfall.first { $0.kind == .unknown })
        #expect(open.end == nil)
        fixture.clock.advance(by: .seconds(60))
        _ = await task.outcome()
        let request = try #require(fixture.recorder.record(1)?.request)
        #expect(request.transfers.map(\.attempt) == [1, 2])
        #expect(request.transfers.map(\.messages.head?.status.code) == [503, 200])
        let gap = try #require(request.waterfall.first { $0.kind == .unknown })
        #expect(gap.start == 0)
        #expect(gap.end == 60_000)
        #expect(request.waterfall.filter { $0.kind == .unknown }.count == 1)
    }

    @Test func cacheDecisionsAreKnown() async throws {
        let fixture = InspectorFixture(isPageOpen: false)
        fixture.transport.on(.get, "/a", .json(#"{"n":1}"#))
        for _ in 0..<2 {
            await fixture.run("/a") { $0.cacheSeconds = 60 }
            await fixture.agent.flushCache()
        }
        let requests = fixture.recorder.records.map(\.request)
        #expect(requests[0].cache == .miss(.noEntry))
        guard case .hit(_, .cacheFresh) = requests[1].cache else {
            Issue.record("\(String(describing: requests[1].cache))")
            return
        }
        #expect(requests[1].transfers.isEmpty)
        #expect(requests[1].response?.body.bytes == Data(#"{"n":1}"#.utf8))
        #expect(requests[1].waterfall.map(\.kind) == [.cache])
        let row = try await fixture.get("changes", ["since": "0"])["rows"][1]
        #expect(row["url"].string == "https://api.example.com/a")
        #expect(row["source"].string == "cacheFresh")
    }

    @Test func requestsInProgressAppearWhenAPageOpens() async throws {
        let fixture = InspectorFixture(isPageOpen: false) { $0.limits = RequestLimits(total: 1) }
        fixture.transport.on(.get, "/a", .silence)
        let first = fixture.agent.start(fixture.description("/a"))
        _ = try await fixture.transport.nextRequest()
        let second = fixture.agent.start(fixture.description("/b?token=hunter2"))
        while second.queueObstacle == nil { await Task.yield() }
        let changes = try await fixture.get("changes", ["since": "0"])
        let rows = changes["rows"].array ?? []
        #expect(rows.compactMap { $0["state"].string } == ["active", "waiting"])
        #expect(rows.compactMap { $0["url"].string } == ["https://api.example.com/a", "/b?…"])
        #expect(rows.last?["reason"].string == "All 1 permits are taken (limits.total)")
        let state = try await fixture.get("state")
        #expect(state["waiting"][0]["id"].int == 2)
        let revision = try #require(changes["revision"].int)
        try await fixture.post("requests/1/suspend")
        let suspended = try await fixture.get("changes", ["since": "\(revision)"])["rows"][0]
        #expect(suspended["reason"].string == "The task is suspended")
        // The second one must not receive the permit of the first one.
        for task in [second, first] {
            task.cancel()
            _ = await task.outcome()
        }
        let later = try await fixture.get("changes", ["since": "\(revision)"])["rows"]
        #expect(later.array?.compactMap { $0["state"].string } == ["cancelled", "cancelled"])
    }

    @Test func failureHasItsErrorWithoutResponse() async throws {
        let fixture = InspectorFixture(isPageOpen: false)
        fixture.transport.on(
            .get, "/a", .failure(RequestError(.connectionLost, stage: .transport, "x")))
        await fixture.run("/a")
        let request = try #require(fixture.recorder.record(1)?.request)
        guard case .failure(let error, nil) = request.outcome else {
            Issue.record("\(String(describing: request.outcome))")
            return
        }
        #expect(error.code == "connectionLost")
        #expect(request.transfers.first?.messages.head == nil)
        #expect(request.transfers.first?.messages.end.error?.code == .connectionLost)
    }

    @Test func rulesApply() async throws {
        let fixture = InspectorFixture(isPageOpen: false)
        fixture.transport.on(.get, "/a", .json("{}"))
        var rule = TransferRule(id: "1", pattern: "*", action: .throttle)
        rule.latency = 200
        fixture.recorder.rules.replace([rule])
        let task = fixture.agent.start(fixture.description("/a"))
        try await fixture.clock.untilSleeping()
        #expect(fixture.recorder.record(1)?.request.activity == .throttled)
        fixture.clock.advance(by: .milliseconds(200))
        _ = try await task.response()
        let transfers = try #require(fixture.recorder.record(1)?.request.transfers)
        #expect(transfers.count == 1)
        #expect(transfers.first?.rules == ["throttle *"])
        #expect(transfers.first?.messages.head?.status == .ok)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func parallelRequestsAreNotMixed() async throws {
        let fixture = InspectorFixture(isPageOpen: false)
        fixture.transport.on(.get, nil, .json("{}"))
        let tasks = (0..<20).map { fixture.agent.start(fixture.description("/\($0)")) }
        for task in tasks { _ = await task.outcome() }
        let requests = fixture.recorder.records.map(\.request)
        #expect(requests.map(\.transfers.count) == Array(repeating: 1, count: 20))
        #expect(
            requests.map { $0.transfers[0].messages.request.url.path }
                == (0..<20).map { "/\($0)" })
    }
}
