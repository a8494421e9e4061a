import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// A receiver that says `.pause` hears no bytes until it is resumed, and nothing is lost.
@Suite("Contract: back-pressure", .timeLimit(.minutes(5)))
struct BackPressureContract {
    @Test(arguments: Subject.allCases)
    func pauseHoldsBytesBack(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            world.play([
                .head, .bytes(Data("first".utf8)), .hold(gate), .bytes(Data("second".utf8)),
            ])
            let receiver = RecordingReceiver { $0.chunks == 1 ? .pause : .more }
            let transfer = world.start(world.request(), receiver).transfer
            try await receiver.until { $0.received == 5 }
            gate.open()
            // Another exchange from end to end shows that time has passed.
            world.play([.head, .bytes(Data("x".utf8))])
            _ = try await world.succeed(world.request())
            #expect(receiver.record.received == 5 && receiver.record.end == nil)
            transfer.resumeReceiving()
            let record = try await receiver.ended()
            #expect(record.end?.error == nil)
            #expect(record.body == Data("firstsecond".utf8))
        }
    }

    @Test(arguments: Subject.allCases)
    func pausingAfterEveryChunkLosesNothing(subject: Subject) async throws {
        let bytes = pattern(1 << 20)
        try await ContractWorld.with(subject) { world async throws in
            world.play(
                [.head]
                    + stride(from: 0, to: bytes.count, by: 32 << 10).map {
                        .bytes(bytes[$0..<($0 + 32 << 10)])
                    })
            let receiver = RecordingReceiver { _ in .pause }
            let transfer = world.start(world.request(), receiver).transfer
            var chunks = 0
            while receiver.record.end == nil {
                let seen = chunks
                chunks = try await receiver.until { $0.chunks > seen || $0.end != nil }.chunks
                transfer.resumeReceiving()
            }
            #expect(receiver.record.body == bytes)
            #expect(receiver.record.end?.error == nil)
        }
    }

    @Test(arguments: Subject.allCases)
    func resumingBeforeThePauseComesBack(subject: Subject) async throws {
        let held = Mutex<(any Transfer)?>(nil)
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            world.play([.head, .hold(gate), .bytes(pattern(100)), .bytes(pattern(200))])
            // The consumer is quicker than the transport: it resumes within the call that pauses.
            let receiver = RecordingReceiver { _ in
                held.withLock { $0 }?.resumeReceiving()
                return .pause
            }
            let transfer = world.start(world.request(), receiver).transfer
            held.withLock { $0 = transfer }
            gate.open()
            #expect(try await receiver.ended().received == 300)
        }
        held.withLock { $0 = nil }
    }

    @Test(arguments: Subject.allCases)
    func othersGoOn(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.head] + (0..<64).map { _ in .bytes(pattern(64 << 10)) })
            let receiver = RecordingReceiver(keepsBody: false) { $0.chunks == 1 ? .pause : .more }
            let transfer = world.start(world.request(), receiver).transfer
            try await receiver.until { $0.chunks == 1 }
            for _ in 0..<3 { #expect(try await world.succeed(world.request()).received == 4 << 20) }
            #expect(receiver.record.chunks == 1)
            transfer.resumeReceiving()
            #expect(try await receiver.ended().received == 4 << 20)
        }
    }

    @Test(arguments: Subject.wire(with: .connectionPause))
    func theServerFeelsThePause(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let endless = LoopbackServer()
            endless.otherwise { _ in .endless(until: Gate()) }
            try await endless.start()
            world.server.otherwise { _ in LoopbackAnswer(body: "x") }
            let receiver = RecordingReceiver(keepsBody: false) { _ in .pause }
            let transfer = world.start(world.request(port: endless.port), receiver).transfer
            try await receiver.until { $0.chunks == 1 }
            for _ in 0..<200 { _ = try await world.succeed(world.request()) }
            // Bytes under way fill the system's buffers, and that is all.
            #expect(endless.status.bytesSent < 32 << 20)
            #expect(receiver.record.chunks == 1)
            transfer.cancel()
            _ = try await receiver.ended()
            await endless.stop()
        }
    }

    @Test(arguments: Subject.allCases)
    func stopEndsTheTransfer(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.head, .bytes(Data("a".utf8)), .hold(Gate())])
            let receiver = RecordingReceiver { _ in .stop }
            world.start(world.request(), receiver)
            let record = try await receiver.ended()
            #expect(record.end?.error?.code == .cancelled)
            #expect(record.chunks == 1)
        }
    }

    @Test(arguments: Subject.allCases)
    func resumingForNoReasonDoesNothing(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            world.play([.head, .hold(gate), .bytes(Data("a".utf8))])
            let (transfer, receiver) = world.start(world.request())
            transfer.resumeReceiving()
            transfer.resumeReceiving()
            gate.open()
            #expect(try await receiver.ended().received == 1)
            transfer.resumeReceiving()
        }
    }
}
