import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// A task that is suspended during its transfer: the transport stops delivering, and continues when it is resumed.
@Suite(.limited) struct SuspendedTransferTests {
    /// The transport, and the server if there is one.
    enum Peer: CaseIterable, Sendable { case scripted, curl, urlSession }

    private static let first = Data("first".utf8)
    private static let rest = Data((0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    private let gate = Gate()

    private final class Slow: BaseRequest {
        override var url: EndpointURL { "slow" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .any
        }
    }

    /// A scripted response: some bytes, and the others in many chunks after the gate has opened.
    private var scripted: ScriptedTransport {
        let transport = ScriptedTransport()
        let total = Int64(Self.first.count + Self.rest.count)
        var steps: [ScriptedResponse.Step] = [
            .head(ResponseHead(status: .ok, httpVersion: .http11, contentLength: total)),
            .bytes(Self.first), .hold(gate),
        ]
        let size = 64 << 10
        steps += stride(from: 0, to: Self.rest.count, by: size).map {
            .bytes(Self.rest[$0..<($0 + size)])
        }
        transport.on(nil, "/slow", ScriptedResponse(steps: steps))
        transport.on(nil, "/other", .json("{}"))
        return transport
    }

    /// The same response from a server, after the same gate.
    private func startServer() async throws -> LoopbackServer {
        let server = LoopbackServer()
        let length = LoopbackHeader("Content-Length", "\(Self.first.count + Self.rest.count)")
        server.route("/slow") { [gate] _ in
            LoopbackResponse(steps: [
                .head(status: 200, headers: [length]), .body(Self.first), .hold(gate),
                .body(Self.rest),
            ])
        }
        server.route(
            "/other",
            responses: LoopbackResponse(
                headers: ["Content-Type": "application/json"], body: "{}"))
        try await server.start()
        return server
    }

    @Test(arguments: Peer.allCases)
    func nothingIsDeliveredBeforeTheTaskIsResumed(peer: Peer) async throws {
        let server = try await startServer()
        let inner: any Transport =
            switch peer {
            case .scripted: scripted
            case .curl: TransportKind.curl.makeTransport()
            case .urlSession: TransportKind.urlSession.makeTransport()
            }
        let transport = ObservedTransport(inner, path: "/slow")
        let agent = RequestAgent(
            configuration: Configuration(baseURL: server.baseURL), transport: transport, store: nil)
        let task = agent.start(Slow().makeDescription())
        try await transport.receiver.until { $0.received >= 5 }
        #expect(transport.counts.pauses == 0)

        task.suspend()
        gate.open()
        try await transport.pausedOrEnded.passed()
        // The chunk that was on its way when the task was suspended is received, and no further one.
        let received = transport.receiver.record.received
        #expect(transport.counts.pauses == 1 && received > 5 && received < 5 + 4 << 20)
        // Complete transfers on the same transport give the suspended one time to deliver.
        for _ in 0..<5 { _ = try await Plain("other").send(on: agent) }
        #expect(transport.receiver.record.received == received)
        #expect(transport.receiver.record.end == nil && transport.counts.resumptions == 0)
        #expect(task.phase == .suspended)
        #expect(task.progress.current.bytesReceived == received)

        task.resume()
        let response = try await task.response()
        #expect(response.data == Self.first + Self.rest)
        #expect(transport.counts.resumptions == 1 && transport.counts.chunksWhilePaused == 0)
        #expect(transport.receiver.record.violations.isEmpty)
        await agent.shutdown()
        await server.stop()
    }

    @Test func taskThatIsResumedBeforeTheNextChunkIsNotPaused() async throws {
        let transport = ObservedTransport(scripted, path: "/slow")
        let agent = RequestAgent(
            configuration: Configuration(baseURL: "https://api.example.com"), transport: transport)
        let task = agent.start(Slow().makeDescription())
        try await transport.receiver.until { $0.received >= 5 }
        task.suspend()
        task.resume()
        gate.open()
        #expect(try await task.response().data == Self.first + Self.rest)
        #expect(transport.counts.pauses == 0 && transport.counts.resumptions == 0)
    }

    /// Requests that share a transfer suspend it together, and any of them resumes it.
    @Test func sharedTransferIsPausedWhenEveryRequestIsSuspended() async throws {
        let gates = [Gate(), Gate()]
        let inner = ScriptedTransport()
        inner.on(
            nil, nil,
            ScriptedResponse(steps: [
                .head(ResponseHead(status: .ok, httpVersion: .http11)), .bytes(Data("1".utf8)),
                .hold(gates[0]), .bytes(Data("2".utf8)),
                .hold(gates[1]), .bytes(Data("3".utf8)), .bytes(Data("4".utf8)),
            ]))
        let transport = ObservedTransport(inner, path: "/slow")
        let events = EventRecorder()
        var configuration = Configuration(baseURL: "https://api.example.com")
        configuration.eventListeners = [events]
        let agent = RequestAgent(configuration: configuration, transport: transport)
        var description = Slow().makeDescription()
        description.sending.duplicates = .join
        let tasks = [agent.start(description), agent.start(description)]
        try await events.until { $0.contains { $0.isJoined } }
        try await gates[0].reached()
        tasks[0].suspend()
        gates[0].open()
        try await gates[1].reached()
        #expect(transport.counts.pauses == 0)
        tasks[1].suspend()
        gates[1].open()
        try await transport.pausedOrEnded.passed()
        #expect(transport.counts.pauses == 1 && transport.receiver.record.received == 3)
        tasks[0].resume()
        #expect(try await tasks[0].response().string == "1234")
        #expect(try await tasks[1].response().string == "1234")
        #expect(transport.counts.resumptions == 1 && transport.counts.chunksWhilePaused == 0)
        #expect(inner.requestCount == 1)
    }
}
