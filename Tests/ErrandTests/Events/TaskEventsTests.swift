import Errand
import ErrandTesting
import TestSupport
import Testing

/// `RequestTask.events()`, the sequence of the events of one task.
@Suite(.limited) struct TaskEventsTests {
    private let transport = ScriptedTransport()

    private func agent(_ configure: (inout Configuration) -> Void = { _ in }) -> RequestAgent {
        var configuration = Configuration(baseURL: "https://api.example.com/")
        configure(&configuration)
        return RequestAgent(configuration: configuration, transport: transport)
    }

    private func names(_ events: AsyncStream<RequestEvent>) async -> [String] {
        var names: [String] = []
        for await event in events {
            names.append("\(event.kind)".prefix { $0.isLetter }.description)
        }
        return names
    }

    @Test func sequenceEndsWithTheTaskAndNeedsNoListener() async throws {
        let gate = Gate()
        transport.on(.get, "/x", ScriptedResponse.json("{}").held(by: gate))
        let agent = agent()
        let task = agent.start(Plain("x").makeDescription())
        let other = agent.start(Plain("x").makeDescription())
        try await gate.reached()
        let events = task.events()
        gate.open()
        let received = await names(events)
        #expect(received.contains("transferEnded") && received.contains("validated"))
        #expect(received.filter { $0 == "ended" }.count == 1 && received.last == "ended")
        _ = try await other.response()
    }

    @Test(arguments: [false, true])
    func sequenceOfAnEndedTaskHoldsOnlyTheEnd(isListenedTo: Bool) async throws {
        transport.respond { _ in .json("{}") }
        let agent = agent { if isListenedTo { $0.eventListeners = [EventRecorder()] } }
        let task = agent.start(Plain("x").makeDescription())
        _ = try await task.response()
        let first = await names(task.events())
        #expect(first == ["ended"])
        #expect(await names(task.events()) == ["ended"])
    }

    @Test func cancellationEndsTheSequence() async throws {
        let gate = Gate()
        transport.respond { _ in ScriptedResponse.json("{}").held(by: gate) }
        let task = agent().start(Plain("x").makeDescription())
        try await gate.reached()
        let events = task.events()
        task.cancel()
        var last: RequestEvent.Kind?
        var wasCancelled = false
        for await event in events {
            if case .cancelled = event.kind { wasCancelled = true }
            last = event.kind
        }
        #expect(wasCancelled)
        guard case .ended(let error?)? = last else {
            Issue.record("the end is missing")
            return
        }
        #expect(error.code == .cancelled)
    }

    @Test func concurrentReadersAlwaysReceiveTheEnd() async throws {
        transport.respond { _ in .json("{}") }
        let agent = agent()
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<200 {
                group.addTask { [self] in
                    let task = agent.start(Plain("x").makeDescription())
                    return await names(task.events()).last
                }
            }
            for await last in group { #expect(last == "ended") }
        }
    }
}
