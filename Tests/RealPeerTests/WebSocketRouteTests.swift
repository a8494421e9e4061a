import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// WebSockets through TLS, reverse proxies and forward proxies, with servers of two packages.
@Suite("Real peers: WebSocket routes", .limited)
struct WebSocketRouteTests {
    final class Echo: BaseRequest, MessageEndpoint {
        typealias Incoming = String
        typealias Outgoing = String
        let address: EndpointURL
        let version: TransportOptions.HTTPVersionPolicy?
        init(_ address: EndpointURL, _ version: TransportOptions.HTTPVersionPolicy? = nil) {
            (self.address, self.version) = (address, version)
        }
        override var url: EndpointURL { address }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.sending.transport.httpVersion = version
        }
        var webSocket: WebSocketOptions {
            WebSocketOptions(subprotocols: ["v2"], maximumMessageBytes: nil, pingInterval: nil)
        }
    }

    enum Route: CaseIterable {
        case direct, connect, socks, secureProxy
    }

    private let peers: Peers

    init() throws { peers = try Peers.get() }

    /// The options of the agents: the tests' authority, and a proxy.
    private func options(_ route: Route = .direct) -> TransportOptions {
        var options = TransportOptions()
        var security = SecurityPolicy()
        security.authorityFile = peers.certificate("root.pem")
        options.security = security
        switch route {
        case .direct: options.proxy = .none
        case .connect: options.proxy = .url("http://127.0.0.1:\(peers.port(.tinyproxy))")
        case .socks: options.proxy = .url("socks5h://127.0.0.1:\(peers.port(.socks))")
        case .secureProxy:
            options.proxy = .url("https://127.0.0.1:\(peers.port(.secureProxy))")
            options.proxySecurity = security
        }
        return options
    }

    private func withAgent(
        _ options: TransportOptions, clock: (any RequestClock)? = nil,
        _ work: (RequestAgent) async throws -> Void
    ) async throws {
        var configuration = Configuration()
        configuration.transportOptions = options
        let agent =
            clock.map {
                RequestAgent(
                    configuration: configuration, transport: CurlTransport(), clock: $0)
            } ?? RequestAgent(configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await work(agent)) } catch { result = .failure(error) }
        await agent.shutdown()
        try result.get()
    }

    private func exchange(
        _ socket: WebSocket<String, String>, after first: String? = nil
    ) async throws {
        #expect(socket.subprotocol == "v2")
        var messages = socket.messages.makeAsyncIterator()
        if let first { #expect(try await messages.next() == first) }
        for count in [0, 5, 126, 70_000, 1 << 20] {
            // Numbers, because one letter is compressed to less than a thousandth, which is refused.
            let text = String((0..<count).map(String.init).joined().prefix(count))
            try await socket.send(text)
            #expect(try await messages.next() == text)
        }
        socket.close()
        #expect(try await messages.next() == nil)
    }

    @Test(
        arguments: [
            Peers.Peer.webSocket, .webSocketTLS, .aiohttpPlain, .aiohttpTLS, .nginxPlain, .nginxTLS,
        ], Route.allCases)
    func messagesAreReturned(_ peer: Peers.Peer, _ route: Route) async throws {
        let path = [.nginxPlain, .nginxTLS].contains(peer) ? "/websocket/echo" : "/echo"
        let token = "\(peer)-\(route)"
        // The proxies resolve localhost themselves.
        let host = peer.scheme == "https" ? "localhost" : "127.0.0.1"
        try await withAgent(options(route)) { agent in
            let socket = try await Echo(peers.endpoint(peer, host: host, "\(path)?token=\(token)"))
                .connect(on: agent)
            #expect(socket.response.status == 101)
            let address = socket.response.remoteAddress
            let port: Int? =
                switch route {
                case .direct: peers.port(peer)
                case .connect: peers.port(.tinyproxy)
                case .socks: peers.port(.socks)
                case .secureProxy: peers.port(.secureProxy)
                }
            #expect(address?.hasSuffix(":\(port ?? 0)") == true, "\(address ?? "none")")
            try await exchange(socket)
        }
    }

    // MARK: - HTTP/2

    private func hypercorn(
        _ path: String = "/echo", _ version: TransportOptions.HTTPVersionPolicy = .automatic
    ) -> Echo {
        Echo(peers.endpoint(.hypercorn, path), version)
    }

    /// Lets the time of a clock pass while a task sleeps.
    private func advance(_ clock: ManualClock) -> Task<Void, any Error> {
        Task {
            while !Task.isCancelled {
                try await clock.untilSleeping()
                clock.advance(by: .seconds(1))
                await Task.yield()
            }
        }
    }

    /// Without an open connection, HTTP/1.1 is offered; with one that allows it, streams are used.
    ///
    /// hypercorn does not end the stream of a WebSocket that the client has closed. After the client's end of that
    /// stream, it closes the connection with all streams: `KeyError` in its `_handle_events` for the DATA frame, which is
    /// empty (https://github.com/pgjones/hypercorn/issues/329). So the client resets the stream after `closeTimeout`.
    @Test func openConnectionIsShared() async throws {
        let clock = ManualClock()
        try await withAgent(options(), clock: clock) { agent in
            let first = try await hypercorn().connect(on: agent)
            #expect(first.response.status == 101 && first.response.httpVersion == .http11)
            try await exchange(first, after: "1.1")
            let page = try await InlineRequest(peers.endpoint(.hypercorn, "/page")).send(on: agent)
            #expect(page.string == "2")
            let second = try await hypercorn().connect(on: agent)
            let third = try await hypercorn().connect(on: agent)
            for socket in [second, third] {
                #expect(socket.response.status == 200 && socket.response.httpVersion == .http2)
            }
            for socket in [third, second] {
                try await exchange(socket, after: "2")
                let advancing = advance(clock)
                #expect(try await socket.task.response().statusCode == 200)
                advancing.cancel()
            }
            let next = try await InlineRequest(peers.endpoint(.hypercorn, "/page")).send(on: agent)
            #expect(next.timings.last?.reusedConnection == true)
        }
    }

    @Test func requiredHTTP2() async throws {
        try await withAgent(options()) { agent in
            let socket = try await hypercorn("/echo", .http2).connect(on: agent)
            #expect(socket.response.httpVersion == .http2)
            try await exchange(socket, after: "2")
            let refusal = await #expect(throws: RequestError.self) {
                try await hypercorn("/refuse", .http2).connect(on: agent)
            }
            #expect(refusal?.response?.status == 403 && refusal?.code == .unacceptableStatus)
            let closed = try await hypercorn("/close?4001", .http2).connect(on: agent)
            let error = await #expect(throws: RequestError.self) {
                for try await _ in closed.messages {}
            }
            #expect(error?.webSocketClose?.code.rawValue == 4001)
            #expect(error?.webSocketClose?.reason == "why")
        }
    }

    /// Each connection of a sequence is a stream, also after the loss of one.
    @Test func connectionsOverHTTP2() async throws {
        let clock = ManualClock()
        try await withAgent(options(), clock: clock) { agent in
            // `closeTimeout`, and the delay before the second one.
            let advancing = advance(clock)
            defer { advancing.cancel() }
            var sockets = hypercorn("/close?1012", .http2).connections(on: agent)
                .makeAsyncIterator()
            let first = try #require(try await sockets.next())
            for try await _ in first.messages {}
            let second = try #require(try await sockets.next())
            await second.task.untilEnded()
            for socket in [first, second] {
                #expect(socket.response.status == 200 && socket.response.httpVersion == .http2)
            }
        }
    }

    @Test func requiredHTTP11() async throws {
        try await withAgent(options()) { agent in
            _ = try await InlineRequest(peers.endpoint(.hypercorn, "/page")).send(on: agent)
            let socket = try await hypercorn("/echo", .http11).connect(on: agent)
            try await exchange(socket, after: "1.1")
        }
    }

    /// nginx does not announce the extended CONNECT: the open connection is not used, and none is opened in vain.
    @Test func serverWithoutExtendedConnect() async throws {
        try await withAgent(options()) { agent in
            let page = try await InlineRequest(peers.endpoint(.nginxTLS)).send(on: agent)
            #expect(page.httpVersion == .http2)
            let url = peers.endpoint(.nginxTLS, "/websocket/echo?token=nginx-after-http2")
            let socket = try await Echo(url).connect(on: agent)
            #expect(socket.response.httpVersion == .http11)
            let next = try await InlineRequest(peers.endpoint(.nginxTLS)).send(on: agent)
            #expect(next.timings.last?.reusedConnection == true)
            try await exchange(socket)
            let error = await #expect(throws: RequestError.self) {
                try await Echo(url, .http2).connect(on: agent)
            }
            #expect(error?.code == .unsupported)
        }
    }

    // MARK: - Many, and none

    @Test func thousandIdleConnections() async throws {
        try await withAgent(options()) { agent in
            let url = peers.endpoint(.webSocket, host: "127.0.0.1", "/plain?token=idle")
            let sockets = try await withThrowingTaskGroup(
                of: WebSocket<String, String>.self, returning: [WebSocket<String, String>].self
            ) { group in
                for _ in 0..<1_000 {
                    group.addTask { try await Echo(url).connect(on: agent) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for (number, socket) in sockets.enumerated() { try await socket.send("\(number)") }
            for (number, socket) in sockets.enumerated() {
                var messages = socket.messages.makeAsyncIterator()
                #expect(try await messages.next() == "\(number)")
            }
            for socket in sockets { socket.close() }
            for socket in sockets { for try await _ in socket.messages {} }
        }
    }

    /// The kernel ends the connections of a process that is killed.
    @Test func killedServer() async throws {
        let process = Process()
        process.executableURL = PeerLauncher.python
        process.arguments = [PeerLauncher.script("websocket-server").path, "0"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        defer { process.waitUntilExit() }
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let port = try #require(Int(line.trimmingCharacters(in: .whitespacesAndNewlines)))
        try await withAgent(options()) { agent in
            let url = EndpointURL(raw: "ws://127.0.0.1:\(port)/echo?token=killed")
            let socket = try await Echo(url).connect(on: agent)
            try await socket.send("hello")
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == "hello")
            kill(process.processIdentifier, SIGKILL)
            let error = await #expect(throws: RequestError.self) { try await messages.next() }
            #expect([.webSocketClosed, .connectionLost].contains(error?.code))
            #expect(error?.webSocketClose?.isClean != true)
        }
    }
}
