import Errand
import ErrandTesting
import ErrandTransport
import Foundation
import TestSupport
import Testing

/// The progress of all requests of an agent, for listeners that observe it.
@Suite(.limited) struct ObservedProgressTests {
    /// Keeps the progress of each request until its end.
    private final class Board: RequestEventListener {
        let lines = Shared<[String]>([])
        var observesProgress: Bool { true }

        func handle(_ event: RequestEvent) {
            switch event.kind {
            case .progress(let progress):
                lines.value.append("\(event.tag): \(progress.bytesReceived)")
            case .ended: lines.value.append("\(event.tag): end")
            default: break
            }
        }
    }

    @Test func listenerReceivesTheProgressOfAllRequests() async throws {
        let board = Board()
        let fixture = AgentFixture { $0.eventListeners.append(board) }
        for path in ["/a", "/b"] {
            fixture.transport.on(
                .get, path,
                ScriptedResponse(steps: [
                    .head(ResponseHead(status: .ok)), .bytes(Data(count: 3)),
                    .bytes(Data(count: 4)),
                ]))
        }
        for (tag, path) in [(1, "a"), (2, "b")] {
            let request = fixture.with(
                InlineRequest(EndpointURL(raw: path)) { $0.acceptance.format = .any })
            request.tag = tag
            try await request.send()
        }
        for tag in 1...2 {
            let lines = board.lines.value.filter { $0.hasPrefix("\(tag)") }
            // The last value comes before the end.
            #expect(lines.suffix(2) == ["\(tag): 7", "\(tag): end"])
            #expect(lines.count { $0.hasSuffix("end") } == 1)
        }
        // Other listeners do not receive it.
        #expect(!fixture.events.names.contains("progress"))
    }

    @Test func valueThatIsHeldBackIsDeliveredWhileTheRequestWaits() async throws {
        let (board, gate) = (Board(), Gate())
        let fixture = AgentFixture { $0.eventListeners.append(board) }
        fixture.transport.on(
            .get, "/a",
            ScriptedResponse(steps: [
                .head(ResponseHead(status: .ok)), .bytes(Data(count: 1)), .bytes(Data(count: 8)),
                .hold(gate), .bytes(Data(count: 1)),
            ]))
        let task = fixture.agent.start(
            InlineRequest("a") { $0.acceptance.format = .any }.makeDescription())
        try await gate.reached()
        // Nothing else sleeps: the value of 9 bytes is held back for 100 ms.
        try await fixture.clock.untilSleeping()
        fixture.clock.advance(by: .milliseconds(100))
        while !board.lines.value.contains("0: 9") { await Task.yield() }
        gate.open()
        _ = try await task.response()
        #expect(board.lines.value.suffix(2) == ["0: 10", "0: end"])
    }

    @Test func readersOfATaskDoNotReceiveIt() async throws {
        let fixture = AgentFixture { $0.eventListeners.append(Board()) }
        fixture.transport.on(.get, "/x", .json("[1,2]"))
        let task = fixture.agent.start(Plain("x").makeDescription())
        let reader = Task { await task.events().reduce(into: []) { $0.append("\($1.kind)") } }
        _ = try await task.response()
        #expect(await !reader.value.contains { $0.hasPrefix("progress") })
    }
}
