import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import TestSupport
import Testing

/// The number of connections that the transport reports.
@Suite(.limited)
struct OpenConnectionsTests {
    private let transport = CurlTransport()
    private let server = LoopbackServer()

    @Test func countFollowsTheConnections() async throws {
        try await server.start()
        let gate = Gate()
        server.route("/held", responses: LoopbackResponse(body: "x").held(by: gate))
        server.route(
            "/closing", responses: LoopbackResponse(headers: ["Connection": "close"], body: "x"))
        server.route("/", responses: LoopbackResponse(body: "x"))
        #expect(transport.openConnections == 0)
        // Two requests at once need two connections, which are kept.
        async let first = transport.run(.get, server.url("/held"))
        async let second = transport.run(.get, server.url("/held"))
        try await gate.reached(times: 2)
        #expect(transport.openConnections == 2)
        gate.open()
        _ = try await (first, second)
        #expect(transport.openConnections == 2)
        // The next request comes after the end of the closed connection.
        for path in ["/closing", "/closing", "/"] {
            #expect(try await transport.run(.get, server.url(path)).error == nil)
        }
        #expect(transport.openConnections == 1)
        await server.stop()
    }

    @Test func failedConnectIsNotCounted() async throws {
        try await server.start()
        server.route("/", responses: LoopbackResponse(body: "x"))
        let refusing = try DeadPort.Refusing()
        let record = try await transport.run(.get, "http://127.0.0.1:\(refusing.port)/")
        #expect(record.end?.error?.code == .cannotConnect)
        // This one comes after the end of the failed connection.
        _ = try await transport.run(.get, server.url("/"))
        #expect(transport.openConnections == 1)
        await server.stop()
    }

    /// Connects that wait for nothing but the server are in progress together.
    @Test func slowConnectsAreInProgressTogether() async throws {
        let silent = try DeadPort.Silent()
        let request = TransportRequest(url: try .test("http://127.0.0.1:\(silent.port)/"))
        let receivers = (0..<40).map { _ in RecordingReceiver() }
        let transfers = receivers.map { transport.start(request, receiver: $0) }
        while transport.openConnections < transfers.count { await Task.yield() }
        for transfer in transfers { transfer.cancel() }
        for receiver in receivers {
            #expect(try await receiver.ended().end?.error?.code == .cancelled)
        }
        withExtendedLifetime(silent) {}
    }

    @Test func manyRequestsAtOnceHaveAConnectionEach() async throws {
        try await server.start()
        let gate = Gate()
        server.route("/held", responses: LoopbackResponse(body: "x").held(by: gate))
        let request = TransportRequest(url: try .test(server.url("/held")))
        let receivers = (0..<100).map { _ in RecordingReceiver() }
        let transfers = receivers.map { transport.start(request, receiver: $0) }
        try await gate.reached(times: transfers.count)
        #expect(transport.openConnections == transfers.count)
        gate.open()
        for receiver in receivers { #expect(try await receiver.ended().text == "x") }
        await server.stop()
    }
}
