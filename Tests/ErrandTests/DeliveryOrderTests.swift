import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) @MainActor struct DeliveryOrderTests {
    private let success = [
        "willStart accessory", "willStart", "willStop accessory", "didFinish", "delegate finished",
        "attached", "closure", "didStop accessory",
    ]
    private let failure = [
        "willStart accessory", "willStart", "willStop accessory", "didFail", "delegate failed",
        "attached", "closure", "didStop accessory",
    ]

    @Test func ofASuccess() async {
        let world = World()
        world.transport.on(.get, "/ok", .json("{}"))
        #expect(await run(world.with(Noted("ok", log: Log()))) == success)
    }

    @Test func ofAFailure() async {
        let world = World()
        world.transport.on(.get, "/bad", .json("{}", status: .notFound))
        #expect(await run(world.with(Noted("bad", log: Log()))) == failure)
    }

    @Test func ofACancellation() async {
        let world = World()
        world.transport.on(.get, "/slow", .silence)
        let lines = await run(world.with(Noted("slow", log: Log()))) { task in
            _ = try? await world.transport.nextRequest()
            task.cancel()
        }
        #expect(lines.filter { $0 != "willCancel accessory" } == failure)
        #expect(lines.contains("willCancel accessory"))
    }

    @Test func ofACancellationBeforeAnythingRan() async {
        // In most runs nothing is sent; on a busy machine the request may be quicker, and ends as well.
        let world = World()
        world.transport.on(.get, "/never", .silence)
        let lines = await run(world.with(Noted("never", log: Log()))) { $0.cancel() }
        #expect(lines.filter { $0 != "willCancel accessory" } == failure)
        #expect(world.transport.inFlight == 0)
    }

    @Test func ofACacheHitIsTheSame() async {
        let world = World()
        world.transport.on(.get, "/cached", .json(#"{"a":1}"#))
        let first = await run(world.with(NotedCached("cached", log: Log())))
        let second = await run(world.with(NotedCached("cached", log: Log())))
        #expect(first == success)
        #expect(second == success)
        #expect(world.transport.requests.count == 1)
    }

    private func run(
        _ request: Noted, meanwhile: (RequestTask) async -> Void = { _ in }
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
        // The relay of willCancel is a main-actor task of its own; it was enqueued before the end.
        await Task.yield()
        return log.lines
    }
}

final class NotedCached: Noted {
    override var cacheSeconds: Int { 60 }
    override var writesCacheAsynchronously: Bool { false }
}
