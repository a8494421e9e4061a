import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// `RequestTask.record`.
@Suite(.limited) struct TaskRecordTests {
    private let fixture = AgentFixture { $0.eventListeners = [] }

    private func description(_ change: (inout RequestDescription) -> Void = { _ in })
        -> RequestDescription
    {
        var description = RequestDescription(endpoint: "GetUser", url: "/users?token=secret")
        description.tag = 4
        change(&description)
        return description
    }

    @Test func recordOfASuccess() async throws {
        var response = ScriptedResponse.json(#"{"id": 7}"#)
        response.timings.firstByte = .milliseconds(3)
        response.timings.bytesReceived = 9
        fixture.transport.on(.get, "/users", response)
        let task = fixture.agent.start(description())
        _ = try await task.response()
        let record = task.record
        #expect(record.id == task.id && record.endpoint == "GetUser" && record.tag == 4)
        #expect(record.state == .succeeded && record.status == 200 && record.error == nil)
        #expect(record.method == "GET" && record.attempts == 1 && record.source == "network")
        #expect(record.url?.hasPrefix("https://api.example.com/users") == true)
        #expect(record.transfers.map(\.firstByte) == [.milliseconds(3)])
        #expect(record.bytesReceived == 9)
        let text = String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
        #expect(!text.contains("secret"))
    }

    @Test func recordOfARunningTask() async throws {
        let gate = Gate()
        fixture.transport.on(.get, "/users", ScriptedResponse.json("{}").held(by: gate))
        let task = fixture.agent.start(description())
        try await gate.reached()
        fixture.clock.advance(by: .seconds(2))
        let record = task.record
        #expect(record.state == .running && record.attempts == 1 && record.status == nil)
        #expect(record.duration == .seconds(2) && record.transfers.isEmpty)
        #expect(record.startedAt == fixture.clock.now - 2)
        gate.open()
        _ = try await task.response()
        fixture.clock.advance(by: .seconds(5))
        #expect(task.record.duration == .seconds(2), "the time after the end does not count")
        #expect(task.record.startedAt == fixture.clock.now - 7)
    }

    @Test func recordOfAFailureHasItsEarlierErrors() async throws {
        fixture.transport.on(
            .get, "/users",
            ScriptedResponse(steps: [
                .fail(RequestError(.cannotConnect, stage: .transport, "Refused."))
            ]), ScriptedResponse(status: .notFound))
        let task = fixture.agent.start(
            description { $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .zero) })
        _ = await task.untilEnded()
        let record = task.record
        #expect(record.state == .failed && record.attempts == 2 && record.status == 404)
        #expect(record.error?.code == .unacceptableStatus)
        #expect(record.error?.previousErrors.map(\.code) == [.cannotConnect])
    }

    @Test func recordOfACancelledTask() async throws {
        let gate = Gate()
        fixture.transport.on(.get, "/users", ScriptedResponse.json("{}").held(by: gate))
        let task = fixture.agent.start(description())
        try await gate.reached()
        task.cancel()
        await task.untilEnded()
        #expect(task.record.state == .cancelled && task.record.error?.code == .cancelled)
        gate.open()
    }

    @Test func decisionOfTheCacheIsInTheRecord() async throws {
        fixture.transport.on(.get, "/users", ScriptedResponse.json("{}"))
        let tasks = [0, 1].map { _ in description { $0.cacheSeconds = 60 } }
        let first = fixture.agent.start(tasks[0])
        _ = try await first.response()
        await fixture.agent.flushCache()
        let second = fixture.agent.start(tasks[1])
        _ = try await second.response()
        #expect(first.record.cacheMiss == "noEntry" && first.record.source == "network")
        #expect(second.record.cacheMiss == nil && second.record.source == "cacheFresh")
        #expect(second.record.attempts == 0 && second.record.transfers.isEmpty)
    }

    @Test func recordIsDecodedAsItWas() async throws {
        fixture.transport.on(.get, "/users", ScriptedResponse(status: .notFound))
        let task = fixture.agent.start(description())
        await task.untilEnded()
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(task.record)
        let decoded = try JSONDecoder().decode(RequestTask.Record.self, from: data)
        #expect(try encoder.encode(decoded) == data)
        #expect(
            decoded.startedAt == task.record.startedAt && decoded.duration == task.record.duration)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["state"] as? String == "failed" && object["method"] as? String == "GET")
    }
}
