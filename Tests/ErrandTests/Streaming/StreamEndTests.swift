import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The ends of a stream that its reader does not cause.
@Suite(.limited) struct StreamEndTests {
    private let gate = Gate()

    @Test func theResponseOfTheTaskHasTrailersAndTimings() async throws {
        let fixture = AgentFixture()
        var response = ScriptedResponse.stream(.text("a"), .text("b"))
        let name = try #require(HTTPField.Name("X-Sum"))
        response.trailers = [name: "2"]
        response.timings.firstByte = .milliseconds(5)
        response.timings.finished = .milliseconds(9)
        fixture.transport.on(.get, "/feed", response)
        let stream = try await Feed().stream(on: fixture.agent)
        #expect(stream.response.trailers.isEmpty)
        #expect(await stream.readToEnd().text == "ab")
        let end = try await stream.task.response()
        #expect(end.trailers[name] == "2" && end.timings.count == 1)
        #expect(end.timings.last?.finished == .milliseconds(9))
        #expect(end.isStreamed && end.data.isEmpty && end.headers[.contentType] == "text/plain")
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func anEmptyBodyEndsAtOnce() async throws {
        let fixture = AgentFixture()
        let stream = try await fixture.feed()
        let reading = await stream.readToEnd()
        #expect(reading.chunks == 0 && reading.error == nil)
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test(arguments: [0, 1, 5, 64 << 10, 100_000])
    func theBytesComeBeforeTheInterruption(count: Int) async throws {
        let fixture = AgentFixture()
        let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let stream = try await fixture.feed(.bytes(body), .hold(gate), .interruption)
        let reading = Task { await stream.readToEnd() }
        gate.open()
        let result = await reading.value
        #expect(result.bytes == body)
        let error = try #require(result.error)
        #expect(error.code == .connectionLost && error.bytesReceived == Int64(count))
        #expect(error.endpoint == "Feed" && error.message.contains("after \(count) bytes"))
        #expect(error.response?.status == .ok && error.response?.data.isEmpty == true)
        #expect(error.response?.headers[.contentType] == "text/plain")
        let end = await #expect(throws: RequestError.self) { try await stream.task.response() }
        #expect(end?.bytesReceived == Int64(count))
        try await fixture.expectOneEnd(stream.task, .connectionLost)
    }

    @Test func userMessageAppliesToAnInterruption() async throws {
        let fixture = AgentFixture {
            $0.userMessage = { $0.code == .connectionLost ? "Try again." : nil }
        }
        let stream = try await fixture.feed(.text("a"), .interruption)
        #expect(await stream.readToEnd().error?.localizedDescription == "Try again.")
    }

    @Test func theEndIsRepeated() async throws {
        let fixture = AgentFixture()
        let stream = try await fixture.feed(.text("a"))
        var iterator = stream.bytes.makeAsyncIterator()
        #expect(try await iterator.next() != nil)
        for _ in 0..<3 { #expect(try await iterator.next() == nil) }
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func drainingShutdownWaitsForTheStream() async throws {
        let fixture = AgentFixture()
        let stream = try await fixture.feed(.text("a"), .hold(gate), .text("b"))
        let shutdown = Task { await fixture.agent.shutdown() }
        try await gate.reached()
        var iterator = stream.bytes.makeAsyncIterator()
        #expect(try await iterator.next() == Data("a".utf8))
        #expect(!fixture.agent.activeTasks.isEmpty)
        gate.open()
        #expect(try await iterator.next() == Data("b".utf8))
        #expect(try await iterator.next() == nil)
        await shutdown.value
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func shutdownWithoutDrainingInterruptsTheStream() async throws {
        let fixture = AgentFixture()
        let stream = try await fixture.feed(.text("a"), .hold(gate))
        try await gate.reached()
        await fixture.agent.shutdown(draining: false)
        let reading = await stream.readToEnd()
        // The bytes that had arrived come first.
        #expect(reading.text == "a" && reading.error?.code == .agentShutDown)
        #expect(reading.error?.bytesReceived == 1)
        try await fixture.expectOneEnd(stream.task, .agentShutDown)
    }

    @Test func theTotalLimitCountsUntilTheEnd() async throws {
        let fixture = AgentFixture { $0.timeouts.total = .seconds(10) }
        let stream = try await fixture.feed(.text("abc"), .hold(gate))
        try await gate.reached()
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(10))
        let end = await #expect(throws: RequestError.self) { try await stream.task.response() }
        #expect(end?.timeout == .total && end?.bytesReceived == 3)
        let reading = await stream.readToEnd()
        #expect(reading.text == "abc")
        #expect(reading.error?.timeout == .total && reading.error?.bytesReceived == 3)
        #expect(reading.error?.endpoint == "Feed")
        try await fixture.expectOneEnd(stream.task, .timedOut)
    }

    @Test func theTotalLimitWakesAWaitingReader() async throws {
        let fixture = AgentFixture { $0.timeouts.total = .seconds(10) }
        let stream = try await fixture.feed(.hold(gate))
        let reading = Task { await stream.readToEnd() }
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .seconds(10))
        #expect(await reading.value.error?.timeout == .total)
        try await fixture.expectOneEnd(stream.task, .timedOut)
    }

    @Test func theAttemptTimeoutEndsWithTheHead() async throws {
        let fixture = AgentFixture {
            $0.retryPolicy = RetryPolicy(
                maximumAttempts: 1, baseDelay: .zero, attemptTimeout: .seconds(1))
        }
        let stream = try await fixture.feed(.hold(gate), .text("late"))
        fixture.clock.advance(by: .seconds(60))
        gate.open()
        #expect(await stream.readToEnd().text == "late")
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func aSecondReadIsRefusedAndLeavesTheFirst() async throws {
        let fixture = AgentFixture()
        let stream = try await fixture.feed(.text("a\n"), .hold(gate), .text("b\n"))
        var lines = stream.lines.makeAsyncIterator()
        #expect(try await lines.next() == "a")
        let error = await stream.readToEnd().error
        #expect(error?.code == .invalidCombination && error?.endpoint == "Feed")
        #expect(error?.response?.status == .ok)
        gate.open()
        // The first reader goes on.
        #expect(try await lines.next() == "b")
        #expect(try await lines.next() == nil)
        #expect(await stream.readToEnd().error?.code == .invalidCombination)
        try await fixture.expectOneEnd(stream.task, nil)
    }

    @Test func anIteratorThatIsNotUsedLeavesTheStream() async throws {
        let fixture = AgentFixture()
        let stream = try await fixture.feed(.hold(gate), .text("body"))
        _ = stream.lines.makeAsyncIterator()
        _ = stream.serverSentEvents.makeAsyncIterator()
        gate.open()
        #expect(await stream.readToEnd().text == "body")
        try await fixture.expectOneEnd(stream.task, nil)
    }
}
