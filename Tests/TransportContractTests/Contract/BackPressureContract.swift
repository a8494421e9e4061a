import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// A receiver that returns `.pause` gets no bytes until the transfer is resumed, and no bytes are lost.
@Suite("Contract: back-pressure", .limited)
struct BackPressureContract {
    @Test(arguments: TransportKind.allCases)
    func pausedReceiverGetsNoBytes(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.respond(with: [
                .head, .bytes(Data("first".utf8)), .hold(gate), .bytes(Data("second".utf8)),
            ])
            let receiver = RecordingReceiver { $0.chunks == 1 ? .pause : .more }
            let transfer = fixture.start(fixture.request(), receiver).transfer
            try await receiver.until { $0.received == 5 }
            gate.open()
            // A complete second transfer gives the first one time to deliver.
            fixture.respond(with: [.head, .bytes(Data("x".utf8))])
            _ = try await fixture.succeed(fixture.request())
            #expect(receiver.record.received == 5 && receiver.record.end == nil)
            transfer.resumeReceiving()
            let record = try await receiver.ended()
            #expect(record.end?.error == nil)
            #expect(record.body == Data("firstsecond".utf8))
        }
    }

    @Test(arguments: TransportKind.allCases)
    func pausingAfterEveryChunkLosesNothing(kind: TransportKind) async throws {
        let bytes = pattern(1 << 20)
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(
                with: [.head]
                    + stride(from: 0, to: bytes.count, by: 32 << 10).map {
                        .bytes(bytes[$0..<($0 + 32 << 10)])
                    })
            let receiver = RecordingReceiver { _ in .pause }
            let transfer = fixture.start(fixture.request(), receiver).transfer
            var chunks = 0
            while receiver.record.end == nil {
                let seen = chunks
                chunks = try await receiver.until { $0.chunks > seen || $0.end != nil }.chunks
                transfer.resumeReceiving()
            }
            #expect(haveSameBytes(receiver.record.body, bytes))
            #expect(receiver.record.end?.error == nil)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func resumeWithinThePausingCallbackTakesEffect(kind: TransportKind) async throws {
        let held = Mutex<(any Transfer)?>(nil)
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.respond(with: [.head, .hold(gate), .bytes(pattern(100)), .bytes(pattern(200))])
            // The receiver resumes within the callback that returns `.pause`.
            let receiver = RecordingReceiver { _ in
                held.withLock { $0 }?.resumeReceiving()
                return .pause
            }
            let transfer = fixture.start(fixture.request(), receiver).transfer
            held.withLock { $0 = transfer }
            gate.open()
            #expect(try await receiver.ended().received == 300)
        }
        held.withLock { $0 = nil }
    }

    @Test(arguments: TransportKind.allCases)
    func pauseDoesNotAffectOtherTransfers(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head] + (0..<64).map { _ in .bytes(pattern(64 << 10)) })
            let receiver = RecordingReceiver(keepsBody: false) { $0.chunks == 1 ? .pause : .more }
            let transfer = fixture.start(fixture.request(), receiver).transfer
            try await receiver.until { $0.chunks == 1 }
            for _ in 0..<3 {
                #expect(try await fixture.succeed(fixture.request()).received == 4 << 20)
            }
            #expect(receiver.record.chunks == 1)
            transfer.resumeReceiving()
            #expect(try await receiver.ended().received == 4 << 20)
        }
    }

    @Test(arguments: TransportKind.wire(with: .connectionPause))
    func pauseStopsReadingFromTheConnection(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let endless = LoopbackServer()
            endless.otherwise { _ in .endless(until: Gate()) }
            try await endless.start()
            fixture.server.otherwise { _ in LoopbackResponse(body: "x") }
            let receiver = RecordingReceiver(keepsBody: false) { _ in .pause }
            let transfer = fixture.start(fixture.request(port: endless.port), receiver).transfer
            try await receiver.until { $0.chunks == 1 }
            for _ in 0..<200 { _ = try await fixture.succeed(fixture.request()) }
            // The server can only fill the socket buffers.
            #expect(endless.status.bytesSent < 32 << 20)
            #expect(receiver.record.chunks == 1)
            transfer.cancel()
            _ = try await receiver.ended()
            await endless.stop()
        }
    }

    @Test(arguments: TransportKind.allCases)
    func stopCancelsTheTransfer(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head, .bytes(Data("a".utf8)), .hold(Gate())])
            let receiver = RecordingReceiver { _ in .stop }
            fixture.start(fixture.request(), receiver)
            let record = try await receiver.ended()
            #expect(record.end?.error?.code == .cancelled)
            #expect(record.chunks == 1)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func resumeWithoutAPauseHasNoEffect(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.respond(with: [.head, .hold(gate), .bytes(Data("a".utf8))])
            let (transfer, receiver) = fixture.start(fixture.request())
            transfer.resumeReceiving()
            transfer.resumeReceiving()
            gate.open()
            #expect(try await receiver.ended().received == 1)
            transfer.resumeReceiving()
        }
    }
}
