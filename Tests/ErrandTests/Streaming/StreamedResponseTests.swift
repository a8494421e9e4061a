import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import Testing

private final class Tail: BaseRequest {
    override var url: EndpointURL { "/tail" }
}

/// Streams over a scripted transport.
@Suite struct StreamedResponseTests {
    private let transport = ScriptedTransport()
    private let agent: RequestAgent

    init() {
        agent = RequestAgent(
            configuration: Configuration(baseURL: "http://example.com"), transport: transport)
    }

    private static let head = ScriptedResponse.Step.head(
        ResponseHead(status: .ok, headers: [.contentType: "text/plain"]))

    @Test func theHeadComesBeforeTheBody() async throws {
        let gate = Gate()
        transport.on(
            .get, "/tail",
            ScriptedResponse(steps: [
                Self.head, .hold(gate), .bytes(Data("one\ntwo\nthr".utf8)), .bytes(Data("ee".utf8)),
            ]))
        let stream = try await Tail().stream(on: agent)
        #expect(stream.response.status == .ok)
        #expect(stream.response.headers[.contentType] == "text/plain")
        #expect(stream.response.isStreamed)
        #expect(agent.activeTasks.map(\.id) == [stream.task.id])
        gate.open()
        var lines: [String] = []
        for try await line in stream.lines { lines.append(line) }
        #expect(lines == ["one", "two", "three"])
        #expect(stream.task.phase == .ended)
        #expect(agent.activeTasks.isEmpty)
    }

    @Test func leavingTheLoopCancelsTheTransfer() async throws {
        let gate = Gate()
        transport.on(
            .get, "/tail",
            ScriptedResponse(steps: [Self.head, .bytes(Data("one\ntwo\n".utf8)), .hold(gate)]))
        let stream = try await Tail().stream(on: agent)
        for try await line in stream.lines {
            #expect(line == "one")
            break
        }
        try await transport.untilIdle()
        await #expect(throws: RequestError.self) { try await stream.task.response() }
    }

    @Test func anInterruptionStatesTheNumberOfBytes() async throws {
        transport.on(
            .get, "/tail",
            ScriptedResponse(steps: [
                Self.head, .bytes(Data("one\ntwo".utf8)),
                .fail(RequestError(.connectionLost, stage: .transport, "Lost.")),
            ]))
        let stream = try await Tail().stream(on: agent)
        var lines: [String] = []
        do {
            for try await line in stream.lines { lines.append(line) }
            Issue.record("The stream ended without an error.")
        } catch {
            #expect(error.code == .connectionLost)
            #expect(error.bytesReceived == 7)
            #expect(error.message.contains("7 bytes"))
            #expect(error.endpoint == "Tail")
        }
        #expect(lines == ["one"])
    }
}
