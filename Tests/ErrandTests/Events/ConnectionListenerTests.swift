import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// Events of connections and of parts of bodies, as listeners receive them.
@Suite(.limited) struct ConnectionListenerTests {
    private let recorder = EventRecorder()

    private func server() async throws -> LoopbackServer {
        let server = LoopbackServer()
        server.route("/x") { _ in LoopbackResponse(body: "[12345]") }
        try await server.start()
        return server
    }

    @Test func requestsOpenAndReuseConnections() async throws {
        let server = try await server()
        let stream = EventStream()
        var connections = stream.connectionEvents().makeAsyncIterator()
        var configuration = Configuration(baseURL: server.baseURL)
        configuration.eventListeners = [recorder, stream]
        let agent = RequestAgent(
            configuration: configuration, transport: CurlTransport(), store: nil)
        for _ in 0..<2 { _ = try await agent.start(Plain("x").makeDescription()).response() }
        let used = recorder.events.compactMap { event -> String? in
            switch event.kind {
            case .connectionOpened(1, let connection): "opened \(connection.id)"
            case .connectionReused(1, let connection): "reused \(connection.id)"
            default: nil
            }
        }
        let opened = try #require(await connections.next())
        #expect(used == ["opened \(opened.connection.id)", "reused \(opened.connection.id)"])
        #expect(opened.closeReason == nil && opened.openConnections == 1)
        // Before the head, because the request was not sent yet.
        let names = recorder.names
        let openedAt = try #require(names.firstIndex(of: "connectionOpened"))
        #expect(names.firstIndex(of: "transferStarted").map { $0 < openedAt } == true)
        #expect(names.firstIndex(of: "headReceived").map { openedAt < $0 } == true)
        await server.stop()
        let events = try await recorder.untilConnections { $0.count == 2 }
        #expect(events.last?.closeReason == .serverClosed && events.last?.openConnections == 0)
    }

    /// A listener that a later configuration has gets the events from then on.
    @Test func laterConfigurationObservesConnections() async throws {
        let server = try await server()
        let agent = RequestAgent(
            configuration: Configuration(baseURL: server.baseURL), transport: CurlTransport(),
            store: nil)
        _ = try await agent.start(Plain("x").makeDescription()).response()
        agent.configuration.eventListeners = [recorder]
        await server.stop()
        let events = try await recorder.untilConnections { !$0.isEmpty }
        #expect(events.map(\.closeReason) == [.serverClosed])
        agent.configuration.eventListeners = []
    }

    @Test func partsOfBodiesAreForListenersThatWantThem() async throws {
        let parts = EventRecorder(observesChunks: true)
        let fixture = AgentFixture { $0.eventListeners = [recorder, parts] }
        fixture.transport.on(
            .get, "/x",
            ScriptedResponse(steps: [
                .head(ResponseHead(status: .ok)), .bytes(Data("[1,".utf8)), .bytes(Data("2]".utf8)),
            ]))
        let task = fixture.agent.start(Plain("x").makeDescription())
        let reader = Task { await task.events().reduce(into: []) { $0.append("\($1.kind)") } }
        _ = try await task.response()
        let chunks = parts.events.map { "\($0.kind)" }.filter { $0.hasPrefix("chunk") }
        #expect(
            chunks == [
                "chunkReceived(attempt: 1, bytes: 3)", "chunkReceived(attempt: 1, bytes: 2)",
            ])
        #expect(!recorder.names.contains { $0.hasPrefix("chunk") })
        #expect(recorder.names.contains("bodyReceived"))
        #expect(await !reader.value.contains { $0.hasPrefix("chunk") })
    }

    @Test func partsOfARequestBodyAreReported() async throws {
        let server = try await server()
        let parts = EventRecorder(observesChunks: true)
        var configuration = Configuration(baseURL: server.baseURL)
        configuration.eventListeners = [parts]
        let agent = RequestAgent(
            configuration: configuration, transport: CurlTransport(), store: nil)
        let request = InlineRequest("x") {
            $0.method = .post
            $0.body = .data(Data(count: 300_000), contentType: "application/octet-stream")
        }
        _ = try await agent.start(request.makeDescription()).response()
        let sizes = parts.events.compactMap { event -> Int64? in
            if case .chunkSent(1, let bytes) = event.kind { bytes } else { nil }
        }
        #expect(sizes.reduce(0, +) == 300_000 && sizes.allSatisfy { $0 > 0 })
        await server.stop()
    }

    @Test func partsOfAStreamAreReported() async throws {
        let parts = EventRecorder(observesChunks: true)
        let fixture = AgentFixture { $0.eventListeners = [parts] }
        fixture.transport.on(
            .get, "/x",
            ScriptedResponse(steps: [
                .head(ResponseHead(status: .ok)), .bytes(Data("[1,".utf8)), .bytes(Data("2]".utf8)),
            ]))
        let stream = try await fixture.with(Plain("x")).stream()
        var count = 0
        for try await bytes in stream.bytes { count += bytes.count }
        #expect(count == 5)
        try await parts.until { events in
            events.map { "\($0.kind)" }.filter { $0.hasPrefix("chunkReceived") }.count == 2
        }
    }
}
