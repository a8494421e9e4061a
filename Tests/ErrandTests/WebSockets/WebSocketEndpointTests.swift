import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Errand
@testable import ErrandWebSocket

/// WebSockets as endpoints, with a server that the test plays.
@Suite(.limited)
final class WebSocketEndpointTests: Sendable {
    final class Chat: BaseRequest, MessageEndpoint {
        typealias Incoming = String
        typealias Outgoing = String
        let options: WebSocketOptions
        init(_ options: WebSocketOptions = WebSocketOptions()) { self.options = options }
        override var url: EndpointURL { "wss://chat.test/rooms/1?key=2" }
        var webSocket: WebSocketOptions { options }
    }

    struct Item: Codable, Equatable, Sendable { var id: Int }

    final class Items: BaseRequest, MessageEndpoint {
        typealias Incoming = Item
        typealias Outgoing = Item
        override var url: EndpointURL { "https://chat.test/items" }
    }

    private let transport: SocketTransport
    private let clock = ManualClock()
    private let agent: RequestAgent

    convenience init() { self.init { _ in .switches([:]) } }

    private init(_ reply: @escaping @Sendable (TransportRequest) -> SocketTransport.Reply) {
        transport = SocketTransport(reply)
        agent = RequestAgent(transport: transport, clock: clock)
    }

    deinit { transport.shutDown() }

    private func connect(
        _ options: WebSocketOptions = WebSocketOptions(compression: .none)
    ) async throws -> (WebSocket<String, String>, SocketTransport.Connection) {
        let socket = try await Chat(options).connect(on: agent)
        return (socket, try #require(transport.connections.last))
    }

    // MARK: - Opening

    @Test func request() async throws {
        let socket = try await Chat(WebSocketOptions(subprotocols: ["v2", "v1"])).connect(on: agent)
        let connection = try #require(transport.connections.first)
        let request = connection.request
        #expect(request.url.string == "https://chat.test/rooms/1?key=2")
        #expect(request.method == .get && request.body == nil)
        #expect(request.options.httpVersion == .automatic && request.options.isUpgrade)
        #expect(request.headers[.upgrade] == "websocket")
        #expect(request.headers[.connection] == "Upgrade")
        #expect(request.headers[.secWebSocketVersion] == "13")
        #expect(request.headers[.secWebSocketProtocol] == "v2, v1")
        #expect(request.headers[.secWebSocketExtensions]?.hasPrefix("permessage-deflate") == true)
        #expect(socket.response.status == 101 && socket.subprotocol == nil)
        #expect(!connection.hasEnded)
    }

    @Test(arguments: [
        ("sec-websocket-accept", "another"), ("sec-websocket-accept", ""), ("upgrade", "h2c"),
        ("connection", "close"), ("sec-websocket-protocol", "v3"),
        ("sec-websocket-extensions", "x-other"),
        ("sec-websocket-extensions", "permessage-deflate; unknown"),
    ])
    func wrongResponseEndsTheConnection(_ field: String, _ value: String) async throws {
        let name = try #require(HTTPField.Name(field))
        let test = Self { _ in .switches([name: value]) }
        let options = WebSocketOptions(subprotocols: ["v1"])
        let error = await #expect(throws: RequestError.self) {
            try await Chat(options).connect(on: test.agent)
        }
        #expect(error?.code == .badServerResponse, "\(String(describing: error))")
        #expect(test.transport.connections.count == 1)
        #expect(test.transport.connections.allSatisfy { $0.hasEnded })
    }

