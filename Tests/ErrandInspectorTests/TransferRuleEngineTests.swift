import ErrandCore
import ErrandRecording
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandInspector

@Suite("Inspector: rules of transfers", .limited)
struct TransferRuleEngineTests {
    @Test func mockIsDeliveredWithoutTheNetwork() async throws {
        let fixture = InspectorFixture()
        var rule = TransferRule(id: "1", pattern: "/a", action: .mock)
        rule.status = 201
        rule.headers = [.init(name: "X-Made", value: "yes")]
        rule.body = #"{"n":1}"#
        fixture.recorder.rules.replace([rule])
        let response = try await fixture.agent.start(fixture.description("/a")).response()
        #expect(response.status == 201)
        #expect(response.data == Data(#"{"n":1}"#.utf8))
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[HTTPField.Name("X-Made")!] == "yes")
        #expect(fixture.transport.requestCount == 0)
        let transfer = try #require(fixture.recorder.record(1)?.request.transfers.first)
        #expect(transfer.isSimulated)
        #expect(transfer.rules == ["mock /a: 201"])
        #expect(transfer.messages.head?.status == 201)
    }

    @Test func mockIsValidatedAndStoredLikeAResponse() async throws {
        let fixture = InspectorFixture()
        var rule = TransferRule(id: "1", pattern: "/a", action: .mock)
        rule.body = "no JSON"
        fixture.recorder.rules.replace([rule])
        #expect(
            await fixture.run("/a") { $0.acceptance.format = .json }?.code
                == .unacceptableContentType)
        rule.body = "{}"
        fixture.recorder.rules.replace([rule])
        #expect(await fixture.run("/a") { $0.cacheSeconds = 60 } == nil)
        await fixture.agent.flushCache()
        fixture.recorder.rules.replace([])
        #expect(await fixture.run("/a") { $0.cacheSeconds = 60 } == nil)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func limitedFaultIsRetried() async throws {
        let fixture = InspectorFixture {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .zero)
        }
        fixture.transport.on(.get, "/a", .json("{}"))
        var rule = TransferRule(id: "1", pattern: "*", action: .fault)
        rule.fault = .connectionLost
        rule.limit = 2
        fixture.recorder.rules.replace([rule])
        let response = try await fixture.agent.start(fixture.description("/a")).response()
        #expect(response.attempts == 3)
        #expect(fixture.transport.requestCount == 1)
        let transfers = try #require(fixture.recorder.record(1)?.request.transfers)
        #expect(transfers.map(\.isSimulated) == [true, true, false])
    }

    @Test(arguments: TransferRule.Fault.allCases)
    func faultHasTheCode(fault: TransferRule.Fault) async {
        let fixture = InspectorFixture()
        var rule = TransferRule(id: "1", pattern: "*", action: .fault)
        rule.fault = fault
        fixture.recorder.rules.replace([rule])
        let error = await fixture.run("/a")
        #expect(error?.code.description == fault.rawValue)
        #expect(error?.message.contains("simulated") == true)
    }

    @Test func throttleDelaysTheRequestAndSlowsTheResponse() async throws {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/a", .json("\"" + String(repeating: "x", count: 248) + "\""))
        var rule = TransferRule(id: "1", pattern: "*", action: .throttle)
        rule.latency = 200
        rule.bytesPerSecond = 1000
        fixture.recorder.rules.replace([rule])
        let task = fixture.agent.start(fixture.description("/a"))
        try await fixture.clock.untilSleeping()
        #expect(fixture.recorder.record(1)?.request.activity == .throttled)
        fixture.clock.advance(by: .milliseconds(199))
        #expect(fixture.transport.requestCount == 0)
        fixture.clock.advance(by: .milliseconds(1))
        for bytes in [Int64(125), 250] {
            try await fixture.clock.untilSleeping()
            #expect(task.progress.current.bytesReceived == bytes)
            #expect(fixture.recorder.rules.paceCount == 1)
            #expect(fixture.recorder.record(1)?.request.activity == .transferring)
            fixture.clock.advance(by: .milliseconds(125))
        }
        #expect(try await task.response().data.count == 250)
        let request = try #require(fixture.recorder.record(1)?.request)
        #expect(request.transfers.first?.rules == ["throttle *"])
        #expect(request.transfers.first?.delays.map(\.isHeld) == [false])
        let bars = request.waterfall.filter { $0.attempt == 1 }
        #expect(bars.map(\.kind) == [.rule, .transfer])
        #expect(bars.map { ($0.end ?? 0) - $0.start } == [200, 250])
        #expect(fixture.recorder.rules.paceCount == 0)
    }

    @Test func throttledMockTakesTheTimeOfBothBodies() async throws {
        let fixture = InspectorFixture()
        var throttle = TransferRule(id: "1", pattern: "*", action: .throttle)
        throttle.bytesPerSecond = 1000
        var mock = TransferRule(id: "2", pattern: "*", action: .mock)
        mock.body = "\"" + String(repeating: "x", count: 98) + "\""
        fixture.recorder.rules.replace([throttle, mock])
        let task = fixture.agent.start(
            fixture.description("/a") {
                $0.method = .post
                $0.body = .data(Data(count: 300))
            })
        for time in [300, 100] {
            try await fixture.clock.untilSleeping()
            fixture.clock.advance(by: .milliseconds(time))
        }
        #expect(try await task.response().data.count == 100)
        let request = try #require(fixture.recorder.record(1)?.request)
        #expect(request.transfers.map(\.isSimulated) == [true])
        let bars = request.waterfall.filter { $0.attempt == 1 }
        #expect(bars.map(\.kind) == [.rule, .receive])
        #expect(bars.map { ($0.end ?? 0) - $0.start } == [300, 100])
    }

    @Test func heldTransferIsContinued() async throws {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/a", .json("{}"))
        fixture.recorder.rules.replace([TransferRule(id: "1", pattern: "*", action: .pause)])
        let task = fixture.agent.start(fixture.description("/a"))
        _ = await fixture.until { $0.activity == .held }
        while fixture.recorder.rules.heldRequests.isEmpty { await Task.yield() }
        #expect(fixture.recorder.rules.heldRequests == [1])
        #expect(fixture.transport.requestCount == 0)
        try await fixture.post("requests/1/proceed")
        _ = try await task.response()
        #expect(fixture.recorder.rules.heldRequests.isEmpty)
        #expect(fixture.recorder.record(1)?.request.transfers.first?.delays.first?.isHeld == true)
        try await fixture.post("requests/1/proceed", status: 409)
    }

    @Test func heldTransferFails() async throws {
        let fixture = InspectorFixture()
        fixture.recorder.rules.replace([TransferRule(id: "1", pattern: "*", action: .pause)])
        let task = fixture.agent.start(fixture.description("/a"))
        while fixture.recorder.rules.heldRequests.isEmpty { await Task.yield() }
        try await fixture.post("requests/1/fail")
        #expect(await task.outcome().error?.code == .connectionLost)
    }

    @Test func heldTransferIsCancelledWithItsRequest() async {
        let fixture = InspectorFixture()
        fixture.recorder.rules.replace([TransferRule(id: "1", pattern: "*", action: .pause)])
        let task = fixture.agent.start(fixture.description("/a"))
        while fixture.recorder.rules.heldRequests.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await task.outcome().error?.code == .cancelled)
        #expect(fixture.recorder.rules.heldRequests.isEmpty)
    }

    @Test func stopContinuesHeldTransfers() async {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/a", .json("{}"))
        fixture.recorder.rules.replace([TransferRule(id: "1", pattern: "*", action: .pause)])
        let task = fixture.agent.start(fixture.description("/a"))
        while fixture.recorder.rules.heldRequests.isEmpty { await Task.yield() }
        fixture.recorder.rules.releaseAll()
        #expect(await task.outcome().error == nil)
    }
}
