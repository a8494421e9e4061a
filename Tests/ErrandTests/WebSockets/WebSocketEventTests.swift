import Errand
import ErrandRecording
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandWebSocket

/// The events of a WebSocket, with a server that the test plays.
@Suite(.limited)
final class WebSocketEventTests: Sendable {
    final class Chat: BaseRequest, MessageEndpoint {
        typealias Incoming = String
        typealias Outgoing = String
        override var url: EndpointURL { "wss://chat.test/rooms/1" }
        var webSocket: WebSocketOptions {
            WebSocketOptions(subprotocols: ["v2"], compression: .none)
        }
    }

    private let clock = ManualClock()
    private let transport = SocketTransport { _ in .switches([.secWebSocketProtocol: "v2"]) }

    deinit { transport.shutDown() }

    private func agent(_ listeners: [EventRecorder]) -> RequestAgent {
        var configuration = Configuration()
        configuration.eventListeners = listeners
        return RequestAgent(configuration: configuration, transport: transport, clock: clock)
    }

    /// The events of WebSockets as texts.
    private func texts(_ events: [RequestEvent]) -> [String] {
        events.compactMap { event in
            guard case .webSocket(let event) = event.kind else { return nil }
            switch event {
            case .opened(let subprotocol, let extensions):
                return "opened \(subprotocol ?? "") \(extensions ?? "")"
            case .message(let message):
                let payload = message.payload.map { String(decoding: $0, as: UTF8.self) }
                return "\(message.direction) \(message.isText) \(message.bytes) "
                    + "\(message.bytesOnWire) \(payload ?? "-")"
            case .roundTrip(let time): return "round trip \(time)"
            case .closed(let close):
                return "closed \(close.code) '\(close.reason)' \(close.isClean)"
            }
        }
    }

