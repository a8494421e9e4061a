import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Connect and idle timeouts end a transfer with a typed error, and never early.
@Suite("Contract: timeouts", .limited, .serialized)
struct TimeoutContract {
    private func expectTimeout(
        _ timeout: RequestError.TimeoutKind, after limit: Duration, _ fixture: ContractFixture,
        _ request: TransportRequest
    ) async throws {
        let start = ContinuousClock.now
        let end = try await fixture.run(request).end
        let elapsed = start.duration(to: .now)
        #expect(end?.error?.code == .timedOut)
        #expect(end?.error?.timeout == timeout)
        // Never early. The delay depends on the load of the machine, so it has no upper limit here.
        #expect(elapsed >= limit)
    }

    @Test(arguments: TransportKind.wire)
    func connectTimeoutFails(kind: TransportKind) async throws {
        let port = try DeadPort.Silent()
        try await ContractFixture.with(kind) { fixture async throws in
            var request = fixture.request(port: port.port)
            request.timeouts = Timeouts(connect: .milliseconds(150), idle: .seconds(30))
            try await expectTimeout(.connect, after: .milliseconds(150), fixture, request)
        }
    }

    @Test(arguments: TransportKind.wire)
    func idleTimeoutBeforeTheHead(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.hold(Gate()), .head])
            var request = fixture.request()
            request.timeouts = Timeouts(connect: .seconds(30), idle: .milliseconds(150))
            try await expectTimeout(.idle, after: .milliseconds(150), fixture, request)
        }
    }

    @Test(arguments: TransportKind.wire)
    func idleTimeoutWithinTheBody(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head, .bytes(Data("some".utf8)), .hold(Gate())])
            var request = fixture.request()
            request.timeouts = Timeouts(connect: .seconds(30), idle: .milliseconds(250))
            var received: Int64 = 0
            // On a loaded machine the timeout may expire before the first byte arrives: then try again.
            for _ in 0..<20 where received == 0 {
                let record = try await fixture.fail(request, .timedOut)
                #expect(record.end?.error?.timeout == .idle)
                received = record.received
            }
            #expect(received == 4)
        }
    }

    @Test(arguments: TransportKind.wire)
    func connectTimeoutDoesNotLimitTheResponse(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.respond(with: [.hold(gate), .head, .bytes(Data("late".utf8))])
            var request = fixture.request()
            request.timeouts = Timeouts(connect: .milliseconds(50), idle: .seconds(30))
            let receiver = fixture.start(request).receiver
            // When the other transfer times out, the connect timeout of the first has passed.
            var other = fixture.request()
            other.timeouts = Timeouts(connect: nil, idle: .milliseconds(200))
            try await fixture.fail(other, .timedOut)
            #expect(receiver.record.end == nil)
            gate.open()
            #expect(try await receiver.ended().end?.error == nil)
        }
    }

    @Test(arguments: TransportKind.wire)
    func pausedReceiverDoesNotTimeOut(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head, .bytes(Data("one".utf8)), .bytes(pattern(100_000))])
            let receiver = RecordingReceiver { $0.chunks == 1 ? .pause : .more }
            var request = fixture.request()
            request.timeouts = Timeouts(connect: nil, idle: .milliseconds(700))
            let transfer = fixture.start(request, receiver).transfer
            try await receiver.until { $0.chunks == 1 }
            fixture.respond(with: [.hold(Gate()), .head])
            var other = fixture.request()
            other.timeouts = Timeouts(connect: nil, idle: .milliseconds(1500))
            try await fixture.fail(other, .timedOut)
            #expect(receiver.record.end == nil)
            transfer.resumeReceiving()
            #expect(try await receiver.ended().received == 100_003)
        }
    }

    @Test(arguments: TransportKind.wire)
    func idleTimeoutDuringTheUpload(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.server.otherwise(readsBody: false) { _ in .silence(until: gate) }
            var request = fixture.request(.post, body: .data(pattern(16 << 20)))
            request.timeouts = Timeouts(connect: nil, idle: .milliseconds(200))
            let record = try await fixture.fail(request, .timedOut)
            #expect(record.end?.error?.timeout == .idle)
            // With a full receive window the server does not notice that the client closed the connection.
            gate.open()
        }
    }

    @Test(arguments: TransportKind.wire)
    func transfersWithoutTimeoutsSucceed(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head, .bytes(Data("x".utf8))])
            var request = fixture.request()
            request.timeouts = Timeouts(connect: nil, idle: nil)
            _ = try await fixture.succeed(request)
            request.timeouts = Timeouts(connect: .seconds(1 << 40), idle: .seconds(1 << 40))
            _ = try await fixture.succeed(request)
        }
    }
}
