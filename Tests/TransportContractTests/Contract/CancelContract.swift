import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Cancelled at whatever moment, a transfer ends once, and at once.
@Suite("Contract: cancelling", .timeLimit(.minutes(5)))
struct CancelContract {
    @Test(arguments: Subject.allCases)
    func atOnce(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.hold(Gate()), .head])
            let (transfer, receiver) = world.start(world.request())
            transfer.cancel()
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
        }
    }

    @Test(arguments: Subject.wire)
    func whileConnecting(subject: Subject) async throws {
        let port = try DeadPort.Silent()
        try await ContractWorld.with(subject) { world async throws in
            var request = world.request(port: port.port)
            // No limits: a busy machine may take its time.
            request.timeouts = Timeouts(connect: nil, idle: nil)
            let (transfer, receiver) = world.start(request)
            // One exchange later the other one is on its way.
            _ = try await world.succeed(world.request())
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
        }
    }

    @Test(arguments: Subject.allCases)
    func whileWaitingForTheHead(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            world.play([.hold(gate), .head])
            let (transfer, receiver) = world.start(world.request())
            try await gate.reached()
            transfer.cancel()
            let record = try await receiver.ended()
            #expect(record.end?.error?.code == .cancelled)
            #expect(record.end?.error?.stage == .cancel)
            #expect(record.head == nil)
            // The server sees that nobody waits any more, without being told to let go.
            try await world.server.until { $0.open == 0 }
        }
    }

    @Test(arguments: Subject.allCases)
    func withinTheBody(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.head, .bytes(Data("some".utf8)), .hold(Gate())])
            let (transfer, receiver) = world.start(world.request())
            try await receiver.until { $0.received == 4 }
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
        }
    }

    @Test(arguments: Subject.allCases)
    func whilePaused(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.head] + (0..<16).map { _ in .bytes(pattern(64 << 10)) })
            let receiver = RecordingReceiver { _ in .pause }
            let transfer = world.start(world.request(), receiver).transfer
            try await receiver.until { $0.chunks == 1 }
            transfer.cancel()
            let record = try await receiver.ended()
            #expect(record.end?.error?.code == .cancelled)
            #expect(record.chunks == 1)
        }
    }

    @Test(arguments: Subject.allCases)
    func afterTheEnd(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.head, .bytes(Data("some".utf8))])
            let (transfer, receiver) = world.start(world.request())
            #expect(try await receiver.ended().end?.error == nil)
            transfer.cancel()
            transfer.resumeReceiving()
            _ = try await world.succeed(world.request())
            #expect(receiver.record.ends == 1)
        }
    }

    @Test(arguments: Subject.allCases, ["head", "bytes", "end"])
    func withinACallback(subject: Subject, moment: String) async throws {
        let held = Mutex<(any Transfer)?>(nil)
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            world.play([.hold(gate), .head, .bytes(Data("some".utf8))])
            let receiver = RecordingReceiver(observer: { event in
                switch (event, moment) {
                case (.head, "head"), (.bytes, "bytes"), (.end, "end"):
                    held.withLock { $0 }?.cancel()
                default: break
                }
            })
            let transfer = world.start(world.request(), receiver).transfer
            held.withLock { $0 = transfer }
            gate.open()
            let record = try await receiver.ended()
            #expect((record.end?.error == nil) == (moment == "end"))
            if moment == "head" { #expect(record.received == 0) }
        }
        held.withLock { $0 = nil }
    }

    @Test(arguments: Subject.wire)
    func duringTheUpload(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            world.server.otherwise(readsBody: false) { _ in
                LoopbackAnswer(steps: [.receiveBody(upTo: 1000), .hold(gate)])
            }
            let body = HTTPBody.data(pattern(8 << 20))
            let (transfer, receiver) = world.start(world.request(.post, body: body))
            try await gate.reached()
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
            gate.open()
        }
    }

    @Test(arguments: Subject.wire)
    func whileTheBodyIsMade(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let (terminated, termination) = AsyncStream<Void>.makeStream()
            let asked = Gate()
            let body = HTTPBody.stream {
                asked.open()
                return AsyncStream<Data> { continuation in
                    continuation.yield(Data("some".utf8))
                    continuation.onTermination = { _ in termination.finish() }
                }
            }
            let (transfer, receiver) = world.start(world.request(.post, body: body))
            try await asked.passed()
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
            // Whoever makes the body learns that nobody wants it.
            for await _ in terminated {}
        }
    }

    /// The end comes while the body is made: it is closed all the same.
    @Test func insideTheMakingOfTheBody() async throws {
        try await ContractWorld.with(.urlSession) { world async throws in
            let (terminated, termination) = AsyncStream<Void>.makeStream()
            let isKnown = DispatchSemaphore(value: 0)
            let started = Mutex<(any Transfer)?>(nil)
            let body = HTTPBody.stream {
                isKnown.wait()
                started.withLock { $0 }?.cancel()
                return AsyncStream<Data> { continuation in
                    continuation.yield(Data("some".utf8))
                    continuation.onTermination = { _ in termination.finish() }
                }
            }
            let (transfer, receiver) = world.start(world.request(.post, body: body))
            started.withLock { $0 = transfer }
            isKnown.signal()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
            for await _ in terminated {}
            started.withLock { $0 = nil }
        }
    }

    @Test(arguments: Subject.allCases)
    func fromManySidesAtOnce(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.head, .bytes(Data("some".utf8))])
            for _ in 0..<50 {
                let (transfer, receiver) = world.start(world.request())
                await withTaskGroup { group in
                    for _ in 0..<3 { group.addTask { transfer.cancel() } }
                }
                let code = try await receiver.ended().end?.error?.code
                #expect(code == nil || code == .cancelled)
            }
        }
    }

    @Test(arguments: Subject.allCases)
    func manyUnderWayAndThenOneThatWorks(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.hold(Gate()), .head])
            let all = (0..<100).map { _ in world.start(world.request()) }
            for (transfer, _) in all { transfer.cancel() }
            for (_, receiver) in all {
                #expect(try await receiver.ended().end?.error?.code == .cancelled)
            }
            world.play([.head, .bytes(Data("some".utf8))])
            #expect(try await world.succeed(world.request()).received == 4)
        }
    }
}
