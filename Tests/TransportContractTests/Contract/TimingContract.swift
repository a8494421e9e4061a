import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Every transfer reports its timings, in chronological order.
@Suite("Contract: timings", .limited)
struct TimingContract {
    @Test(arguments: TransportKind.wire)
    func everyTransferReportsItsDuration(kind: TransportKind) async throws {
        let dead = try DeadPort.Refusing()
        defer { withExtendedLifetime(dead) {} }
        let closed = dead.port
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.route("/fine") { _ in LoopbackResponse(body: "fine") }
            fixture.server.route("/reset") { _ in .reset }
            fixture.server.route("/never") { _ in .silence(until: Gate()) }
            // Started together, so that some begin and end within one iteration of the event loop.
            for _ in 0..<20 {
                var started: [(transfer: any Transfer, receiver: RecordingReceiver)] = []
                for path in ["/fine", "/reset", "/fine", "/fine"] {
                    started.append(fixture.start(fixture.request(.get, path)))
                }
                started.append(fixture.start(fixture.request(port: closed)))
                let cancelled = fixture.start(fixture.request(.get, "/never"))
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
        let times = [
            timings.queued, timings.nameLookedUp, timings.connected, timings.secured,
            timings.firstByte, timings.finished,
        ].compactMap { $0 }
        #expect(times == times.sorted(), "\(timings)")
        if record.end?.error == nil {
            #expect(timings.firstByte != nil)
        }
    }
}