    @Test func lifeIsReportedInOrder() async throws {
        let (sizes, payloads) = (EventRecorder(), EventRecorder(observesMessagePayloads: true))
        let socket = try await Chat().connect(on: agent([sizes, payloads]))
        let connection = try #require(transport.connections.last)
        let own = socket.task.events()
        var messages = socket.messages.makeAsyncIterator()
        try await socket.send("hello")
        // Two fragments, with headers of 2 bytes each.
        connection.send(ServerBytes.text("wor", final: false) + ServerBytes.more("ld"))
        #expect(try await messages.next() == "world")
        connection.send(ServerBytes.frame(2, [UInt8](repeating: 1, count: 200)))
        await #expect(throws: RequestError.self) { try await messages.next() }
        try await clock.untilSleeping()
        clock.advance(by: .seconds(20))
        while connection.frames(keeping: true).last?.hasPrefix("ping") != true {
            await Task.yield()
        }
        clock.advance(by: .milliseconds(30))
        connection.send(ServerBytes.frame(10, [0, 0, 0, 0, 0, 0, 0, 1]))
        connection.send(ServerBytes.close(1000, Array("bye".utf8)))
        connection.close()
        #expect(try await messages.next() == nil)
        let expected = [
            "opened v2 ", "sent true 5 11 -", "received true 5 9 -", "received false 200 204 -",
            "round trip 0.03 seconds", "closed 1000 'bye' true",
        ]
        #expect(texts(try await sizes.untilEnded()) == expected)
        let binary = String(repeating: "\u{1}", count: 200)
        #expect(
            texts(try await payloads.untilEnded()) == [
                "opened v2 ", "sent true 5 11 hello", "received true 5 9 world",
                "received false 200 204 \(binary)", "round trip 0.03 seconds",
                "closed 1000 'bye' true",
            ])
        // The sequence of the task has no payloads, although a listener has asked for them.
        var late: [RequestEvent] = []
        for await event in own { late.append(event) }
        // It may begin before the delivery of the first event.
        #expect(texts(late).filter { !$0.hasPrefix("opened") } == Array(expected.dropFirst()))
        guard case .ended = try #require(late.last).kind else {
            Issue.record("no end")
            return
        }
    }

    /// The size on the wire is that after compression.
    @Test func compressedMessage() async throws {
        final class Compressed: BaseRequest, MessageEndpoint {
            typealias Incoming = String
            typealias Outgoing = String
            override var url: EndpointURL { "wss://chat.test/rooms/2" }
        }
        let transport = SocketTransport { _ in
            .switches([.secWebSocketExtensions: "permessage-deflate"])
        }
        let recorder = EventRecorder()
        var configuration = Configuration()
        configuration.eventListeners = [recorder]
        let agent = RequestAgent(configuration: configuration, transport: transport, clock: clock)
        let socket = try await Compressed().connect(on: agent)
        let connection = try #require(transport.connections.last)
        try await socket.send(String(repeating: "a", count: 10_000))
        // "Hello" of RFC 7692 §7.2.3.1.
        connection.send([0xC1, 7, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == "Hello")
        connection.end(RequestError(.connectionLost, stage: .transport, "Lost."))
        await #expect(throws: RequestError.self) { try await messages.next() }
        let texts = texts(try await recorder.untilEnded())
        #expect(texts.first == "opened  permessage-deflate")
        #expect(texts.dropFirst(2) == ["received true 5 9 -", "closed 1006 '' false"])
        let sent = try #require(texts.dropFirst().first?.split(separator: " "))
        #expect(sent[2] == "10000")
        #expect(try #require(Int(sent[3])) < 200)
    }

    @Test func messageInFragmentsIsOneWithoutPayload() async throws {
        let recorder = EventRecorder(observesMessagePayloads: true)
        let socket = try await Chat().connect(on: agent([recorder]))
        let (parts, more) = AsyncStream<Data>.makeStream()
        more.yield(Data("abc".utf8))
        more.yield(Data("de".utf8))
        more.finish()
        try await socket.send(fragments: parts)
        transport.connections.last?.end()
        let texts = texts(try await recorder.untilEnded())
        // Three frames with headers of 6 bytes: two parts and the end.
        #expect(texts == ["opened v2 ", "sent false 5 23 -", "closed 1006 '' false"])
        withExtendedLifetime(socket) {}
    }

    @Test func refusedWebSocketHasNoEvents() async throws {
        let recorder = EventRecorder()
        var configuration = Configuration()
        configuration.eventListeners = [recorder]
        let transport = SocketTransport { _ in .switches([.secWebSocketAccept: "another"]) }
        let agent = RequestAgent(configuration: configuration, transport: transport, clock: clock)
        await #expect(throws: RequestError.self) { try await Chat().connect(on: agent) }
        #expect(texts(try await recorder.untilEnded()).isEmpty)
    }

    // MARK: - Archives

    @Test func archiveHasTheMessages() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("session.har")
        let recorder = try HARRecorder(writingTo: file)
        let agent = RequestAgent(transport: recorder.transport(over: transport), clock: clock)
        let socket = try await Chat().connect(on: agent)
        let connection = try #require(transport.connections.last)
        var messages = socket.messages.makeAsyncIterator()
        try await socket.send(#"{"token":"hunter2","room":1}"#)
        connection.send(ServerBytes.text("world"))
        #expect(try await messages.next() == "world")
        connection.send(ServerBytes.frame(2, [0, 1, 255]))
        await #expect(throws: RequestError.self) { try await messages.next() }
        connection.send(ServerBytes.close(1000))
        connection.close()
        #expect(try await messages.next() == nil)
        await socket.task.untilEnded()
        try await recorder.finish()
        let entry = try #require(try HAR(contentsOf: file).log.entries.first)
        #expect(entry.resourceType == "websocket" && entry.response.status == 101)
        #expect(entry.response.content.size == 0)
        let written = try #require(entry.webSocketMessages)
        #expect(written.map(\.type) == ["send", "receive", "receive"])
        #expect(written.map(\.opcode) == [1, 1, 2])
        #expect(written.map(\.data) == [#"{"token":"REDACTED","room":1}"#, "world", "AAH/"])
        #expect(written.allSatisfy { abs($0.time - Date().timeIntervalSince1970) < 3600 })
    }
}