    /// A stream of HTTP/2 takes the place of the key (RFC 8441 §5).
    @Test func streamOfHTTP2() async throws {
        let test = Self { _ in .stream([.secWebSocketProtocol: "v1"]) }
        let options = WebSocketOptions(subprotocols: ["v1"], compression: .none)
        let socket = try await Chat(options).connect(on: test.agent)
        let connection = try #require(test.transport.connections.first)
        #expect(socket.response.status == 200 && socket.subprotocol == "v1")
        try await socket.send("hello")
        #expect(connection.frames() == ["text hello"])
        connection.send(ServerBytes.text("one"))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == "one")
        // The server ends a closed stream first (RFC 6455 §7.1.1).
        socket.close()
        #expect(connection.frames() == ["close 1000"])
        connection.send(ServerBytes.close(1000))
        #expect(try await messages.next() == nil)
        connection.pull()
        #expect(!connection.hasOutputEnded)
        connection.close()
        #expect(connection.hasOutputEnded)
        #expect(try await socket.task.response().statusCode == 200)
    }

    @Test func streamWithAnotherSubprotocol() async throws {
        let test = Self { _ in .stream([.secWebSocketProtocol: "v2"]) }
        let options = WebSocketOptions(subprotocols: ["v1"])
        let error = await #expect(throws: RequestError.self) {
            try await Chat(options).connect(on: test.agent)
        }
        #expect(error?.code == .badServerResponse)
        #expect(test.transport.connections.allSatisfy { $0.hasEnded })
    }

    @Test(arguments: [200, 204, 403, 426, 503])
    func otherStatusIsItsError(_ status: Int) async {
        let test = Self { _ in .status(status, [:]) }
        let error = await #expect(throws: RequestError.self) {
            try await Chat().connect(on: test.agent)
        }
        #expect(error?.code == .unacceptableStatus && error?.response?.statusCode == status)
    }

    @Test func invalidSubprotocolSendsNothing() async {
        let error = await #expect(throws: RequestError.self) {
            try await Chat(WebSocketOptions(subprotocols: ["a b"])).connect(on: agent)
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(transport.connections.isEmpty)
    }

    /// A redirect is followed with a new key (RFC 6455 §4.1).
    @Test func redirect() async throws {
        let test = Self { request in
            request.url.path == "/moved"
                ? .switches([:]) : .status(307, [.location: "https://chat.test/moved"])
        }
        _ = try await Chat().connect(on: test.agent)
        let keys = test.transport.connections.map { $0.request.headers[.secWebSocketKey] }
        #expect(keys.count == 2 && keys[0] != nil && keys[0] != keys[1])
    }

    // MARK: - Messages

    @Test func messages() async throws {
        let (socket, connection) = try await connect()
        var messages = socket.messages.makeAsyncIterator()
        for byte in ServerBytes.text("one") + ServerBytes.text("two", final: false) {
            connection.send([byte])
        }
        #expect(try await messages.next() == "one")
        async let next = messages.next()
        connection.send(ServerBytes.ping("p") + ServerBytes.more(" three"))
        #expect(try await next == "two three")
        #expect(connection.frames() == ["pong p"])
        try await socket.send("hello")
        #expect(connection.frames() == ["text hello"])
    }

    @Test func json() async throws {
        let socket = try await Items().connect(on: agent)
        let connection = try #require(transport.connections.last)
        try await socket.send(Item(id: 7))
        #expect(connection.frames() == [#"text {"id":7}"#])
        connection.send(
            ServerBytes.text(#"{"id":1}"#) + ServerBytes.text("no JSON")
                + ServerBytes.text(#"{"id":2}"#))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == Item(id: 1))
        await #expect(throws: RequestError.self) { try await messages.next() }
        // The error of one message leaves the next ones.
        #expect(try await messages.next() == Item(id: 2))
    }

    @Test func binaryIsNoString() async throws {
        let (socket, connection) = try await connect()
        connection.send(ServerBytes.frame(2, [1]))
        var messages = socket.messages.makeAsyncIterator()
        let error = await #expect(throws: RequestError.self) { try await messages.next() }
        #expect(error?.code == .undecodable)
    }

    /// The second task that waits for a message is refused; the first one is not disturbed.
    @Test func twoReaders() async throws {
        let (socket, connection) = try await connect()
        let (results, more) = AsyncStream<Result<String?, any Error>>.makeStream()
        for _ in 0..<2 {
            Task {
                var messages = socket.messages.makeAsyncIterator()
                do {
                    more.yield(.success(try await messages.next()))
                } catch {
                    more.yield(.failure(error))
                }
            }
        }
        var result = results.makeAsyncIterator()
        let first = await result.next()
        #expect {
            _ = try first?.get()
        } throws: { error in
            (error as? RequestError)?.code == .invalidCombination
        }
        connection.send(ServerBytes.text("one"))
        #expect(try await result.next()?.get() == "one")
    }

    // MARK: - Back-pressure

    @Test func connectionIsPausedWhileMessagesWait() async throws {
        let (socket, connection) = try await connect()
        let text = String(repeating: "x", count: 10_000)
        for number in 0..<40 { connection.send(ServerBytes.text("\(number) \(text)")) }
        #expect(connection.isPaused)
        var messages = socket.messages.makeAsyncIterator()
        for number in 0..<40 {
            #expect(try await messages.next() == "\(number) \(text)")
        }
        #expect(!connection.isPaused)
        connection.send(ServerBytes.text("last"))
        #expect(try await messages.next() == "last")
    }

    /// Bytes that arrive with their buffer are those of the connection, too, not of the body of the 101 response.
    @Test func chunksAreReadByTheConnection() async throws {
        let (socket, connection) = try await connect()
        #expect(connection.sendChunk(ServerBytes.text("one") + ServerBytes.text("two")) == .more)
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == "one")
        #expect(try await messages.next() == "two")
    }

    /// Many messages in one chunk are bounded, too, also if they were compressed.
    @Test func chunkIsReadInParts() async throws {
        let (socket, connection) = try await connect()
        let text = String(repeating: "y", count: 10_000)
        connection.send((0..<40).flatMap { ServerBytes.text("\($0) \(text)") })
        #expect(connection.isPaused)
        var messages = socket.messages.makeAsyncIterator()
        for number in 0..<40 { #expect(try await messages.next() == "\(number) \(text)") }
        #expect(!connection.isPaused)
    }

    /// A server that sends PINGs and reads nothing is not read either.
    @Test func unsentPongsPauseTheConnection() async throws {
        let (socket, connection) = try await connect()
        let ping = ServerBytes.ping(String(repeating: "p", count: 125))
        for _ in 0..<2_000 where !connection.isPaused { connection.send(ping) }
        #expect(connection.isPaused)
        #expect(connection.frames().count < 600)
        #expect(!connection.isPaused)
        withExtendedLifetime(socket) {}
    }

    @Test func sendersWaitForTheSocket() async throws {
        let (socket, connection) = try await connect()
        let text = String(repeating: "z", count: 70_000)
        // The first one finds an empty buffer.
        try await socket.send(text)
        let second = Task { try await socket.send("second") }
        let cancelled = Task { try await socket.send("cancelled") }
        cancelled.cancel()
        let error = await #expect(throws: RequestError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
        connection.pull(upTo: 20_000)
        try await second.value
        #expect(connection.frames() == ["text 70000 bytes", "text second"])
    }

    /// However the transfer ends, a waiting sender gets its error.
    @Test(arguments: [false, true])
    func endOfTheTransferEndsTheSenders(isCancelled: Bool) async throws {
        let (socket, connection) = try await connect()
        try await socket.send(String(repeating: "z", count: 70_000))
        let second = Task { try await socket.send("second") }
        // It waits once it has tried; a later end than its wait is the case of interest.
        while !isWaiting(socket) { await Task.yield() }
        if isCancelled {
            socket.task.cancel()
        } else {
            connection.end(RequestError(.connectionLost, stage: .transport, "reset"))
        }
        let error = await #expect(throws: RequestError.self) { try await second.value }
        #expect(error?.code == (isCancelled ? .cancelled : .connectionLost))
    }

    private func isWaiting(_ socket: WebSocket<String, String>) -> Bool {
        socket.driver.hasWaitingSender
    }

    /// A server that reads no further before its own messages are read gets a large one.
    @Test func largeMessageDoesNotStopReading() async throws {
        let (socket, connection) = try await connect()
        try await socket.send(String(repeating: "z", count: 70_000))
        connection.send(ServerBytes.text("x"))
        #expect(!connection.isPaused)
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == "x")
    }

    /// A write has failed while reading was paused: what has arrived is read, and the end reaches everyone.
    @Test(arguments: [false, true])
    func lostOutputWhilePaused(byPongs: Bool) async throws {
        let (socket, connection) = try await connect()
        if byPongs {
            let ping = ServerBytes.ping(String(repeating: "p", count: 125))
            for _ in 0..<2_000 where !connection.isPaused { connection.send(ping) }
        } else {
            for _ in 0..<2_000 where !connection.isPaused {
                connection.send(ServerBytes.text(String(repeating: "m", count: 100)))
            }
        }
        #expect(connection.isPaused)
        connection.send(ServerBytes.text("last"))
        connection.loseOutput()
        #expect(!connection.isPaused)
        // Neither a message nor a PONG is kept for a connection that takes none.
        #expect(try !socket.trySend("late"))
        let late = Task { try await socket.send("late") }
        connection.end(RequestError(.connectionLost, stage: .transport, "reset"))
        let error = await #expect(throws: RequestError.self) { try await late.value }
        #expect(error?.code == .connectionLost)
        var last: String?
        let end = await #expect(throws: RequestError.self) {
            for try await text in socket.messages { last = text }
        }
        #expect(last == "last" && end?.code == .connectionLost)
    }

    /// The end that the server has sent stays, when a message before it is refused later.
    @Test func refusedMessageOfAnEndedConnection() async throws {
        let (socket, connection) = try await connect(
            WebSocketOptions(compression: .none, maximumMessageBytes: 100))
        connection.send(
            ServerBytes.text("small") + ServerBytes.text(String(repeating: "x", count: 101))
                + ServerBytes.close(1000))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == "small")
        let error = await #expect(throws: RequestError.self) { try await messages.next() }
        #expect(error?.webSocketClose?.code == .messageTooBig)
        #expect(socket.closed == WebSocketClose(code: .normal, isClean: true))
        #expect(connection.frames() == ["close 1000"])
    }

    /// The task fails, also if the server closes the connection in time.
    @Test func violationFailsTheTask() async throws {
        let (socket, connection) = try await connect()
        connection.send([0x81, 1, 0xFF])
        connection.close()
        let error = await #expect(throws: RequestError.self) { try await socket.task.response() }
        #expect(error?.webSocketClose?.code == .invalidPayload)
    }

    @Test func trySend() async throws {
        let (socket, connection) = try await connect()
        #expect(try socket.trySend(String(repeating: "z", count: 70_000)))
        #expect(try !socket.trySend("no room"))
        connection.pull()
        #expect(try socket.trySend("room"))
        #expect(connection.frames() == ["text 70000 bytes", "text room"])
        socket.close()
        #expect(throws: RequestError.self) { try socket.trySend("closed") }
    }

    @Test func fragments() async throws {
        let (socket, connection) = try await connect()
        let (parts, more) = AsyncStream<Data>.makeStream()
        let sending = Task { try await socket.send(fragments: parts) }
        more.yield(Data("a".utf8))
        // The other message waits for the end of this one.
        while connection.frames(keeping: true) != ["binary unfinished a"] { await Task.yield() }
        #expect(try !socket.trySend("other"))
        let other = Task { try await socket.send("other") }
        more.yield(Data("b".utf8))
        more.finish()
        try await sending.value
        try await other.value
        #expect(
            connection.frames() == [
                "binary unfinished a", "more unfinished b", "more", "text other",
            ]
        )
    }

    @Test func fragmentsThatFail() async throws {
        struct Failure: Error {}
        let (socket, connection) = try await connect()
        let parts = AsyncThrowingStream<Data, any Error> { more in
            more.yield(Data("a".utf8))
            more.finish(throwing: Failure())
        }
        let error = await #expect(throws: RequestError.self) {
            try await socket.send(fragments: parts)
        }
        #expect(error?.code == .bodyReadFailed && error?.underlying is Failure)
        #expect(connection.frames() == ["binary unfinished a", "close 1011"])
    }

    /// A message that was begun cannot be taken back, also while its next fragment, or its end, waits for room.
    @Test(arguments: [false, true])
    func fragmentsThatAreCancelled(atEnd: Bool) async throws {
        let (socket, connection) = try await connect()
        let (asked, event) = AsyncStream<Void>.makeStream()
        let count = Mutex(0)
        let parts = AsyncStream { () -> Data? in
            let number = count.withLock { count in
                count += 1
                return count
            }
            // The first fragment has used up the room.
            if number == 2 { event.finish() }
            if number == 1 { return Data(count: 70_000) }
            return atEnd ? nil : Data(count: 1)
        }
        let sending = Task { try await socket.send(fragments: parts) }
        for await _ in asked {}
        sending.cancel()
        let error = await #expect(throws: RequestError.self) { try await sending.value }
        #expect(error?.code == .cancelled)
        #expect(connection.frames() == ["binary unfinished 70000 bytes", "close 1011"])
    }

    // MARK: - The end

    @Test func closeHandshake() async throws {
        let (socket, connection) = try await connect()
        let task = socket.task
        socket.close(.goingAway, reason: "bye")
        #expect(connection.frames() == ["close 1001"])
        #expect(!connection.hasOutputEnded)
        let error = await #expect(throws: RequestError.self) { try await socket.send("late") }
        #expect(error?.code == .webSocketClosed)
        connection.send(ServerBytes.text("on its way") + ServerBytes.close(1001))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == "on its way")
        #expect(try await messages.next() == nil)
        connection.pull()
        #expect(connection.hasOutputEnded)
        connection.close()
        #expect(try await task.response().statusCode == 101)
    }

    @Test(arguments: [(1000, true), (1001, true), (1011, false), (4000, false)])
    func closeOfTheServer(_ code: Int, isExpected: Bool) async throws {
        let (socket, connection) = try await connect()
        connection.send(ServerBytes.text("a") + ServerBytes.close(code, Array("why".utf8)))
        #expect(connection.frames() == ["close \(code)"])
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == "a")
        if isExpected {
            #expect(try await messages.next() == nil)
        } else {
            let error = await #expect(throws: RequestError.self) { try await messages.next() }
            #expect(error?.code == .webSocketClosed)
            let close = WebSocketClose(
                code: .init(rawValue: UInt16(code)), reason: "why", isClean: true)
            #expect(error?.webSocketClose == close)
        }
    }

    @Test func faultOfTheServer() async throws {
        let (socket, connection) = try await connect()
        connection.send(ServerBytes.frame(1, [0xFF]))
        #expect(connection.frames().map { $0.prefix(10) } == ["close 1007"])
        var messages = socket.messages.makeAsyncIterator()
        let error = await #expect(throws: RequestError.self) { try await messages.next() }
        #expect(error?.webSocketClose?.code == .invalidPayload)
        #expect(error?.webSocketClose?.isClean == false)
    }

    @Test(arguments: [nil, RequestError(.connectionLost, stage: .transport, "reset")])
    func lostConnection(_ cause: RequestError?) async throws {
        let (socket, connection) = try await connect()
        connection.send(ServerBytes.text("whole") + [0x81, 0x05, 0x68])
        connection.end(cause)
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == "whole")
        let error = await #expect(throws: RequestError.self) { try await messages.next() }
        #expect(error?.code == cause?.code ?? .webSocketClosed)
        await #expect(throws: RequestError.self) { try await socket.send("late") }
    }

    /// A message that was left in the input is read at the end.
    @Test func endWhilePaused() async throws {
        let (socket, connection) = try await connect()
        let text = String(repeating: "x", count: 50_000)
        connection.send(
            (0..<4).flatMap { ServerBytes.text("\($0)\(text)") } + ServerBytes.close(1000))
        connection.close()
        var count = 0
        for try await _ in socket.messages { count += 1 }
        #expect(count == 4)
    }

    @Test func releaseCloses() async throws {
        let connection = try await connect().1
        #expect(connection.frames() == ["close 1000"])
        #expect(!connection.hasEnded)
        connection.send(ServerBytes.close(1000))
        connection.pull()
        connection.close()
        #expect(connection.hasEnded)
    }

    @Test func cancelledReaderCloses() async throws {
        let (socket, connection) = try await connect()
        let reading = Task { for try await _ in socket.messages {} }
        reading.cancel()
        let error = await #expect(throws: RequestError.self) { try await reading.value }
        #expect(error?.code == .cancelled)
        #expect(connection.frames() == ["close 1001"])
    }

    @Test func cancelledTaskEndsTheConnection() async throws {
        let (socket, connection) = try await connect()
        socket.task.cancel()
        var messages = socket.messages.makeAsyncIterator()
        let error = await #expect(throws: RequestError.self) { try await messages.next() }
        #expect(error?.code == .cancelled)
        #expect(connection.hasEnded)
    }

    // MARK: - Times

    @Test func roundTrip() async throws {
        let (socket, connection) = try await connect()
        #expect(socket.roundTrip == nil)
        try await clock.untilSleeping()
        clock.advance(by: .seconds(20))
        try await clock.untilSleeping()
        #expect(connection.frames() == ["ping \0\0\0\0\0\0\0\u{1}"])
        clock.advance(by: .milliseconds(30))
        connection.send(ServerBytes.frame(10, [0, 0, 0, 0, 0, 0, 0, 1]))
        #expect(socket.roundTrip == .milliseconds(30))
    }

    @Test func silentServerIsLost() async throws {
        let (socket, connection) = try await connect()
        var messages = socket.messages.makeAsyncIterator()
        try await clock.untilSleeping()
        clock.advance(by: .seconds(20))
        try await clock.untilSleeping()
        clock.advance(by: .seconds(20))
        let error = await #expect(throws: RequestError.self) { try await messages.next() }
        #expect(error?.webSocketClose?.code == .internalError)
        // The server does not end the connection either.
        try await clock.untilSleeping()
        clock.advance(by: .seconds(5))
        let outcome = await #expect(throws: RequestError.self) { try await socket.task.response() }
        #expect(outcome?.webSocketClose?.code == .internalError)
        #expect(connection.hasEnded)
    }

    /// Nothing is read of a server meanwhile, so that its silence means nothing.
    @Test func silenceWhileSuspended() async throws {
        let (socket, connection) = try await connect()
        socket.task.suspend()
        for _ in 0..<2 {
            try await clock.untilSleeping()
            clock.advance(by: .seconds(20))
        }
        try await clock.untilSleeping()
        try #require(connection.frames() == ["ping \0\0\0\0\0\0\0\u{1}"])
        socket.task.resume()
        clock.advance(by: .seconds(20))
        try await clock.untilSleeping()
        #expect(connection.frames().isEmpty)
        clock.advance(by: .seconds(20))
        var messages = socket.messages.makeAsyncIterator()
        let error = await #expect(throws: RequestError.self) { try await messages.next() }
        #expect(error?.webSocketClose?.code == .internalError)
    }

    @Test func serverWithoutCloseFrame() async throws {
        let (socket, connection) = try await connect(
            WebSocketOptions(compression: .none, pingInterval: nil, closeTimeout: .seconds(3)))
        socket.close()
        try await clock.untilSleeping()
        clock.advance(by: .seconds(3))
        var messages = socket.messages.makeAsyncIterator()
        let error = await #expect(throws: RequestError.self) { try await messages.next() }
        #expect(error?.webSocketClose == WebSocketClose(code: .normal, isClean: false))
        try await clock.untilSleeping()
        clock.advance(by: .seconds(3))
        _ = await socket.task.outcome()
        #expect(connection.hasEnded)
    }

    /// The close frame is read when there is room for the messages before it.
    @Test func closeFrameBehindMessages() async throws {
        let (socket, connection) = try await connect(
            WebSocketOptions(compression: .none, pingInterval: nil, closeTimeout: .seconds(3)))
        let text = String(repeating: "x", count: 50_000)
        connection.send(
            (0..<4).flatMap { ServerBytes.text("\($0)\(text)") } + ServerBytes.close(1000))
        #expect(connection.isPaused)
        var count = 0
        for try await _ in socket.messages { count += 1 }
        #expect(count == 4)
        // The server does not end the connection.
        try await clock.untilSleeping()
        clock.advance(by: .seconds(3))
        _ = try await socket.task.response()
        #expect(connection.hasEnded)
    }

    /// A clock whose time passes at once.
    private final class EagerClock: RequestClock {
        private let time = Mutex(Duration.zero)

        var now: Date { Date() }
        var uptime: Duration { time.withLock { $0 } }

        func sleep(for duration: Duration) async throws {
            try Task.checkCancellation()
            time.withLock { $0 += duration }
        }
    }

    /// A timer that ends before it is kept does not cancel the one after it.
    @Test func timersWithoutDelay() async throws {
        for _ in 0..<300 {
            let transport = SocketTransport { _ in .switches([:]) }
            let agent = RequestAgent(transport: transport, clock: EagerClock())
            let socket = try await Chat(WebSocketOptions(compression: .none)).connect(on: agent)
            let outcome = await socket.task.outcome()
            #expect(outcome.error?.webSocketClose?.code == .internalError)
            #expect(transport.connections.last?.hasEnded == true)
        }
    }

    /// After both close frames, the end of the connection is no failure: neither a lost connection, nor a stream that
    /// the server does not end.
    @Test(arguments: [SocketTransport.Reply.switches([:]), .stream([:])], [false, true])
    func endAfterCloseFrames(_ reply: SocketTransport.Reply, isLost: Bool) async throws {
        let test = Self { _ in reply }
        let (socket, connection) = try await test.connect()
        socket.close()
        connection.send(ServerBytes.close(1000))
        if isLost {
            connection.end(RequestError(.connectionLost, stage: .transport, "reset"))
        } else {
            try await test.clock.untilSleeping()
            test.clock.advance(by: .seconds(5))
        }
        _ = try await socket.task.response()
        #expect(connection.hasEnded)
    }

    /// The total time limit counts until 101, and so does the permit.
    @Test func limitsEndWithTheHandshake() async throws {
        var configuration = Configuration()
        configuration.timeouts.total = .seconds(10)
        configuration.limits.total = 1
        let agent = RequestAgent(
            configuration: configuration, transport: transport, clock: clock)
        let options = WebSocketOptions(compression: .none, pingInterval: nil)
        let first = try await Chat(options).connect(on: agent)
        clock.advance(by: .seconds(3_600))
        let second = try await Chat(options).connect(on: agent)
        transport.connections[0].send(ServerBytes.text("one"))
        var messages = first.messages.makeAsyncIterator()
        #expect(try await messages.next() == "one")
        #expect(transport.connections.allSatisfy { !$0.hasEnded })
        withExtendedLifetime(second) {}
    }

    @Test func totalTimeLimitOfTheHandshake() async throws {
        let test = Self { _ in .silence }
        var configuration = Configuration()
        configuration.timeouts.total = .seconds(10)
        let agent = RequestAgent(
            configuration: configuration, transport: test.transport, clock: test.clock)
        let connecting = Task { try await Chat().connect(on: agent) }
        try await test.clock.untilSleeping()
        test.clock.advance(by: .seconds(10))
        let error = await #expect(throws: RequestError.self) { _ = try await connecting.value }
        #expect(error?.timeout == .total)
    }

    // MARK: - Closures

    @MainActor @Test func closures() async throws {
        var seen: [String] = []
        let error = await withCheckedContinuation { continuation in
            Chat(WebSocketOptions(compression: .none)).connect(on: agent) {
                [transport] _, socket in
                seen.append("open \(socket.response.statusCode)")
                transport.connections.last?.send(
                    ServerBytes.text("a") + ServerBytes.text("b") + ServerBytes.close(1011))
                transport.connections.last?.close()
            } onMessage: { _, message in
                seen.append(message)
            } onClose: { _, error in
                continuation.resume(returning: error)
            }
        }
        #expect(seen == ["open 101", "a", "b"])
        #expect(error?.webSocketClose?.code == .internalError)
    }

    @MainActor @Test func closuresOfRefusal() async {
        let test = Self { _ in .status(403, [:]) }
        let error = await withCheckedContinuation { continuation in
            Chat().connect(on: test.agent) { _, _ in
                Issue.record("It is not open.")
            } onMessage: { _, _ in
            } onClose: { _, error in
                continuation.resume(returning: error)
            }
        }
        #expect(error?.code == .unacceptableStatus)
    }

    // MARK: - Reconnecting

    @Test(arguments: [1001, 1006, 1011, 1012, 1013, 1014])
    func lostConnectionIsReplaced(_ code: Int) async throws {
        var sockets = Chat().connections(on: agent).makeAsyncIterator()
        let first = try #require(try await sockets.next())
        let connection = try #require(transport.connections.last)
        if code == 1006 {
            connection.end()
        } else {
            connection.send(ServerBytes.close(code))
            connection.close()
        }
        #expect(try await read(first) == [])
        #expect(first.closed?.code.rawValue == UInt16(code))
        let clock = clock
        async let advanced: Void = {
            try await clock.untilSleeping()
            clock.advance(by: .seconds(3))
        }()
        let second = try await sockets.next()
        try await advanced
        #expect(second != nil && transport.connections.count == 2)
    }

    private func read(_ socket: WebSocket<String, String>) async throws -> [String] {
        var texts: [String] = []
        for try await text in socket.messages { texts.append(text) }
        return texts
    }

    @Test func regularEndEndsTheSequence() async throws {
        var sockets = Chat().connections(on: agent).makeAsyncIterator()
        let first = try #require(try await sockets.next())
        transport.connections.last?.send(ServerBytes.close(1000))
        transport.connections.last?.close()
        #expect(try await read(first) == [])
        #expect(first.closed?.code == .normal && first.closed?.isClean == true)
        #expect(try await sockets.next() == nil)
        #expect(transport.connections.count == 1)
    }

    @Test(arguments: [1002, 1003, 1008, 1009, 3000, 4001])
    func otherEndsAreErrors(_ code: Int) async throws {
        var sockets = Chat().connections(on: agent).makeAsyncIterator()
        let first = try #require(try await sockets.next())
        transport.connections.last?.send(ServerBytes.close(code))
        transport.connections.last?.close()
        #expect(try await read(first) == [])
        let error = await #expect(throws: RequestError.self) { try await sockets.next() }
        #expect(error?.webSocketClose?.code.rawValue == UInt16(code))
    }

    @Test func openConnectionIsClosedBeforeTheNext() async throws {
        var sockets = Chat(WebSocketOptions(compression: .none)).connections(on: agent)
            .makeAsyncIterator()
        _ = try await sockets.next()
        _ = try await sockets.next()
        #expect(transport.connections.map { $0.frames() } == [["close 1000"], []])
    }

    @Test func refusalEndsTheSequence() async {
        let test = Self { _ in .status(403, [:]) }
        var sockets = Chat().connections(on: test.agent).makeAsyncIterator()
        let error = await #expect(throws: RequestError.self) { try await sockets.next() }
        #expect(error?.code == .unacceptableStatus && test.transport.connections.count == 1)
    }
}
