import ErrandCore
import ErrandCurl
import ErrandHTTP
import ErrandRecording
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

@testable import ErrandInspector

@Suite("Inspector: connections", .limited)
struct ConnectionLogTests {
    private func event(
        _ id: UInt64, _ reason: Response.Connection.CloseReason?, at seconds: Int
    ) -> ConnectionEvent {
        ConnectionEvent(
            transport: "test",
            connection: Response.Connection(id: id, host: "a.example", port: 1, isSecure: false),
            closeReason: reason, openConnections: 0, uptime: .seconds(seconds))
    }

    @Test func openAndClosedConnectionsAreListed() {
        var log = ConnectionLog()
        log.read(event(2, nil, at: 1))
        log.read(event(1, nil, at: 2))
        log.read(event(3, .idleLimit, at: 3))
        log.read(event(2, .serverClosed, at: 4))
        #expect(log.open.map(\.connection.id) == [1])
        #expect(log.closed.map(\.connection.id) == [2, 3])
        #expect(log.closed.map(\.opened) == [.seconds(1), nil])
        #expect(log.closed.map(\.closed) == [.seconds(4), .seconds(3)])
        #expect(log.closed.map(\.reason) == [.serverClosed, .idleLimit])
        log.removeClosed()
        #expect(log.closed.isEmpty && log.open.count == 1)
    }

    @Test func logIsBounded() {
        var log = ConnectionLog()
        let count = UInt64(ConnectionLog.maximumOpen + 5)
        for id in 1...count { log.read(event(id, nil, at: 1)) }
        #expect(log.open.map(\.connection.id) == Array(6...count))
        for id in 1...count { log.read(event(id, .failed, at: 2)) }
        #expect(log.open.isEmpty)
        #expect(log.closed.count == ConnectionLog.maximumClosed)
        #expect(log.closed.first?.connection.id == count)
    }

    @Test func everyReasonIsASentence() {
        let reasons: [Response.Connection.CloseReason] = [
            .idleLimit, .poolFull, .serverClosed, .unsolicitedData, .notPersistent, .superseded,
            .cancelled, .timedOut, .failed, .shutDown, .unknown,
        ]
        let sentences = Set(reasons.map(\.sentence))
        #expect(sentences.count == reasons.count)
        #expect(sentences.allSatisfy { $0.hasSuffix(".") })
        #expect(Response.Connection.CloseReason(rawValue: "later").sentence == "later")
    }

    @Test func stateHasTheConnectionsOfTheTransport() async throws {
        let server = LoopbackServer()
        server.route("/a") { _ in LoopbackResponse(body: "{}") }
        try await server.start()
        let recorder = InspectorRecorder(
            limits: InspectorRecorder.Limits(), clock: SystemClock())
        let events = EventRecorder()
        var configuration = Configuration(baseURL: server.baseURL)
        configuration.eventListeners = [recorder, events]
        let agent = RequestAgent(
            configuration: configuration, transport: CurlTransport(), store: nil)
        for _ in 0..<3 {
            _ = try await agent.start(RequestDescription(endpoint: "A", url: "/a")).response()
        }
        _ = try await events.untilConnections { $0.count == 1 }
        var state = AgentState(agent, recorder, .standard)
        let open = try #require(state.connections.first)
        #expect(state.connections.count == 1 && state.closedConnections.isEmpty)
        #expect(open.host == "127.0.0.1:\(server.port)")
        #expect(open.address == "127.0.0.1:\(server.port)")
        #expect(open.version == "HTTP/1.1" && !open.isSecure)
        #expect(open.requests == 3)
        #expect(open.age.map { $0 >= 0 } == true && open.closed == nil && open.reason == nil)
        await server.stop()
        _ = try await events.untilConnections { $0.count == 2 }
        state = AgentState(agent, recorder, .standard)
        #expect(state.connections.isEmpty)
        #expect(state.closedConnections.map(\.id) == [open.id])
        #expect(state.closedConnections.first?.reason == "The server closed it.")
        #expect(state.closedConnections.first?.requests == 3)
        recorder.clear()
        #expect(AgentState(agent, recorder, .standard).closedConnections.isEmpty)
    }
}
