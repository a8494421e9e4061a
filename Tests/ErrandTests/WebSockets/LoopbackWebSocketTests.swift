import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// WebSockets of endpoints against LoopbackServer.
@Suite(.limited)
struct LoopbackWebSocketTests {
    final class Chat: BaseRequest, MessageEndpoint {
        typealias Incoming = String
        typealias Outgoing = String
        let path: String
        init(_ path: String) { self.path = path }
        override var url: EndpointURL { EndpointURL(raw: path) }
        var webSocket: WebSocketOptions { WebSocketOptions(subprotocols: ["v1"]) }
    }

    private let server = LoopbackServer()
    private let clock = ManualClock()

    private func withAgent(_ work: (RequestAgent) async throws -> Void) async throws {
        try await server.start()
        let agent = RequestAgent(
            configuration: Configuration(baseURL: server.baseURL), transport: CurlTransport(),
            clock: clock)
        let result: Result<Void, any Error>
        do { result = .success(try await work(agent)) } catch { result = .failure(error) }
        await agent.shutdown()
        await server.stop()
        try result.get()
    }

    private func read(_ socket: WebSocket<String, String>) async throws -> [String] {
        var texts: [String] = []
        for try await text in socket.messages { texts.append(text) }
        return texts
    }

    @Test func echoAndScript() async throws {
        server.route("/echo") { _ in .webSocket { $0.echo() } }
        server.route("/script") { _ in
            .webSocket { server in
                server.expect("subscribe")
                server.send("one")
                server.close()
            }
        }
        try await withAgent { agent in
            let echo = try await Chat("/echo").connect(on: agent)
            var messages = echo.messages.makeAsyncIterator()
            for count in [0, 125, 126, 65_535, 65_536, 300_000] {
                let text = String(repeating: "e", count: count)
                try await echo.send(text)
                #expect(try await messages.next() == text)
            }
            let script = try await Chat("/script").connect(on: agent)
            try await script.send("subscribe")
            #expect(try await read(script) == ["one"])
            #expect(server.failures == [])
            let failing = try await Chat("/script").connect(on: agent)
            try await failing.send("hello")
            let error = await #expect(throws: RequestError.self) { try await read(failing) }
            #expect(error?.webSocketClose?.code == .policyViolation)
            #expect(error?.webSocketClose?.reason.hasPrefix("The script expected") == true)
            #expect(server.failures.count == 1)
        }
    }

    /// A message is sent from the thread of its sender while the loop's thread sleeps.
    @Test func messageIsSentByItsSender() async throws {
        server.route("/echo") { _ in .webSocket { $0.echo() } }
        try await server.start()
        let transport = CurlTransport()
        let agent = RequestAgent(
            configuration: Configuration(baseURL: server.baseURL), transport: transport,
            clock: clock)
        let echo = try await Chat("/echo").connect(on: agent)
        var messages = echo.messages.makeAsyncIterator()
        let before = transport.callerTurns
        // The thread may still be awake after the echo.
        while transport.callerTurns == before {
            try await echo.send("hello")
            #expect(try await messages.next() == "hello")
        }
        await agent.shutdown(draining: false)
        await server.stop()
    }

