import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// WebSockets of endpoints against the scripts of ErrandTesting, without a network.
@Suite(.limited)
struct ScriptedWebSocketTests {
    final class Chat: BaseRequest, MessageEndpoint {
        typealias Incoming = String
        typealias Outgoing = String
        override var url: EndpointURL { "wss://chat.test/room" }
        var webSocket: WebSocketOptions { WebSocketOptions(subprotocols: ["v2"]) }
    }

    final class Blobs: BaseRequest, MessageEndpoint {
        typealias Incoming = Data
        typealias Outgoing = Data
        override var url: EndpointURL { "wss://chat.test/room" }
    }

    private let transport = ScriptedTransport()
    private let clock = ManualClock()
    private let agent: RequestAgent

    init() { agent = RequestAgent(transport: transport, clock: clock) }

    private func script(_ build: (inout WebSocketScript) -> Void) {
        transport.on(.get, "/room", .webSocket(build))
    }

    private func read(_ socket: WebSocket<String, String>) async throws -> [String] {
        var texts: [String] = []
        for try await text in socket.messages { texts.append(text) }
        return texts
    }

    @Test func conversation() async throws {
        script { server in
            server.subprotocol = "v2"
            server.expect("subscribe")
            server.send("one")
            server.send(fragments: ["t", "", "wo"])
            server.ping(Data("p".utf8))
            server.close(.goingAway, reason: "done")
        }
        let socket = try await Chat().connect(on: agent)
        #expect(socket.subprotocol == "v2" && socket.response.status == 101)
        try await socket.send("subscribe")
        #expect(try await read(socket) == ["one", "two"])
        try await transport.untilIdle()
        #expect(transport.failures == [])
    }

    @Test func echo() async throws {
        script { $0.echo() }
        let socket = try await Blobs().connect(on: agent)
        var messages = socket.messages.makeAsyncIterator()
        for count in [0, 1, 125, 126, 65_535, 65_536, 200_000] {
            let bytes = Data(repeating: 7, count: count)
            try await socket.send(bytes)
            #expect(try await messages.next() == bytes)
        }
        socket.close()
        #expect(try await messages.next() == nil)
        #expect(transport.failures == [])
    }

    @Test func unexpectedMessageFails() async throws {
        script { server in
            server.expect("subscribe")
            server.send("one")
        }
        let socket = try await Chat().connect(on: agent)
        try await socket.send("hello")
        let error = await #expect(throws: RequestError.self) { try await read(socket) }
        #expect(error?.code == .unsupported)
        let reason =
            "The script expected text 'subscribe' (step 1 of 2), but the client sent text 'hello'."
        #expect(error?.message.contains(reason) == true)
        #expect(transport.failures == ["GET https://chat.test/room: \(reason)"])
    }

    @Test func messageAfterTheScriptFails() async throws {
        script { $0.send("one") }
        let socket = try await Chat().connect(on: agent)
        try await socket.send("hello")
        let error = await #expect(throws: RequestError.self) { try await read(socket) }
        #expect(error?.code == .unsupported && transport.failures.count == 1)
    }

