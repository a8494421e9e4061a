import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// What an attempt cost is always told, and its moments come in their order.
@Suite("Contract: timings", .timeLimit(.minutes(5)))
struct TimingContract {
    @Test(arguments: Subject.wire)
    func everyEndHasATime(subject: Subject) async throws {
        let dead = try DeadPort.Refusing()
        defer { withExtendedLifetime(dead) {} }
        let closed = dead.port
        try await ContractWorld.with(subject) { world async throws in
            world.server.route("/fine") { _ in LoopbackAnswer(body: "fine") }
            world.server.route("/reset") { _ in .reset }
            world.server.route("/never") { _ in .silence(until: Gate()) }
            // At once, so that some begin and end within one turn of the transport's thread.
            for _ in 0..<20 {
                var started: [(transfer: any Transfer, receiver: RecordingReceiver)] = []
                for path in ["/fine", "/reset", "/fine", "/fine"] {
                    started.append(world.start(world.request(.get, path)))
                }
                started.append(world.start(world.request(port: closed)))
                let cancelled = world.start(world.request(.get, "/never"))
                cancelled.transfer.cancel()
                started.append(cancelled)
                for (_, receiver) in started { check(try await receiver.ended()) }
            }
        }
    }

    private func check(_ record: RecordingReceiver.Record) {
        guard let timings = record.end?.timings else { return }
        let finished = timings.finished ?? .zero
        #expect(finished > .zero)
        let moments = [
            timings.queued, timings.nameLookedUp, timings.connected, timings.secured,
            timings.firstByte, timings.finished,
        ].compactMap { $0 }
        #expect(moments == moments.sorted(), "\(timings)")
        if record.end?.error == nil {
            #expect(timings.firstByte != nil)
        }
    }
}
