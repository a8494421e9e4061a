import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Endpoints that are WebSockets of the package websockets.
@Suite("Real peers: WebSocket endpoints", .limited)
struct WebSocketEndpointPeerTests {
    private let port: Int
    private let agent: RequestAgent

    init() throws {
        let port = try Peers.get().port(.webSocket)
        self.port = port
        var configuration = Configuration()
        configuration.baseURL = "ws://127.0.0.1:\(port)"
        agent = RequestAgent(configuration: configuration)
    }

    struct Price: Codable, Sendable, Equatable {
        var symbol: String
        var value: Int
    }

    final class Prices: BaseRequest, MessageEndpoint {
        typealias Incoming = Price
        typealias Outgoing = Price
        let token: String
        init(_ token: String) { self.token = token }
        override var url: EndpointURL { "echo?token=\(token)" }
        var webSocket: WebSocketOptions { WebSocketOptions(subprotocols: ["v2"]) }
    }

    final class Texts: BaseRequest, MessageEndpoint {
        typealias Incoming = String
        typealias Outgoing = String
        let path: EndpointURL
        init(_ path: EndpointURL) { self.path = path }
        override var url: EndpointURL { path }
    }

    final class Bytes: BaseRequest, MessageEndpoint {
        typealias Incoming = Data
        typealias Outgoing = Data
        override var url: EndpointURL { "echo?token=bytes" }
        var webSocket: WebSocketOptions { WebSocketOptions(maximumMessageBytes: nil) }
    }

    final class Uncompressed: BaseRequest, MessageEndpoint {
        typealias Incoming = Data
        typealias Outgoing = Data
        override var url: EndpointURL { "plain?token=large" }
        var webSocket: WebSocketOptions {
            WebSocketOptions(compression: .none, maximumMessageBytes: nil)
        }
    }

    @Test func valuesAreJSON() async throws {
        let socket = try await Prices("json").connect(on: agent)
        #expect(socket.subprotocol == "v2" && socket.response.status == 101)
        let price = Price(symbol: "SWFT", value: 7)
        try await socket.send(price)
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == price)
        socket.close(.goingAway, reason: "done")
        #expect(try await messages.next() == nil)
        let seen = try await Texts("ends?token=json").connect(on: agent)
        for try await text in seen.messages { #expect(text == "1001 done") }
        _ = try await socket.task.response()
    }

    /// The connection is paused after each one, and goes on with large reads.
    @Test func largeMessagesInFlight() async throws {
        let socket = try await Uncompressed().connect(on: agent)
        let bytes = { (number: Int) in Data(repeating: UInt8(number), count: 1 << 20) }
        for number in 0..<2 { try await socket.send(bytes(number)) }
        var count = 0
        for try await message in socket.messages {
            #expect(message == bytes(count))
            count += 1
            if count < 15 { try await socket.send(bytes(count + 1)) }
            if count == 16 { socket.close() }
        }
        #expect(count == 16)
    }

    @Test func manyMessagesInOrder() async throws {
        let socket = try await Bytes().connect(on: agent)
        async let sent: Void = {
            for number in 0..<2_000 {
                try await socket.send(Data(repeating: UInt8(number % 251), count: number))
            }
        }()
        var count = 0
        for try await message in socket.messages {
            #expect(message == Data(repeating: UInt8(count % 251), count: count))
            count += 1
            if count == 2_000 { socket.close() }
        }
        try await sent
        #expect(count == 2_000)
    }

    @Test func closeOfTheServer() async throws {
        let socket = try await Texts("close?code=4001&reason=why").connect(on: agent)
        let error = await #expect(throws: RequestError.self) {
            for try await _ in socket.messages {}
        }
        #expect(error?.code == .webSocketClosed)
        #expect(
            error?.webSocketClose
                == WebSocketClose(code: .init(rawValue: 4001), reason: "why", isClean: true))
    }

    @Test func lostConnection() async throws {
        let socket = try await Texts("lost").connect(on: agent)
        let error = await #expect(throws: RequestError.self) {
            for try await _ in socket.messages {}
        }
        #expect(error?.code == .webSocketClosed && error?.webSocketClose?.isClean == false)
        #expect(error?.webSocketClose?.code == .abnormal)
    }

    @Test func refusal() async {
        let error = await #expect(throws: RequestError.self) {
            _ = try await Texts("refuse").connect(on: agent)
        }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 403)
        #expect(error?.response?.string == "refused")
    }

    /// Releasing the socket closes it.
    @Test func releaseCloses() async throws {
        _ = try await Texts("echo?token=released").connect(on: agent)
        let seen = try await Texts("ends?token=released").connect(on: agent)
        for try await text in seen.messages { #expect(text == "1000 ") }
    }

    @Test func cancellationCloses() async throws {
        let socket = try await Texts("echo?token=cancelled").connect(on: agent)
        let reading = Task { for try await _ in socket.messages {} }
        reading.cancel()
        await #expect(throws: RequestError.self) { try await reading.value }
        let seen = try await Texts("ends?token=cancelled").connect(on: agent)
        for try await text in seen.messages { #expect(text == "1001 ") }
    }
}
