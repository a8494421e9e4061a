import ErrandCore
import ErrandTesting
import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Tells of its own end.
private final class LifeToken: Sendable {
    private let end: AsyncStream<Void>.Continuation
    init(_ end: AsyncStream<Void>.Continuation) { self.end = end }
    deinit { end.finish() }
}

/// Transports end, and leave nothing behind.
@Suite("Contract: lifecycle", .timeLimit(.minutes(5)))
struct LifecycleContract {
    @Test(arguments: Subject.allCases)
    func shutDownEndsEverything(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            let gate = Gate()
            world.play([.hold(gate), .head])
            let receivers = (0..<5).map { _ in world.start(world.request()).receiver }
            try await gate.reached(times: 5)
            world.transport.shutDown()
            for receiver in receivers {
                #expect(try await receiver.ended().end?.error?.code == .agentShutDown)
            }
        }
    }

    @Test(arguments: Subject.allCases)
    func nothingStartsAfterwards(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.head])
            world.transport.shutDown()
            world.transport.shutDown()
            try await world.fail(world.request(), .agentShutDown)
            #expect(world.server.status.requests == 0)
        }
    }

    @Test(arguments: Subject.allCases)
    func transfersOutliveTheirHolder(subject: Subject) async throws {
        let server = LoopbackServer()
        let gate = Gate()
        server.otherwise { _ in LoopbackAnswer(body: "x").held(by: gate) }
        try await server.start()
        let receivers = (0..<10).map { _ in RecordingReceiver() }
        do {
            // Nobody holds the transfers, and soon nobody holds the transport; some may still wait for a
            // connection.
            let transport = subject.makeTransport()
            (transport as? ScriptedTransport)?.on(
                nil, nil, ScriptedAnswer(body: Data("x".utf8)).held(by: gate))
            let url = URI(scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
            for receiver in receivers {
                _ = transport.start(TransportRequest(url: url), receiver: receiver)
            }
        }
        try await gate.reached()
        gate.open()
        for receiver in receivers {
            let record = try await receiver.ended()
            #expect(record.end?.error == nil && record.received == 1)
        }
        try await server.until { $0.open == 0 }
        await server.stop()
    }

    @Test(arguments: Subject.allCases)
    func receiversAreLetGo(subject: Subject) async throws {
        try await ContractWorld.with(subject) { world async throws in
            world.play([.head, .bytes(Data("x".utf8))])
            let (life, end) = AsyncStream<Void>.makeStream()
            let transfer: any Transfer
            do {
                let token = LifeToken(end)
                let receiver = RecordingReceiver { [token] _ in
                    withExtendedLifetime(token) { .more }
                }
                transfer = world.transport.start(world.request(), receiver: receiver)
                _ = try await receiver.ended()
            }
            // Ends with the receiver, though the transfer is held.
            for await _ in life {}
            transfer.cancel()
        }
    }

    #if os(Linux)
        /// Everything once, in a process of its own, and not one descriptor more at its end.
        private static func countDescriptors(_ subject: Subject) async throws {
            func open() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            }
            // What libraries open once for the process stays.
            try await everything(subject)
            let before = try open()
            try await everything(subject)
            // Sessions give their descriptors back a little after their end.
            var left = 10_000
            while try open() > before, left > 0 {
                left -= 1
                usleep(1000)
            }
            guard try open() <= before else { exit(3) }
        }

        private static func everything(_ subject: Subject) async throws {
            try await ContractWorld.with(subject) { world async throws in
                let server = world.server
                server.route("/fine") { LoopbackAnswer(body: $0.body) }
                server.route("/reset") { _ in .reset }
                server.route("/short") { _ in .truncated(announcing: 9, body: Data("x".utf8)) }
                server.route("/never") { _ in .silence(until: Gate()) }
                server.route("/large") { _ in LoopbackAnswer(body: pattern(4 << 20)) }
                for _ in 0..<10 {
                    for path in ["/fine", "/reset", "/short"] {
                        _ = try await world.run(world.request(.get, path))
                        _ = try await world.run(
                            world.request(.post, path, body: .data(pattern(1000))))
                    }
                    let (transfer, receiver) = world.start(world.request(.get, "/never"))
                    transfer.cancel()
                    _ = try await receiver.ended()
                }
                _ = try await world.run(
                    world.request(
                        .post, "/fine",
                        body: .stream { AsyncStream { $0.finish() } }))
                let paused = RecordingReceiver { $0.chunks == 1 ? .pause : .more }
                let transfer = world.start(world.request(.get, "/large"), paused).transfer
                try await paused.until { $0.chunks == 1 }
                transfer.resumeReceiving()
                _ = try await paused.ended()
            }
        }

        @Test func curlLeavesNoDescriptor() async {
            await #expect(processExitsWith: .success) { try await Self.countDescriptors(.curl) }
        }

        @Test func urlSessionLeavesNoDescriptor() async {
            await #expect(processExitsWith: .success) {
                try await Self.countDescriptors(.urlSession)
            }
        }
    #endif
}