    @Test(arguments: HostileFrame.allCases)
    func hostileFrame(_ frame: HostileFrame) async throws {
        server.route("/hostile") { _ in
            .webSocket { server in
                server.send("before")
                server.send(frame)
                server.expectClose(frame.closeCode)
            }
        }
        try await withAgent { agent in
            let socket = try await Chat("/hostile").connect(on: agent)
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == "before")
            let error = await #expect(throws: RequestError.self) { try await messages.next() }
            #expect(error?.code == .webSocketClosed)
            #expect(error?.webSocketClose?.code == frame.closeCode)
            #expect(error?.webSocketClose?.isClean == false)
            _ = await socket.task.outcome()
            #expect(server.failures == [])
        }
    }

    /// Half a frame, and an end without a close frame.
    @Test(arguments: [[0x81, 0x05, 0x68], []] as [[UInt8]])
    func endWithoutCloseFrame(_ bytes: [UInt8]) async throws {
        server.route("/end") { _ in
            .webSocket { server in
                server.send("whole")
                server.send(bytes: Data(bytes))
                server.disconnect()
            }
        }
        try await withAgent { agent in
            let socket = try await Chat("/end").connect(on: agent)
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == "whole")
            let error = await #expect(throws: RequestError.self) { try await messages.next() }
            #expect(error?.webSocketClose == WebSocketClose(code: .abnormal, isClean: false))
        }
    }

    @Test func lostConnection() async throws {
        let gate = Gate()
        server.route("/held") { _ in
            .webSocket { server in
                server.send("whole")
                server.hold(gate)
            }
        }
        try await withAgent { agent in
            let socket = try await Chat("/held").connect(on: agent)
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == "whole")
            try await gate.reached()
            server.closeConnections()
            let error = await #expect(throws: RequestError.self) { try await messages.next() }
            #expect(error?.webSocketClose?.isClean == false || error?.code == .connectionLost)
        }
    }

    /// A server that stalls is lost 20 seconds after a PING.
    @Test func stalledServer() async throws {
        let gate = Gate()
        server.route("/stalled") { _ in .webSocket { $0.hold(gate) } }
        try await withAgent { agent in
            let socket = try await Chat("/stalled").connect(on: agent)
            try await clock.untilSleeping()
            clock.advance(by: .seconds(20))
            try await clock.untilSleeping()
            clock.advance(by: .seconds(20))
            let error = await #expect(throws: RequestError.self) { try await read(socket) }
            #expect(error?.webSocketClose == WebSocketClose(code: .internalError, isClean: false))
            _ = await socket.task.outcome()
        }
    }

    @Test(arguments: [
        ["Sec-WebSocket-Accept": "wrong"], ["Sec-WebSocket-Accept": ""], ["Upgrade": ""],
        ["Connection": "close"], ["Sec-WebSocket-Protocol": "v3"],
        ["Sec-WebSocket-Extensions": "x-other"],
    ])
    func wrongAcceptance(_ headers: [String: String]) async throws {
        server.route("/wrong") { _ in
            .webSocket { server in
                server.headers = headers
                server.send("never")
            }
        }
        try await withAgent { agent in
            let error = await #expect(throws: RequestError.self) {
                try await Chat("/wrong").connect(on: agent)
            }
            #expect(error?.code == .badServerResponse, "\(String(describing: error))")
            #expect(server.requests.count == 1)
            try await server.until { $0.open == 0 }
        }
    }

    /// URLSession hands no connection over.
    @Test func urlSessionSendsNothing() async throws {
        server.route("/echo") { _ in .webSocket { $0.echo() } }
        try await server.start()
        let agent = RequestAgent(
            configuration: Configuration(baseURL: server.baseURL), transport: URLSessionTransport())
        let error = await #expect(throws: RequestError.self) {
            try await Chat("/echo").connect(on: agent)
        }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("hands no connection over to a WebSocket") == true)
        #expect(server.status.accepted == 0 && server.status.requests == 0)
        await agent.shutdown()
        await server.stop()
    }

    @Test(arguments: [200, 426, 503])
    func otherStatus(_ status: Int) async throws {
        server.route("/refused") { _ in LoopbackResponse(status: status, body: "no") }
        try await withAgent { agent in
            let error = await #expect(throws: RequestError.self) {
                try await Chat("/refused").connect(on: agent)
            }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.response?.statusCode == status && error?.response?.string == "no")
        }
    }

    @Test func ordinaryRequestGets426() async throws {
        server.route("/echo") { _ in .webSocket { $0.echo() } }
        try await withAgent { agent in
            let error = await #expect(throws: RequestError.self) {
                try await InlineRequest("/echo").send(on: agent)
            }
            #expect(error?.response?.statusCode == 426)
        }
    }

    /// 401 renews the credentials; the upgrade is sent again with them.
    @Test func renewedCredentials() async throws {
        server.route("/locked") { request in
            request.header("Authorization") == "Bearer new"
                ? .webSocket { $0.echo() } : LoopbackResponse(status: 401)
        }
        let token = Mutex("old")
        try await withAgent { agent in
            agent.configuration.authenticators = [
                "127.0.0.1": .bearer {
                    token.withLock { $0 }
                } refresh: {
                    token.withLock { $0 = "new" }
                }
            ]
            let socket = try await Chat("/locked").connect(on: agent)
            try await socket.send("hello")
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == "hello")
            #expect(
                server.requests.map { $0.header("Authorization") } == ["Bearer old", "Bearer new"])
            #expect(Set(server.requests.map { $0.header("Sec-WebSocket-Key") }).count == 2)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        server.route("/echo") { _ in .webSocket { $0.echo() } }
        server.route("/moved") { _ in
            LoopbackResponse(status: status, headers: ["Location": "/echo"])
        }
        try await withAgent { agent in
            let socket = try await Chat("/moved").connect(on: agent)
            try await socket.send("hello")
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == "hello")
            agent.configuration.redirectPolicy = .none
            let error = await #expect(throws: RequestError.self) {
                try await Chat("/moved").connect(on: agent)
            }
            #expect(error?.response?.statusCode == status)
        }
    }
}
