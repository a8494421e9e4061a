import ErrandCore
import ErrandCurl
import ErrandTesting
import ErrandTransport
import Testing

/// The number of connections that the transport reports.
@Suite(.timeLimit(.minutes(15)), .bothEngines)
struct OpenConnectionsTests {
    private let transport = CurlTransport.tested()
    private let server = LoopbackServer()

    @Test func countFollowsTheConnections() async throws {
        try await server.start()
        let gate = Gate()
        server.route("/held", responses: LoopbackResponse(body: "x").held(by: gate))
        server.route("/closing", responses: LoopbackResponse(body: "x").closing())
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
        _ = try await transport.run(.get, server.url("/closing"))
        _ = try await transport.run(.get, server.url("/closing"))
        _ = try await transport.run(.get, server.url("/"))
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
}
