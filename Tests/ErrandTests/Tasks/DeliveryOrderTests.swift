import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

@Suite(.limited) @MainActor struct DeliveryOrderTests {
    private let success = [
        "willStart accessory", "willStart", "willStop accessory", "didFinish", "delegate finished",
        "attached", "closure", "didStop accessory",
    ]
    private let failure = [
        "willStart accessory", "willStart", "willStop accessory", "didFail", "delegate failed",
        "attached", "closure", "didStop accessory",
    ]

    @Test func callbackOrderOfASuccess() async {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/ok", .json("{}"))
        #expect(await run(fixture.with(RecordingRequest("ok", log: CallbackLog()))) == success)
    }

    @Test func callbackOrderOfAFailure() async {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/bad", .json("{}", status: .notFound))
        #expect(await run(fixture.with(RecordingRequest("bad", log: CallbackLog()))) == failure)
    }

    @Test func callbackOrderOfACancellation() async {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/slow", .silence)
        let lines = await run(fixture.with(RecordingRequest("slow", log: CallbackLog()))) { task in
            _ = try? await fixture.transport.nextRequest()
            task.cancel()
        }
        #expect(lines.filter { $0 != "willCancel accessory" } == failure)
        #expect(lines.contains("willCancel accessory"))
    }

    @Test func callbackOrderOfAnImmediateCancellation() async {
        // In most runs nothing is sent. On a busy machine the request may be sent first; it ends in the same way.
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/never", .silence)
        let request = fixture.with(RecordingRequest("never", log: CallbackLog()))
        let lines = await run(request) { $0.cancel() }
        #expect(lines.filter { $0 != "willCancel accessory" } == failure)
        #expect(fixture.transport.inFlight == 0)
    }

    @Test func callbackOrderOfACacheHitEqualsThatOfASuccess() async {
        let fixture = AgentFixture()
        fixture.transport.on(.get, "/cached", .json(#"{"a":1}"#))
        let first = await run(fixture.with(CachedRecordingRequest("cached", log: CallbackLog())))
        let second = await run(fixture.with(CachedRecordingRequest("cached", log: CallbackLog())))
        #expect(first == success)
        #expect(second == success)
        #expect(fixture.transport.requests.count == 1)
    }

    private func run(
        _ request: RecordingRequest, meanwhile: (RequestTask) async -> Void = { _ in }
    ) async -> [String] {
        let log = request.log
        request.attach { _ in
            log.lines.append("attached")
        } failure: { _, _ in
            log.lines.append("attached")
        }
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let task = request.start { _ in
            log.lines.append("closure")
            Task { end.finish() }
        } failure: { _, _ in
            log.lines.append("closure")
            Task { end.finish() }
        }
        await meanwhile(task)
        for await _ in ends {}
        // willCancel is forwarded by its own main-actor task, which was enqueued before the end.
        await Task.yield()
        return log.lines
    }
}

final class CachedRecordingRequest: RecordingRequest {
    override var cacheSeconds: Int { 60 }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.cache.writesAsynchronously = false
    }
}
