import ErrandTesting
import Foundation
import TestSupport
import Testing

/// The loopback server, tested with a plain socket client.
@Suite("LoopbackServer", .limited)
struct LoopbackServerTests {
    let server = LoopbackServer()

    private func send(_ text: String) async throws -> (text: String, error: Int32?) {
        try await server.start()
        let client = try RawClient(port: server.port)
        client.send(text)
        let response = client.readToEnd()
        client.close()
        await server.stop()
        return response
    }

    @Test func respondsAndRecordsRequests() async throws {
        server.route("/a") { _ in
            LoopbackResponse(headers: ["X-A": "1", "x-a": "2"], body: "hello")
        }
        let response = try await send(
            "POST /a?q=1 HTTP/1.1\r\nHost: h\r\nX-One: 1\r\nX-One: 2\r\nContent-Length: 3\r\n"
                + "Connection: close\r\n\r\nabc")
        #expect(
            response.text
                == "HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 5\r\n\r\nhello")
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.target == "/a?q=1" && request.path == "/a")
        #expect(request.query == "q=1")
        #expect(request.values(of: "x-one") == ["1", "2"])
        #expect(request.body == Data("abc".utf8) && request.isComplete)
    }

    @Test func readsChunkedBodies() async throws {
        _ = try await send(
            "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                + "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n")
        #expect(server.requests.first?.body == Data("abcde".utf8))
    }

    @Test func keepsConnectionsOpen() async throws {
        try await server.start()
        let client = try RawClient(port: server.port)
        for _ in 0..<3 {
            client.send("GET /none HTTP/1.1\r\n\r\n")
            #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 404"))
        }
        #expect(server.status.accepted == 1)
        #expect(server.requests.map(\.connection) == [0, 0, 0])
        client.close()
        try await server.until { $0.open == 0 }
        await server.stop()
    }

    @Test func chunkedResponsesHaveTrailers() async throws {
        server.otherwise { _ in
            .chunked([Data("ab".utf8), Data("c".utf8)], trailers: ["X-T": "t"]).closing()
        }
        let response = try await send("GET / HTTP/1.1\r\n\r\n")
        #expect(response.text.hasSuffix("\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nX-T: t\r\n\r\n"))
    }

    @Test func cutClosesAfterTheGivenByte() async throws {
        server.otherwise { _ in LoopbackResponse(body: "0123456789").cut(afterBodyBytes: 4) }
        let response = try await send("GET / HTTP/1.1\r\n\r\n")
        #expect(response.text.hasSuffix("Content-Length: 10\r\n\r\n0123"))
        #expect(response.error == nil)
    }

    @Test func resetEndsTheConnectionWithAnError() async throws {
        server.otherwise { _ in LoopbackResponse(body: "0123456789").reset(afterBytes: 0) }
        let response = try await send("GET / HTTP/1.1\r\n\r\n")
        #expect(response.text.isEmpty && response.error != nil)
    }

    @Test func gateHoldsTheResponse() async throws {
        let gate = Gate()
        server.otherwise { _ in LoopbackResponse(body: "late").held(by: gate).closing() }
        try await server.start()
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        try await gate.reached()
        #expect(server.status.bytesSent == 0)
        gate.open()
        #expect(client.readToEnd().text.hasSuffix("late"))
        client.close()
        await server.stop()
    }

    @Test func respondsBeforeReadingTheBody() async throws {
        server.route("/up", readsBody: false) { _ in LoopbackResponse(status: 413) }
        try await server.start()
        let client = try RawClient(port: server.port)
        client.send("POST /up HTTP/1.1\r\nContent-Length: 5\r\n\r\n")
        #expect(client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 413"))
        client.send("abcde")
        #expect(client.readToEnd().error == nil)
        client.close()
        await server.stop()
    }

    @Test func stopClosesWaitingConnections() async throws {
        server.otherwise { _ in .silence(until: Gate()) }
        server.route("/endless") { _ in .endless(until: Gate()) }
        try await server.start()
        let clients = try (0..<4).map { _ in try RawClient(port: server.port) }
        clients[0].send("GET / HTTP/1.1\r\n\r\n")
        clients[1].send("GET /endless HTTP/1.1\r\n\r\n")
        clients[2].send("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab")
        try await server.until { $0.requests >= 2 && $0.accepted == 4 }
        await server.stop()
        #expect(server.status.open == 0)
        for client in clients { client.close() }
    }
}