    /// What the client owes is known when its close frame gets its response.
    @Test func earlyCloseFails() async throws {
        script { $0.expect("a price") { _ in true } }
        let socket = try await Chat().connect(on: agent)
        socket.close(.goingAway)
        #expect(try await read(socket) == [])
        #expect(
            transport.failures == [
                "GET https://chat.test/room: The client closed with 1001, but the script expected a price."
            ])
    }

    @Test(arguments: [WebSocketClose.Code.normal, .goingAway])
    func expectedClose(_ code: WebSocketClose.Code) async throws {
        script { $0.expectClose(.normal) }
        let socket = try await Chat().connect(on: agent)
        socket.close(code)
        #expect(try await read(socket) == [])
        #expect(transport.failures.count == (code == .normal ? 0 : 1))
    }

    @Test func gateHoldsTheScript() async throws {
        let gate = Gate()
        script { server in
            server.hold(gate)
            server.send("late")
        }
        let socket = try await Chat().connect(on: agent)
        try await gate.reached()
        // It waits at the gate once, whatever the client sends meanwhile.
        try await clock.untilSleeping()
        clock.advance(by: .seconds(20))
        gate.open()
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == "late")
        #expect(gate.arrivals == 1)
    }

    @Test func disconnection() async throws {
        script { server in
            server.send("one")
            server.disconnect()
        }
        let socket = try await Chat().connect(on: agent)
        let error = await #expect(throws: RequestError.self) { try await read(socket) }
        #expect(error?.webSocketClose == WebSocketClose(code: .abnormal, isClean: false))
        #expect(transport.failures == [])
    }

    @Test func refusalIsAResponse() async throws {
        transport.on(.get, "/room", ScriptedResponse(status: .forbidden))
        let error = await #expect(throws: RequestError.self) { try await Chat().connect(on: agent) }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 403)
    }

    /// A request that is no WebSocket does not fit the script.
    @Test func ordinaryRequestFails() async throws {
        script { $0.echo() }
        let error = await #expect(throws: RequestError.self) {
            try await InlineRequest("https://chat.test/room").send(on: agent)
        }
        #expect(error?.code == .unsupported && transport.failures.count == 1)
    }

    /// The server waits while the client does not read, and nothing is lost.
    @Test func backPressure() async throws {
        let text = String(repeating: "x", count: 30_000)
        script { server in
            for number in 0..<20 { server.send("\(number) \(text)") }
            server.close()
        }
        let socket = try await Chat().connect(on: agent)
        #expect(try await read(socket) == (0..<20).map { "\($0) \(text)" })
    }

    // MARK: - Fragments

    private func pieces(
        _ socket: WebSocket<String, String>
    ) async throws -> [WebSocketFragment] {
        var pieces: [WebSocketFragment] = []
        for try await piece in socket.fragments { pieces.append(piece) }
        return pieces
    }

    /// A message beyond every limit arrives in pieces.
    @Test func largeMessageInPieces() async throws {
        let text = String(repeating: "0123456789", count: 500_000)
        script { server in
            server.send(.text(text))
            server.send(fragments: ["a", "b", ""])
            server.send("")
            server.close()
        }
        let pieces = try await pieces(Chat().connect(on: agent))
        var messages: [Data] = [Data()]
        for piece in pieces {
            #expect(piece.isText)
            messages[messages.count - 1] += piece.bytes
            if piece.endsMessage { messages.append(Data()) }
        }
        #expect(messages.map(\.count) == [5_000_000, 2, 0, 0])
        #expect(messages[0] == Data(text.utf8) && messages[1] == Data("ab".utf8))
    }

    /// The connection is paused while the pieces are not read, also before the first one was asked for.
    @Test(arguments: [false, true])
    func piecesHaveBackPressure(readsBefore: Bool) async throws {
        let connections = SocketTransport()
        defer { connections.shutDown() }
        let agent = RequestAgent(transport: connections, clock: clock)
        let socket = try await Chat().connect(on: agent)
        let connection = try #require(connections.connections.first)
        var pieces = socket.fragments.makeAsyncIterator()
        if readsBefore {
            connection.send(ServerBytes.text("first"))
            #expect(try await pieces.next()?.endsMessage == true)
        }
        let chunk = [UInt8](repeating: 0x61, count: 10_000)
        connection.send(ServerBytes.frame(1, [], announced: 1_000_000))
        for _ in 0..<100 { connection.send(chunk) }
        #expect(connection.isPaused)
        var (count, largest) = (0, 0)
        while count < 1_000_000, let piece = try await pieces.next() {
            count += piece.bytes.count
            largest = max(largest, piece.bytes.count)
            #expect(piece.endsMessage == (count == 1_000_000))
        }
        #expect(count == 1_000_000 && largest <= 128 << 10)
        #expect(!connection.isPaused)
    }

    @Test(arguments: [false, true])
    func messagesAndPiecesAreExclusive(piecesFirst: Bool) async throws {
        script { server in
            server.send("one")
            server.send("two")
        }
        let socket = try await Chat().connect(on: agent)
        var (messages, pieces) = (
            socket.messages.makeAsyncIterator(), socket.fragments.makeAsyncIterator()
        )
        let error: RequestError?
        if piecesFirst {
            #expect(try await pieces.next()?.bytes == Data("one".utf8))
            error = await #expect(throws: RequestError.self) { try await messages.next() }
            #expect(try await pieces.next()?.bytes == Data("two".utf8))
        } else {
            #expect(try await messages.next() == "one")
            error = await #expect(throws: RequestError.self) { try await pieces.next() }
            #expect(try await messages.next() == "two")
        }
        #expect(error?.code == .invalidCombination)
    }

    /// The limit of messages holds for what arrived before the first one was asked for, whole or not.
    @Test(arguments: [false, true])
    func limitHoldsForEarlierBytes(isWhole: Bool) async throws {
        final class Small: BaseRequest, MessageEndpoint {
            typealias Incoming = String
            typealias Outgoing = String
            override var url: EndpointURL { "wss://chat.test/room" }
            var webSocket: WebSocketOptions {
                WebSocketOptions(compression: .none, maximumMessageBytes: 100)
            }
        }
        let connections = SocketTransport()
        defer { connections.shutDown() }
        let agent = RequestAgent(transport: connections, clock: clock)
        let socket = try await Small().connect(on: agent)
        let connection = try #require(connections.connections.first)
        connection.send(
            ServerBytes.text("small")
                + ServerBytes.text(String(repeating: "x", count: 101), final: isWhole))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == "small")
        let error = await #expect(throws: RequestError.self) { try await messages.next() }
        #expect(error?.webSocketClose?.code == .messageTooBig)
        #expect(error?.message.contains("maximumMessageBytes") == true)
        #expect(connection.frames().map { $0.prefix(10) } == ["close 1009"])
    }

    // MARK: - Reconnecting

    /// A message in fragments that fails closes the connection, which is replaced.
    @Test func failedFragmentsAreALoss() async throws {
        struct Failure: Error {}
        let gate = Gate()
        defer { gate.open() }
        script { $0.hold(gate) }
        var sockets = Chat().connections(on: agent).makeAsyncIterator()
        let first = try #require(try await sockets.next())
        let parts = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: Failure()) }
        await #expect(throws: RequestError.self) { try await first.send(fragments: parts) }
        let clock = clock
        async let advanced: Void = {
            // The close timeout of the first connection, and the delay.
            try await clock.untilSleeping(2)
            clock.advance(by: .seconds(5))
        }()
        #expect(try await sockets.next() != nil)
        try await advanced
        #expect(transport.requestCount == 2)
    }

    @Test func closedByTheUserEndsTheSequence() async throws {
        script { $0.expectClose() }
        var sockets = Chat().connections(on: agent).makeAsyncIterator()
        try await sockets.next()?.close(.internalError)
        #expect(try await sockets.next() == nil)
        #expect(transport.requestCount == 1)
    }

    /// `Retry-After` of a refusal counts.
    @Test func refusalWithRetryAfter() async throws {
        transport.on(
            .get, "/room",
            ScriptedResponse(status: .serviceUnavailable, headers: [.retryAfter: "17"]),
            .webSocket { $0.echo() })
        var sockets = Chat().connections(on: agent).makeAsyncIterator()
        let clock = clock
        async let advanced: Void = {
            try await clock.untilSleeping()
            clock.advance(by: .seconds(17))
        }()
        #expect(try await sockets.next() != nil)
        try await advanced
        #expect(transport.requestCount == 2)
    }

    /// The endpoint's own policy names the statuses after which another connection makes sense.
    @Test func policyOfTheEndpointCounts() async throws {
        final class Late: BaseRequest, MessageEndpoint {
            typealias Incoming = String
            typealias Outgoing = String
            override var url: EndpointURL { "wss://chat.test/room" }
            override var retryPolicy: RetryPolicy? {
                var policy = RetryPolicy()
                policy.retryableStatusCodes = [404]
                return policy
            }
        }
        transport.on(
            .get, "/room", ScriptedResponse(status: .notFound, headers: [.retryAfter: "17"]),
            .webSocket { $0.echo() })
        var sockets = Late().connections(on: agent).makeAsyncIterator()
        let clock = clock
        async let advanced: Void = {
            try await clock.untilSleeping()
            clock.advance(by: .seconds(17))
        }()
        #expect(try await sockets.next() != nil)
        try await advanced
        #expect(transport.requestCount == 2)
    }

    /// The agent ends the wait between two connections, as it ends its tasks.
    @Test(arguments: [false, true])
    func agentEndsTheWait(isShutDown: Bool) async throws {
        transport.on(
            .get, "/room",
            ScriptedResponse(status: .serviceUnavailable, headers: [.retryAfter: "17"]),
            .webSocket { $0.echo() })
        var sockets = Chat().connections(on: agent).makeAsyncIterator()
        let (clock, agent) = (clock, agent)
        async let ended: Void = {
            try await clock.untilSleeping()
            if isShutDown { await agent.shutdown() } else { agent.cancelAll() }
        }()
        let error = await #expect(throws: RequestError.self) { try await sockets.next() }
        try await ended
        #expect(error?.code == (isShutDown ? .agentShutDown : .cancelled))
        #expect(transport.requestCount == 1)
    }

    @Test(arguments: [400, 401, 404, 426])
    func otherRefusalsEndTheSequence(_ status: Int) async throws {
        transport.on(.get, "/room", ScriptedResponse(status: .init(code: status)))
        var sockets = Chat().connections(on: agent).makeAsyncIterator()
        let error = await #expect(throws: RequestError.self) { try await sockets.next() }
        #expect(error?.response?.statusCode == status && transport.requestCount == 1)
    }
}
