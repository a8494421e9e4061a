import Errand
import ErrandTesting
import TestSupport
import Testing

/// Accessories receive the lifecycle events of batches and chains, also through wrapper accessories.
@Suite(.limited) @MainActor struct CompositeLifecycleTests {
    private typealias LifecycleEvent = RequestUnit.LifecycleEvent

    private let batchLines = [
        "BatchRequest willStart", "x willStart", "x willStop", "x didStop",
        "BatchRequest willStop", "BatchRequest didStop",
    ]

    @Test func closureAccessoryReceivesEveryEventOfABatch() async {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        var events: [LifecycleEvent] = []
        let batch = BatchRequest([fixture.with(Plain("x"))])
        await withCheckedContinuation { continuation in
            batch.observe { event, _ in
                events.append(event)
                if event == .didStop { continuation.resume() }
            }
            let task = batch.start()
            task.suspend()
            task.resume()
            task.cancel()
        }
        #expect(events == LifecycleEvent.allCases)
    }

    @Test func closureAccessoryReceivesEventsOfRequestsAndComposites() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { _ in .json("{}") }
        var lines: [String] = []
        let member = fixture.with(Plain("x"))
        let batch = BatchRequest([member])
        for unit in [member, batch] as [RequestUnit] {
            unit.observe { event, unit in
                let name = (unit as? BaseRequest).map { "\($0.url)" } ?? "\(type(of: unit))"
                lines.append("\(name) \(event)")
            }
        }
        _ = try await batch.send()
        #expect(lines == batchLines)
    }

    @Test func weakAccessoriesReceiveCompositeEvents() async throws {
        let recorders = [LifecycleRecorder(), LifecycleRecorder()]
        let fixture = AgentFixture { $0.observe(weakly: recorders[1]) }
        fixture.transport.respond { _ in .json("{}") }
        let batch = BatchRequest([fixture.with(Plain("x"))])
        batch.observe(weakly: recorders[0])
        _ = try await batch.send()
        for recorder in recorders {
            #expect(
                recorder.lines.filter { $0.hasPrefix("Batch") }
                    == batchLines.filter { $0.hasPrefix("Batch") })
        }
    }

    @Test func configurationAccessoriesReceiveEventsOfBatchesAndChains() async throws {
        let recorder = LifecycleRecorder()
        let fixture = AgentFixture { $0.observe(weakly: recorder) }
        fixture.transport.respond { _ in .json("{}") }
        _ = try await BatchRequest([fixture.with(Plain("x"))]).send()
        #expect(recorder.lines == batchLines)
        let chain = ChainRequest()
        chain.add(BatchRequest([fixture.with(Plain("x"))]))
        try await chain.send()
        #expect(
            recorder.lines.dropFirst(batchLines.count)
                == ["ChainRequest willStart"] + batchLines[...]
                + ["ChainRequest willStop", "ChainRequest didStop"])
    }

    @Test func emptyChainReportsItsEventsWithoutAnAgent() async throws {
        let chain = ChainRequest()
        var events: [LifecycleEvent] = []
        chain.observe { event, _ in events.append(event) }
        try await chain.send()
        #expect(events == [.willStart, .willStop, .didStop])
    }
}
