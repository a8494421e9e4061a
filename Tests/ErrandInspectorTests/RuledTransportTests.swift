import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandInspector

/// Single transfers under rules, on a clock that the test advances.
@Suite("Inspector: rules while bytes pass", .limited)
struct RuledTransportTests {
    private let clock = ManualClock()
    private let scripted = ScriptedTransport()
    private let text: HTTPFields = [.contentType: "text/plain"]

    private func transport(
        bytesPerSecond: Int? = nil, _ pace: TransferPace? = nil, result: TransferRule? = nil
    ) -> RuledTransport {
        var plan = TransferRules.Plan()
        plan.bytesPerSecond = bytesPerSecond
        plan.result = result
        return RuledTransport(
            inner: scripted, plan: plan,
            pace: pace ?? bytesPerSecond.map { TransferPace(bytesPerSecond: $0, clock: clock) },
            clock: clock)
    }

    private func request(_ method: HTTPMethod = .get, body: HTTPBody? = nil) -> TransportRequest {
        var request = TransportRequest(
            url: HTTPURL(scheme: "http", host: "example.com", path: "/a"))
        request.method = method
        request.body = body
        return request
    }

    private func mock(_ body: String, status: Int = 200) -> TransferRule {
        var rule = TransferRule(id: "1", pattern: "*", action: .mock)
        (rule.status, rule.body) = (status, body)
        return rule
    }

    private static let step = Duration.milliseconds(125)

    /// Advances the clock by an eighth of a second at each wait, and returns the bytes at these times.
    private func steps(
        _ count: Int, _ bytes: @Sendable () -> Int64
    ) async throws -> [Int64] {
        var numbers: [Int64] = []
        for _ in 0..<count {
            try await clock.untilSleeping()
            numbers.append(bytes())
            clock.advance(by: Self.step)
        }
        return numbers
    }

    @Test func responseArrivesWithItsSpeed() async throws {
        let body = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
        scripted.on(.get, "/a", ScriptedResponse(headers: text, body: body))
        let receiver = RecordingReceiver()
        let transfer = transport(bytesPerSecond: 1000).start(request(), receiver: receiver)
        let numbers = try await steps(8) { receiver.record.received }
        #expect(numbers == (1...8).map { $0 * 125 })
        let record = try await receiver.ended()
        #expect(record.body == body && record.end?.error == nil && record.violations.isEmpty)
        #expect(clock.uptime == .seconds(1))
        withExtendedLifetime(transfer) {}
    }

