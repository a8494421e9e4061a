import Errand
import ErrandTesting
import Synchronization
import Testing

/// Accessories hear of batches and chains as wholes, whatever they are made of and whoever holds them.
@Suite(.timeLimit(.minutes(5))) @MainActor struct CompositeMomentTests {
    private typealias Moment = ClosureAccessory.Moment

    private final class Recorder: MomentAccessory, Sendable {
        private let lines = Mutex<[String]>([])
        var heard: [String] { lines.withLock { $0 } }

        func request(_ request: BaseRequest, reached moment: ClosureAccessory.Moment) {
            lines.withLock { $0.append("\(request.url) \(moment)") }
        }

        func composite(
            _ composite: any CompositeRequest, reached moment: ClosureAccessory.Moment
        ) {
            lines.withLock { $0.append("\(type(of: composite)) \(moment)") }
        }
    }

    private let whole = [
        "BatchRequest willStart", "x willStart", "x willStop", "x didStop",
        "BatchRequest willStop", "BatchRequest didStop",
    ]

    @Test func aClosureHearsOfEveryMomentOfABatch() async {
        let world = World()
        world.transport.on(nil, nil, .silence)
        var moments: [Moment] = []
        let batch = BatchRequest([world.with(Plain("x"))])
        await withCheckedContinuation { continuation in
            batch.accessories = [
                ClosureAccessory.ofComposites { moment, _ in
                    moments.append(moment)
                    if moment == .didStop { continuation.resume() }
                }
            ]
            let task = batch.start()
            task.suspend()
            task.resume()
            task.cancel()
        }
        #expect(moments == Moment.allCases)
    }

    @Test func oneAccessoryMayHearOfBoth() async throws {
        let world = World()
        world.transport.answer { _ in .json("{}") }
        var lines: [String] = []
        let both = ClosureAccessory { moment, request in
            lines.append("\(request.url) \(moment)")
        } composite: { moment, composite in
            lines.append("\(type(of: composite)) \(moment)")
        }
        let member = world.with(Plain("x"))
        member.accessories = [both]
        let batch = BatchRequest([member])
        batch.accessories = [both]
        _ = try await batch.send()
        #expect(lines == whole)
    }

    @Test func whoHoldsOthersPassesOnWhatIsToldOfTheWhole() async throws {
        let world = World()
        world.transport.answer { _ in .json("{}") }
        let recorders = [Recorder(), Recorder()]
        let batch = BatchRequest([world.with(Plain("x"))])
        batch.accessories = [WeakAccessory(recorders[0]), AgentAccessory(weak: recorders[1])]
        _ = try await batch.send()
        for recorder in recorders {
            #expect(recorder.heard == whole.filter { $0.hasPrefix("Batch") })
        }
    }

    @Test func anAgentsAccessoriesHearOfItsBatchesAndChains() async throws {
        let recorder = Recorder()
        let world = World { $0.accessories = [AgentAccessory(weak: recorder)] }
        world.transport.answer { _ in .json("{}") }
        _ = try await BatchRequest([world.with(Plain("x"))]).send()
        #expect(recorder.heard == whole)
        let chain = ChainRequest()
        chain.add(BatchRequest([world.with(Plain("x"))]))
        try await chain.send()
        #expect(
            recorder.heard.dropFirst(whole.count)
                == ["ChainRequest willStart"] + whole[...]
                + ["ChainRequest willStop", "ChainRequest didStop"])
    }

    @Test func anEmptyChainIsNoAgents() async throws {
        let chain = ChainRequest()
        var moments: [Moment] = []
        chain.accessories = [ClosureAccessory.ofComposites { moment, _ in moments.append(moment) }]
        try await chain.send()
        #expect(moments == [.willStart, .willStop, .didStop])
    }
}
