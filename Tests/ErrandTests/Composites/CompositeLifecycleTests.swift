import Errand
import ErrandTesting
import TestSupport
import Testing

/// Accessories receive the lifecycle events of batches and chains, also through wrapper accessories.
@Suite(.limited) @MainActor struct CompositeLifecycleTests {
    private typealias LifecycleEvent = ClosureAccessory.LifecycleEvent

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
            batch.accessories = [
                ClosureAccessory.ofComposites { event, _ in
                    events.append(event)
                    if event == .didStop { continuation.resume() }
                }
            ]
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
        let both = ClosureAccessory { event, request in
            lines.append("\(request.url) \(event)")
        } composite: { event, composite in
            lines.append("\(type(of: composite)) \(event)")
        }
        let member = fixture.with(Plain("x"))
        member.accessories = [both]
        let batch = BatchRequest([member])
        batch.accessories = [both]
        _ = try await batch.send()
        #expect(lines == batchLines)
    }

    @Test func wrapperAccessoriesForwardCompositeEvents() async throws {
        let fixture = AgentFixture()
        fixture.transport.respond { _ in .json("{}") }
        let recorders = [LifecycleRecorder(), LifecycleRecorder()]
        let batch = BatchRequest([fixture.with(Plain("x"))])
        batch.accessories = [WeakAccessory(recorders[0]), AgentAccessory(weak: recorders[1])]
        _ = try await batch.send()
        for recorder in recorders {
            #expect(recorder.lines == batchLines.filter { $0.hasPrefix("Batch") })
        }
    }

    @Test func configurationAccessoriesReceiveEventsOfBatchesAndChains() async throws {
        let recorder = LifecycleRecorder()
        let fixture = AgentFixture { $0.accessories = [AgentAccessory(weak: recorder)] }
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
        chain.accessories = [ClosureAccessory.ofComposites { event, _ in events.append(event) }]
        try await chain.send()
        #expect(events == [.willStart, .willStop, .didStop])
    }
}