    @Test func transfersOfARequestShareItsSpeed() async throws {
        scripted.on(.get, "/a", ScriptedResponse(headers: text, body: Data(count: 500)))
        let pace = TransferPace(bytesPerSecond: 1000, clock: clock)
        let receivers = [RecordingReceiver(), RecordingReceiver()]
        let transfers = receivers.map { transport(pace).start(request(), receiver: $0) }
        let driver = Task { [clock] in
            while true {
                try await clock.untilSleeping()
                clock.advance(by: .milliseconds(1))
            }
        }
        for receiver in receivers { #expect(try await receiver.ended().body.count == 500) }
        driver.cancel()
        #expect(clock.uptime >= .seconds(1))
        withExtendedLifetime(transfers) {}
    }

    @Test func pausedReceiverGetsNothing() async throws {
        scripted.on(.get, "/a", ScriptedResponse(headers: text, body: Data(count: 300)))
        let receiver = RecordingReceiver { $0.received == 125 ? .pause : .more }
        let transfer = transport(bytesPerSecond: 1000).start(request(), receiver: receiver)
        #expect(try await steps(1) { receiver.record.received } == [125])
        // The wait has ended, the pause has not.
        while clock.sleepers > 0 { await Task.yield() }
        transfer.resumeReceiving()
        #expect(try await steps(2) { receiver.record.received } == [250, 300])
        let record = try await receiver.ended()
        #expect(record.received == 300 && record.ends == 1 && record.end?.error == nil)
    }

    @Test func cancellationEndsTheWait() async throws {
        scripted.on(.get, "/a", ScriptedResponse(headers: text, body: Data(count: 300)))
        let receiver = RecordingReceiver()
        let transfer = transport(bytesPerSecond: 1000).start(request(), receiver: receiver)
        try await clock.untilSleeping()
        transfer.cancel()
        let record = try await receiver.ended()
        #expect(record.received == 125 && record.ends == 1)
        #expect(record.end?.error?.code == .cancelled)
        #expect(clock.sleepers == 0)
    }

    @Test(arguments: ["data", "stream", "parts"])
    func bodyIsSentWithItsSpeed(kind: String) async throws {
        scripted.on(.post, "/a", ScriptedResponse(status: .noContent))
        let data = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0) })
        let body: HTTPBody =
            switch kind {
            case "data": .data(data)
            case "stream":
                .stream(length: 1000) {
                    AsyncStream { continuation in
                        continuation.yield(data)
                        continuation.finish()
                    }
                }
            default: .multipart(MultipartBody([.init(name: "a", body: .data(data))]))
            }
        let receiver = RecordingReceiver()
        let length = body.lengthToSend
        let transfer = transport(bytesPerSecond: 1000).start(
            request(.post, body: body), receiver: receiver)
        let sent = try await scripted.nextRequest()
        #expect(sent.body?.lengthToSend == length && sent.body?.isReplayable == true)
        #expect(sent.body?.contentType == body.contentType)
        let read = Task { try await sent.collectedBody() }
        let chunks = Int((try #require(length) + 124) / 125)
        // The first chunk does not wait.
        for _ in 1..<chunks {
            try await clock.untilSleeping()
            clock.advance(by: Self.step)
        }
        let bytes = try await read.value
        #expect(Int64(bytes.count) == length && bytes.range(of: data) != nil)
        #expect(clock.uptime == Self.step * (chunks - 1))
        _ = try await receiver.ended()
        withExtendedLifetime(transfer) {}
    }

    @Test func cancelledBodyReadsNoMore() async throws {
        let waiting = HTTPBody.stream { AsyncStream<Data> { _ in } }
        let pace = TransferPace(bytesPerSecond: 1000, clock: clock)
        let chunks = PacedChunks(source: try waiting.makeSource(), pace: pace)
        let read = Task {
            for try await _ in chunks { Issue.record("unexpected bytes") }
        }
        read.cancel()
        await #expect(throws: CancellationError.self) { try await read.value }
    }

    @Test func bodyThatCannotBeSentAgainStaysSo() throws {
        let pace = TransferPace(bytesPerSecond: 1000, clock: clock)
        let once = HTTPBody.stream(isReplayable: false) { AsyncStream<Data> { $0.finish() } }
        #expect(!once.paced(by: pace).isReplayable)
        let parts = HTTPBody.multipart(MultipartBody([.init(name: "a", body: once)]))
        #expect(!parts.paced(by: pace).isReplayable)
        #expect(HTTPBody.string("a").paced(by: pace).isReplayable)
    }

    @Test func mockIsDeliveredWithItsSpeed() async throws {
        let receiver = RecordingReceiver()
        let text = String(repeating: "x", count: 250)
        let transfer = transport(bytesPerSecond: 1000, result: mock(text)).start(
            request(), receiver: receiver)
        let numbers = try await steps(2) { receiver.record.received }
        #expect(numbers == [125, 250])
        let record = try await receiver.ended()
        #expect(record.body == Data(text.utf8) && record.violations.isEmpty)
        #expect(record.head?.headers[.contentLength] == "250")
        #expect(record.head?.headers[.contentType] == "text/plain; charset=utf-8")
        #expect(scripted.requestCount == 0)
        withExtendedLifetime(transfer) {}
    }

    @Test func mockWaitsForItsReceiver() async throws {
        let receiver = RecordingReceiver(demand: { _ in .pause })
        let transfer = transport(result: mock("text")).start(request(), receiver: receiver)
        #expect(receiver.record.received == 4 && receiver.record.ends == 0)
        transfer.resumeReceiving()
        #expect(receiver.record.ends == 1 && receiver.record.end?.error == nil)
    }

    @Test func mockOfHeadHasNoBody() {
        let receiver = RecordingReceiver()
        _ = transport(result: mock("text")).start(request(.head), receiver: receiver)
        #expect(receiver.record.received == 0 && receiver.record.ends == 1)
        #expect(receiver.record.head?.headers[.contentLength] == "4")
    }

    @Test func faultCutsTheBody() async throws {
        scripted.on(.get, "/a", ScriptedResponse(headers: text, body: Data(count: 300)))
        var rule = TransferRule(id: "1", pattern: "*", action: .fault)
        (rule.fault, rule.afterBytes) = (.truncatedBody, 200)
        let receiver = RecordingReceiver()
        let transfer = transport(result: rule).start(request(), receiver: receiver)
        let record = try await receiver.ended()
        #expect(record.received == 200 && record.ends == 1 && record.head?.status == .ok)
        #expect(record.end?.error?.code == .truncatedBody)
        #expect(record.end?.error?.message.contains("after 200 bytes") == true)
        try await scripted.untilIdle()
        withExtendedLifetime(transfer) {}
    }
}
