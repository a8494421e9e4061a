import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import Synchronization
import TestSupport
import Testing

/// A cancelled transfer ends exactly once, in every phase.
@Suite("Contract: cancellation", .limited)
struct CancelContract {
    @Test(arguments: TransportKind.allCases)
    func cancelDirectlyAfterTheStart(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.hold(Gate()), .head])
            let (transfer, receiver) = fixture.start(fixture.request())
            transfer.cancel()
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
        }
    }

    @Test(arguments: TransportKind.wire)
    func cancelWhileConnecting(kind: TransportKind) async throws {
        let port = try DeadPort.Silent()
        try await ContractFixture.with(kind) { fixture async throws in
            var request = fixture.request(port: port.port)
            // No timeouts: a loaded machine may be slow.
            request.timeouts = Timeouts(connect: nil, idle: nil)
            let (transfer, receiver) = fixture.start(request)
            // After a complete second transfer, the first one is connecting.
            _ = try await fixture.succeed(fixture.request())
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func cancelWhileWaitingForTheHead(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.respond(with: [.hold(gate), .head])
            let (transfer, receiver) = fixture.start(fixture.request())
            try await gate.reached()
            transfer.cancel()
            let record = try await receiver.ended()
            #expect(record.end?.error?.code == .cancelled)
            #expect(record.end?.error?.stage == .cancel)
            #expect(record.head == nil)
            // The transport closes the connection, although the gate still holds the response.
            try await fixture.server.until { $0.open == 0 }
        }
    }

    @Test(arguments: TransportKind.allCases)
    func cancelWithinTheBody(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head, .bytes(Data("some".utf8)), .hold(Gate())])
            let (transfer, receiver) = fixture.start(fixture.request())
            try await receiver.until { $0.received == 4 }
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func cancelWhilePaused(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head] + (0..<16).map { _ in .bytes(pattern(64 << 10)) })
            let receiver = RecordingReceiver { _ in .pause }
            let transfer = fixture.start(fixture.request(), receiver).transfer
            try await receiver.until { $0.chunks == 1 }
            transfer.cancel()
            let record = try await receiver.ended()
            #expect(record.end?.error?.code == .cancelled)
            #expect(record.chunks == 1)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func cancelAfterTheEndHasNoEffect(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head, .bytes(Data("some".utf8))])
            let (transfer, receiver) = fixture.start(fixture.request())
            #expect(try await receiver.ended().end?.error == nil)
            transfer.cancel()
            transfer.resumeReceiving()
            _ = try await fixture.succeed(fixture.request())
            #expect(receiver.record.ends == 1)
        }
    }

    @Test(arguments: TransportKind.allCases, ["head", "bytes", "end"])
    func cancelWithinACallback(kind: TransportKind, callback: String) async throws {
        let held = Mutex<(any Transfer)?>(nil)
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.respond(with: [.hold(gate), .head, .bytes(Data("some".utf8))])
            let receiver = RecordingReceiver(observer: { event in
                switch (event, callback) {
                case (.head, "head"), (.bytes, "bytes"), (.end, "end"):
                    held.withLock { $0 }?.cancel()
                default: break
                }
            })
            let transfer = fixture.start(fixture.request(), receiver).transfer
            held.withLock { $0 = transfer }
            gate.open()
            let record = try await receiver.ended()
            #expect((record.end?.error == nil) == (callback == "end"))
            if callback == "head" { #expect(record.received == 0) }
        }
        held.withLock { $0 = nil }
    }

    @Test(arguments: TransportKind.wire)
    func cancelDuringTheUpload(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.server.otherwise(readsBody: false) { _ in
                LoopbackResponse(steps: [.receiveBody(upTo: 1000), .hold(gate)])
            }
            let body = HTTPBody.data(pattern(8 << 20))
            let (transfer, receiver) = fixture.start(fixture.request(.post, body: body))
            try await gate.reached()
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
            gate.open()
        }
    }

    @Test(arguments: TransportKind.wire)
    func cancelWhileTheBodyIsProduced(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let (terminated, termination) = AsyncStream<Void>.makeStream()
            let opened = Gate()
            let body = HTTPBody.stream {
                opened.open()
                return AsyncStream<Data> { continuation in
                    continuation.yield(Data("some".utf8))
                    continuation.onTermination = { _ in termination.finish() }
                }
            }
            let (transfer, receiver) = fixture.start(fixture.request(.post, body: body))
            try await opened.passed()
            transfer.cancel()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
            // Cancellation terminates the body stream.
            for await _ in terminated {}
        }
    }

    /// A transfer that is cancelled within the body's stream factory still terminates the stream.
    @Test func cancelWithinTheBodyFactory() async throws {
        try await ContractFixture.with(.urlSession) { fixture async throws in
            let (terminated, termination) = AsyncStream<Void>.makeStream()
            let stored = DispatchSemaphore(value: 0)
            let started = Mutex<(any Transfer)?>(nil)
            let body = HTTPBody.stream {
                stored.wait()
                started.withLock { $0 }?.cancel()
                return AsyncStream<Data> { continuation in
                    continuation.yield(Data("some".utf8))
                    continuation.onTermination = { _ in termination.finish() }
                }
            }
            let (transfer, receiver) = fixture.start(fixture.request(.post, body: body))
            started.withLock { $0 = transfer }
            stored.signal()
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
            for await _ in terminated {}
            started.withLock { $0 = nil }
        }
    }

    @Test(arguments: TransportKind.allCases)
    func concurrentCancelsEndOnce(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head, .bytes(Data("some".utf8))])
            for _ in 0..<50 {
                let (transfer, receiver) = fixture.start(fixture.request())
                await withTaskGroup { group in
                    for _ in 0..<3 { group.addTask { transfer.cancel() } }
                }
                let code = try await receiver.ended().end?.error?.code
                #expect(code == nil || code == .cancelled)
            }
        }
    }

    @Test(arguments: TransportKind.allCases)
    func requestSucceedsAfterManyCancels(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.hold(Gate()), .head])
            let all = (0..<100).map { _ in fixture.start(fixture.request()) }
            for (transfer, _) in all { transfer.cancel() }
            for (_, receiver) in all {
                #expect(try await receiver.ended().end?.error?.code == .cancelled)
            }
            fixture.respond(with: [.head, .bytes(Data("some".utf8))])
            #expect(try await fixture.succeed(fixture.request()).received == 4)
        }
    }
}
