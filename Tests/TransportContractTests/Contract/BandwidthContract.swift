import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// Transfers with a bandwidth limit, whose time is that of a manual clock.
@Suite("Contract: bandwidth", .limited)
struct BandwidthContract {
    private static let bytes = pattern(200_000)

    private func respond(_ fixture: ContractFixture) {
        let bytes = Self.bytes
        fixture.respond(
            with: [.head]
                + stride(from: 0, to: bytes.count, by: 20_000).map {
                    .bytes(bytes[$0..<($0 + 20_000)])
                })
    }

    @Test(arguments: TransportKind.allCases)
    func bytesArriveNoFasterThanTheLimit(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            respond(fixture)
            let clock = ManualClock()
            let limit = BandwidthLimit(bytesPerSecond: 100_000, clock: clock)
            let transport = limit.transport(over: fixture.transport)
            // Each chunk is paid for before it is passed on, but for the credit of 100 ms.
            let early = Mutex(0)
            let receiver = RecordingReceiver { record in
                if Double(record.received) / 100_000 > clock.uptime / .seconds(1) + 0.1 {
                    early.withLock { $0 += 1 }
                }
                return .more
            }
            let transfer = transport.start(fixture.request(), receiver: receiver)
            while receiver.record.end == nil {
                clock.advance(by: .milliseconds(10))
                await Task.yield()
            }
            #expect(receiver.record.end?.error == nil && receiver.record.violations.isEmpty)
            #expect(haveSameBytes(receiver.record.body, Self.bytes))
            #expect(early.withLock { $0 } == 0)
            #expect(clock.uptime >= .seconds(1.9))
            withExtendedLifetime(transfer) {}
        }
    }

    /// Of bytes, and of a form with a stream.
    @Test(arguments: TransportKind.wire, [true, false])
    func requestBodiesAreSentNoFasterThanTheLimit(
        kind: TransportKind, isForm: Bool
    ) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.server.otherwise { _ in LoopbackResponse(status: 201) }
            let clock = ManualClock()
            let limit = BandwidthLimit(
                bytesPerSecond: nil, uploadBytesPerSecond: 100_000, clock: clock)
            let bytes = Self.bytes
            let form = HTTPBody.multipart([
                .text("a", "b"),
                .stream("file", length: Int64(bytes.count), filename: "f") {
                    AsyncStream<Data> {
                        $0.yield(bytes)
                        $0.finish()
                    }
                },
            ])
            let body = isForm ? form : .data(bytes)
            let early = Mutex(0)
            let receiver = RecordingReceiver { record in
                if Double(record.sent) / 100_000 > clock.uptime / .seconds(1) + 0.1 {
                    early.withLock { $0 += 1 }
                }
                return .more
            }
            let transfer = limit.transport(over: fixture.transport)
                .start(fixture.request(.post, body: body), receiver: receiver)
            while receiver.record.end == nil {
                clock.advance(by: .milliseconds(10))
                await Task.yield()
            }
            #expect(receiver.record.end?.error == nil && receiver.record.violations.isEmpty)
            #expect(receiver.record.head?.status.code == 201)
            let received = fixture.server.requests.first?.bodyBytes ?? 0
            #expect(isForm ? received > bytes.count : received == bytes.count)
            #expect(early.withLock { $0 } == 0 && clock.uptime >= .seconds(1.9))
            withExtendedLifetime(transfer) {}
        }
    }

    /// The clock stands still, so only the change lets the transfer go on.
    @Test(arguments: TransportKind.allCases)
    func changeOfTheLimitHasAnEffectAtOnce(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            respond(fixture)
            let clock = ManualClock()
            let limit = BandwidthLimit(bytesPerSecond: 1, clock: clock)
            let receiver = RecordingReceiver()
            let transfer = limit.transport(over: fixture.transport)
                .start(fixture.request(), receiver: receiver)
            try await clock.untilSleeping()
            #expect(receiver.record.chunks == 0 && receiver.record.end == nil)
            limit.bytesPerSecond = nil
            #expect(haveSameBytes(try await receiver.ended().body, Self.bytes))
            withExtendedLifetime(transfer) {}
        }
    }

    @Test(arguments: TransportKind.allCases)
    func waitingTransferIsCancelled(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            respond(fixture)
            let clock = ManualClock()
            let limit = BandwidthLimit(bytesPerSecond: 1, clock: clock)
            let receiver = RecordingReceiver()
            let transfer = limit.transport(over: fixture.transport)
                .start(fixture.request(), receiver: receiver)
            try await clock.untilSleeping()
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
            #expect(receiver.record.ends == 1)
        }
    }
}
