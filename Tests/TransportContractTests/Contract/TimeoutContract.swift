import ErrandCore
import ErrandTesting
import Foundation
import Testing

/// Limits of connecting and of silence, typed and exact.
@Suite("Contract: timeouts", .timeLimit(.minutes(5)), .serialized)
struct TimeoutContract {
    private func expectTimeout(
        _ kind: RequestError.TimeoutKind, after limit: Duration, _ world: ContractWorld,
        _ request: TransportRequest
    ) async throws {
        let start = ContinuousClock.now
        let end = try await world.run(request).end
        let elapsed = start.duration(to: .now)
        #expect(end?.error?.code == .timedOut)
        #expect(end?.error?.timeout == kind)
        // Never early. How late is the machine's affair: which limit it was that ran out says the rest.
        #expect(elapsed >= limit)
    }

    @Test(arguments: Subject.wire)
    func connecting(subject: Subject) async throws {
        let port = try DeadPort.Silent()
        try await ContractWorld.with(subject) { world async throws in
            var request = world.request(port: port.port)
            request.timeouts = Timeouts(connect: .milliseconds(150), idle: .seconds(30))
            try await expectTimeout(.connect, after: .milliseconds(150), world, request)
        }
    }

    @Test(arguments: Subject.wire)
    func silenceBeforeTheHead(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.hold(Gate()), .head])
            var request = world.request()
            request.timeouts = Timeouts(connect: .seconds(30), idle: .milliseconds(150))
            try await expectTimeout(.idle, after: .milliseconds(150), world, request)
        }
    }

    @Test(arguments: Subject.wire)
    func silenceWithinTheBody(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.head, .bytes(Data("some".utf8)), .hold(Gate())])
            var request = world.request()
            request.timeouts = Timeouts(connect: .seconds(30), idle: .milliseconds(250))
            var received: Int64 = 0
            // A busy machine may be silent for as long before the first byte, too: then once more.
            for _ in 0..<20 where received == 0 {
                let record = try await world.fail(request, .timedOut)
                #expect(record.end?.error?.timeout == .idle)
                received = record.received
            }
            #expect(received == 4)
        }
    }

    @Test(arguments: Subject.wire)
    func answersSlowerThanConnectingMayBe(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            world.play([.hold(gate), .head, .bytes(Data("late".utf8))])
            var request = world.request()
            request.timeouts = Timeouts(connect: .milliseconds(50), idle: .seconds(30))
            let receiver = world.start(request).receiver
            // Another transfer's timeout tells that the limit of connecting is past.
            var other = world.request()
            other.timeouts = Timeouts(connect: nil, idle: .milliseconds(200))
            try await world.fail(other, .timedOut)
            #expect(receiver.record.end == nil)
            gate.open()
            #expect(try await receiver.ended().end?.error == nil)
        }
    }

    @Test(arguments: Subject.wire)
    func pausedReceiversAreNotSilentServers(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.head, .bytes(Data("one".utf8)), .bytes(pattern(100_000))])
            let receiver = RecordingReceiver { $0.chunks == 1 ? .pause : .more }
            var request = world.request()
            request.timeouts = Timeouts(connect: nil, idle: .milliseconds(700))
            let transfer = world.start(request, receiver).transfer
            try await receiver.until { $0.chunks == 1 }
            world.play([.hold(Gate()), .head])
            var other = world.request()
            other.timeouts = Timeouts(connect: nil, idle: .milliseconds(1500))
            try await world.fail(other, .timedOut)
            #expect(receiver.record.end == nil)
            transfer.resumeReceiving()
            #expect(try await receiver.ended().received == 100_003)
        }
    }

    @Test(arguments: Subject.wire)
    func serversThatReadNothing(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            world.server.otherwise(readsBody: false) { _ in .silence(until: gate) }
            var request = world.request(.post, body: .data(pattern(16 << 20)))
            request.timeouts = Timeouts(connect: nil, idle: .milliseconds(200))
            let record = try await world.fail(request, .timedOut)
            #expect(record.end?.error?.timeout == .idle)
            // Behind a full window the server does not see that the client has gone.
            gate.open()
        }
    }

    @Test(arguments: Subject.wire)
    func noneWhereNoneIsSet(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.head, .bytes(Data("x".utf8))])
            var request = world.request()
            request.timeouts = Timeouts(connect: nil, idle: nil)
            _ = try await world.succeed(request)
            request.timeouts = Timeouts(connect: .seconds(1 << 40), idle: .seconds(1 << 40))
            _ = try await world.succeed(request)
        }
    }
}
