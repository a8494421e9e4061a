import ErrandCore
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Finishes a stream when it is deallocated.
private final class DeinitToken: Sendable {
    private let end: AsyncStream<Void>.Continuation
    init(_ end: AsyncStream<Void>.Continuation) { self.end = end }
    deinit { end.finish() }
}

/// A transport that is shut down or released ends its transfers and closes its connections and descriptors.
@Suite("Contract: lifecycle", .limited)
struct LifecycleContract {
    @Test(arguments: TransportKind.allCases)
    func shutDownEndsAllTransfers(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            let gate = Gate()
            fixture.respond(with: [.hold(gate), .head])
            let receivers = (0..<5).map { _ in fixture.start(fixture.request()).receiver }
            try await gate.reached(times: 5)
            fixture.transport.shutDown()
            for receiver in receivers {
                #expect(try await receiver.ended().end?.error?.code == .agentShutDown)
            }
        }
    }

    @Test(arguments: TransportKind.allCases)
    func requestAfterShutDownFails(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head])
            fixture.transport.shutDown()
            fixture.transport.shutDown()
            try await fixture.fail(fixture.request(), .agentShutDown)
            #expect(fixture.server.status.requests == 0)
        }
    }

    /// The transport is still referenced: its release closes the connections, too.
    @Test(arguments: TransportKind.allCases)
    func shutDownClosesIdleConnections(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head, .bytes(Data("x".utf8))])
            #expect(try await fixture.run(fixture.request()).end?.error == nil)
            fixture.transport.shutDown()
            try await fixture.server.until { $0.open == 0 }
            try await fixture.fail(fixture.request(), .agentShutDown)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func transfersFinishWithoutReferencesToTheTransport(kind: TransportKind) async throws {
        let server = LoopbackServer()
        let gate = Gate()
        server.otherwise { _ in LoopbackResponse(body: "x").held(by: gate) }
        try await server.start()
        let receivers = (0..<10).map { _ in RecordingReceiver() }
        do {
            // No transfer is referenced, and the transport goes out of scope. Some transfers may still wait for a
            // connection.
            let transport = kind.makeTransport()
            (transport as? ScriptedTransport)?.on(
                nil, nil, ScriptedResponse(body: Data("x".utf8)).held(by: gate))
            let url = HTTPURL(scheme: "http", host: "127.0.0.1", port: server.port, path: "/")
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

    @Test(arguments: TransportKind.allCases)
    func receiverIsReleasedAfterTheEnd(kind: TransportKind) async throws {
        try await ContractFixture.with(kind) { fixture async throws in
            fixture.respond(with: [.head, .bytes(Data("x".utf8))])
            let (released, end) = AsyncStream<Void>.makeStream()
            let transfer: any Transfer
            do {
                let token = DeinitToken(end)
                let receiver = RecordingReceiver { [token] _ in
                    withExtendedLifetime(token) { .more }
                }
                transfer = fixture.transport.start(fixture.request(), receiver: receiver)
                _ = try await receiver.ended()
            }
            // Finishes when the receiver is deallocated, although the transfer is still referenced.
            for await _ in released {}
            transfer.cancel()
        }
    }

    #if os(Linux)
        /// Runs every kind of transfer and exits with 3 if descriptors stay open.
        ///
        /// Needs a separate process.
        private static func checkDescriptors(_ kind: TransportKind) async throws {
            // Descriptors that libraries open once per process stay open.
            try await runEveryTransferKind(kind)
            let before = try ProcessResources.openDescriptors()
            try await runEveryTransferKind(kind)
            // Sessions close their descriptors shortly after they end.
            guard try ProcessResources.waitForDescriptors(untilAtMost: before) else { exit(3) }
        }

        private static func runEveryTransferKind(_ kind: TransportKind) async throws {
            try await ContractFixture.with(kind) { fixture async throws in
                let server = fixture.server
                server.route("/fine") { LoopbackResponse(body: $0.body) }
                server.route("/reset") { _ in .reset }
                server.route("/short") { _ in .truncated(announcing: 9, body: Data("x".utf8)) }
                server.route("/never") { _ in .silence(until: Gate()) }
                server.route("/large") { _ in LoopbackResponse(body: pattern(4 << 20)) }
                for _ in 0..<10 {
                    for path in ["/fine", "/reset", "/short"] {
                        _ = try await fixture.run(fixture.request(.get, path))
                        _ = try await fixture.run(
                            fixture.request(.post, path, body: .data(pattern(1000))))
                    }
                    let (transfer, receiver) = fixture.start(fixture.request(.get, "/never"))
                    transfer.cancel()
                    _ = try await receiver.ended()
                }
                _ = try await fixture.run(
                    fixture.request(
                        .post, "/fine",
                        body: .stream { AsyncStream { $0.finish() } }))
                let paused = RecordingReceiver { $0.chunks == 1 ? .pause : .more }
                let transfer = fixture.start(fixture.request(.get, "/large"), paused).transfer
                try await paused.until { $0.chunks == 1 }
                transfer.resumeReceiving()
                _ = try await paused.ended()
            }
        }

        @Test func curlClosesAllDescriptors() async {
            await #expect(processExitsWith: .success) { try await Self.checkDescriptors(.curl) }
        }

        @Test func urlSessionClosesAllDescriptors() async {
            await #expect(processExitsWith: .success) {
                try await Self.checkDescriptors(.urlSession)
            }
        }
    #endif
}
