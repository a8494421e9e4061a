import Errand
import ErrandTesting
import ErrandWorkflows
import Foundation
import TestSupport
import Testing

/// Chains with a checkpoint store: what a later run repeats, and which checkpoints are refused.
@Suite(.limited) struct ChainContinuationTests {
    private let fixture = GraphFixture()
    private let store = MemoryCheckpointStore()

    /// An output that cannot be encoded.
    private struct Opaque: Sendable {
        var number: Int
    }

    private final class GetOpaque: BaseRequest, TypedRequest {
        override var url: EndpointURL { "n5" }
        var decoder: ResponseDecoder<Opaque> {
            ResponseDecoder { Opaque(number: $0.json.int ?? 0) }
        }
    }

    private final class GetText: BaseRequest, TypedRequest {
        override var url: EndpointURL { "n2" }
        var decoder: ResponseDecoder<String> { .string }
    }

    /// Three steps; the last one sends `last`, or else a request that it makes from both outputs.
    private func chain(last: String? = nil) -> ChainRequest.Typed<Int> {
        let chain = ChainRequest.Typed<Int> { chain in
            let one = chain.add(GetNumber("n1"), named: "one")
            let two = chain.add(named: "two") { GetNumber("n\(try one.output + 1)") }
            return chain.add(named: "three") {
                GetNumber(try last ?? "n\(one.output + two.output)")
            }
        }
        return named(chain)
    }

    private func named<Chain: ChainRequest>(_ chain: Chain) -> Chain {
        chain.name = "sums"
        chain.checkpointStore = store
        return chain
    }

    private func failure(_ chain: ChainRequest) async -> RequestError? {
        do throws(RequestError) {
            try await chain.send(on: fixture.agent)
            return nil
        } catch {
            return error
        }
    }

    private var paths: [String] { fixture.transport.requests.map(\.url.path) }

    private func outputs() async throws -> [String?]? {
        try await store.checkpoint(of: "sums")?.outputs
            .map { $0.map { String(decoding: $0, as: UTF8.self) } }
    }

    // MARK: - Continuing

    @Test func laterRunContinuesAfterTheLastFinishedStep() async throws {
        #expect(await failure(chain(last: "bad"))?.code == .unacceptableStatus)
        #expect(try await outputs() == ["1", "2"])
        #expect(try await store.unfinishedChains() == ["sums"])
        var task: RequestTask?
        let chain = self.chain()
        let responses = try await chain.send(on: fixture.agent) { task = $0 }
        #expect(paths == ["/n1", "/n2", "/bad", "/n3"] && chain.output == 3)
        #expect(responses.count == 1 && chain.requests.count == 1)
        let progress = task?.members
        #expect(progress?.finished == 3 && progress?.total == 3)
        #expect(try await store.unfinishedChains().isEmpty)
    }

    @Test func runAfterASuccessStartsWithTheFirstStep() async throws {
        for _ in 0..<2 { #expect(try await chain().value(on: fixture.agent) == 3) }
        #expect(paths.count == 6)
    }

    @Test func chainWhoseStepsHaveAllFinishedSendsNothing() async throws {
        let chain = self.chain()
        _ = await failure(self.chain(last: "bad"))
        var checkpoint = try #require(try await store.checkpoint(of: "sums"))
        checkpoint.outputs.append(Data("7".utf8))
        #expect(try await store.save(checkpoint, replacing: checkpoint.revision))
        #expect(try await chain.value(on: fixture.agent) == 7)
        #expect(paths.count == 3)
    }

    @Test func cancelledChainContinues() async throws {
        let error = await #expect(throws: RequestError.self) {
            try await chain(last: "slow").send(on: fixture.agent) { task in
                let transport = fixture.transport
                Task {
                    for _ in 0..<3 { _ = try await transport.nextRequest() }
                    task.cancel()
                }
            }
        }
        #expect(error?.isCancellation == true)
        #expect(try await outputs() == ["1", "2"])
    }

    @Test func skippedAndReplacedStepsAreRestored() async throws {
        func make(last: String) -> ChainRequest.Typed<Int> {
            named(
                ChainRequest.Typed<Int> { chain in
                    chain.add(GetNumber("n4")).onlyIf { false }
                    let replaced = chain.add(GetNumber("bad")).recover(byValue: { _ in 2 })
                    let other = chain.add(GetNumber("bad"))
                        .recover(byRequest: { _ in GetNumber("n3") })
                    chain.add { GetNumber(last) }
                    return chain.add { GetNumber("n\(try replaced.output + other.output)") }
                })
        }
        _ = await failure(make(last: "bad"))
        #expect(try await outputs() == [nil, "2", "3"])
        #expect(try await make(last: "n1").value(on: fixture.agent) == 5)
        #expect(paths == ["/bad", "/bad", "/n3", "/bad", "/n1", "/n5"])
    }

    @Test func stepWithoutACodableOutputIsRunAgain() async throws {
        func make(last: String) -> ChainRequest {
            named(
                ChainRequest {
                    ChainRequest.Step(GetNumber("n1"))
                    ChainRequest.Step(GetOpaque())
                    ChainRequest.Step(Plain("n2"))
                    ChainRequest.Step(GetNumber(last))
                })
        }
        _ = await failure(make(last: "bad"))
        #expect(try await outputs() == ["1"])
        try await make(last: "n4").send(on: fixture.agent)
        #expect(paths == ["/n1", "/n5", "/n2", "/bad", "/n5", "/n2", "/n4"])
    }

    @Test func lostOutputIsAnErrorThatNamesTheType() async throws {
        func make(last: String) -> ChainRequest.Typed<Int> {
            named(
                ChainRequest.Typed<Int> { chain in
                    let opaque = chain.add(GetOpaque())
                    chain.add(GetNumber("n1"))
                    return chain.add { GetNumber("\(last)\(try opaque.output.number)") }
                })
        }
        _ = await failure(make(last: "bad"))
        #expect(try await outputs() == [nil, "1"])
        let error = await failure(make(last: "n"))
        #expect(error?.code == .chainFailed)
        #expect(error?.message.contains("Make Opaque Codable.") == true)
    }

    // MARK: - Ends of a chain

    /// A later run must come to the same decision.
    @Test(arguments: [true, false])
    func stepThatEndsTheChainIsNotSaved(isFinish: Bool) async throws {
        let chain = ChainRequest.Typed<Int> { chain in
            chain.add(GetNumber("n1"))
            chain.add(GetNumber("n2")) { chain, _ in
                guard isFinish else {
                    return chain.abort(RequestError(.rejected, stage: .process, "No."))
                }
                (chain as? ChainRequest.Typed<Int>)?.finish(with: 9)
            }
            return chain.add(GetNumber("n3"))
        }
        let saved = RecordingStore()
        chain.name = "sums"
        chain.checkpointStore = saved
        let value = try? await chain.value(on: fixture.agent)
        #expect(value == (isFinish ? 9 : nil) && paths == ["/n1", "/n2"])
        #expect(saved.counts.value == [1])
        #expect(try await saved.unfinishedChains().count == (isFinish ? 0 : 1))
    }

    private final class RecordingStore: CheckpointStore {
        let counts = Shared<[Int]>([])
        private let base = MemoryCheckpointStore()

        func checkpoint(of chain: String) async throws(RequestError) -> Checkpoint? {
            try await base.checkpoint(of: chain)
        }
        func save(
            _ checkpoint: Checkpoint, replacing previous: UUID?
        ) async throws(RequestError) -> Bool {
            counts.value.append(checkpoint.outputs.count)
            return try await base.save(checkpoint, replacing: previous)
        }
        func removeCheckpoint(of chain: String) async throws(RequestError) {
            try await base.removeCheckpoint(of: chain)
        }
        func unfinishedChains() async throws(RequestError) -> [String] {
            try await base.unfinishedChains()
        }
    }

    // MARK: - Refusals

    private func problem(_ error: RequestError?) -> CheckpointProblem? {
        error?.code == .chainFailed ? error?.underlying as? CheckpointProblem : nil
    }

    @Test func checkpointOfAnotherDefinitionIsRefused() async throws {
        _ = await failure(chain(last: "bad"))
        let before = paths.count
        let others: [(Int, ChainRequest)] = [
            (1, ChainRequest()),
            (1, ChainRequest { GetNumber("n1") }),
            (1, ChainRequest { ChainRequest.Step(GetText(), named: "one") }),
            (2, ChainRequest { ChainRequest.Step(GetNumber("n1"), named: "one") }),
            (
                2,
                ChainRequest {
                    ChainRequest.Step(GetNumber("n1"), named: "one")
                    ChainRequest.Step(GetNumber("n3"), named: "three")
                    ChainRequest.Step(GetNumber("n2"), named: "two")
                }
            ),
        ]
        for (step, other) in others {
            let error = await failure(named(other))
            #expect(problem(error) == .changedDefinition(step: step))
            #expect(
                error?.message.contains("Give the new chain another name, or remove the checkpoint")
                    == true)
        }
        let longer = chain()
        longer.add(GetNumber("n4"))
        let error = await failure(longer)
        #expect(problem(error) == .changedDefinition(step: 4))
        #expect(
            error?.message.contains("step 4 was missing, and is 'GetNumber → Int'") == true)
        #expect(paths.count == before)
        // The checkpoint is kept.
        #expect(try await chain().value(on: fixture.agent) == 3 && paths.count == before + 1)
    }

    @Test func unreadableOutputIsRefused() async throws {
        _ = await failure(chain(last: "bad"))
        var checkpoint = try #require(try await store.checkpoint(of: "sums"))
        let before = paths.count
        let outputs = [["1", "x"], ["1", "2", "3", "4"]].map { $0.map { Data($0.utf8) } }
        for (changed, step) in zip(outputs, [2, 4]) {
            let previous = checkpoint.revision
            checkpoint.outputs = changed
            checkpoint.revision = UUID()
            #expect(try await store.save(checkpoint, replacing: previous))
            let error = await failure(chain())
            #expect(problem(error) == .unreadableOutput(step: step))
        }
        #expect(paths.count == before)
    }

    private func pair(_ first: String, _ second: String) -> ChainRequest {
        named(
            ChainRequest {
                GetNumber(first)
                GetNumber(second)
            })
    }

    @Test func secondRunOfANameAtTheSameTimeFailsWhenItSaves() async throws {
        let gates = (0..<3).map { _ in Gate() }
        for (index, gate) in gates.enumerated() {
            fixture.transport.on(.get, "/g\(index)", ScriptedResponse.json("1").held(by: gate))
        }
        let slow = pair("g0", "n2")
        let fast = pair("g1", "g2")
        async let slowError = failure(slow)
        async let fastError = failure(fast)
        for gate in gates.prefix(2) { try await gate.reached() }
        gates[1].open()
        // The second chain has saved its first step.
        try await gates[2].reached()
        gates[0].open()
        #expect(problem(await slowError) == .changedByAnotherRun)
        gates[2].open()
        #expect(await fastError == nil && !paths.contains("/n2"))
    }

    @Test func chainsThatCannotContinueAreRefusedBeforeTheyAreSent() async throws {
        let nameless = ChainRequest { GetNumber("n1") }
        nameless.checkpointStore = store
        #expect(await failure(nameless)?.code == .invalidConfiguration)
        let reading = named(ChainRequest())
        reading.add(GetNumber("n1")).then { _, one in GetNumber("n\(one)") }
        let error = await failure(reading)
        #expect(error?.code == .invalidCombination && error?.message.contains("Step 2 ") == true)
        #expect(paths.isEmpty)
    }

    @Test func stepThatIsAddedDuringTheRunIsRefused() async throws {
        let chain = named(ChainRequest())
        chain.add(GetNumber("n1")) { chain, _ in chain.add(GetNumber("n2")) }
        #expect(await failure(chain)?.code == .invalidCombination)
        #expect(paths == ["/n1"])
        #expect(try await store.unfinishedChains().isEmpty)
    }

    private struct FullStore: CheckpointStore {
        private var error: RequestError { RequestError(.storeFailed, stage: .cache, "Full.") }

        func checkpoint(of chain: String) async throws(RequestError) -> Checkpoint? {
            nil
        }
        func save(
            _ checkpoint: Checkpoint, replacing previous: UUID?
        ) async throws(RequestError) -> Bool { throw error }
        func removeCheckpoint(of chain: String) async throws(RequestError) { throw error }
        func unfinishedChains() async throws(RequestError) -> [String] { [] }
    }

    @Test func errorOfTheStoreEndsTheChain() async throws {
        let saving = chain()
        saving.checkpointStore = FullStore()
        #expect(await failure(saving)?.code == .storeFailed && paths == ["/n1"])
        let removing = ChainRequest { Plain("n2") }
        removing.name = "plain"
        removing.checkpointStore = FullStore()
        #expect(await failure(removing)?.code == .storeFailed && paths == ["/n1", "/n2"])
    }

    @Test func outputThatCannotBeEncodedEndsTheChain() async throws {
        struct Broken: Codable, Sendable {
            init() {}
            init(from decoder: any Decoder) throws {}
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(0, .init(codingPath: [], debugDescription: ""))
            }
        }
        final class GetBroken: BaseRequest, TypedRequest {
            override var url: EndpointURL { "n1" }
            var decoder: ResponseDecoder<Broken> { ResponseDecoder { _ in Broken() } }
        }
        let error = await failure(named(ChainRequest { GetBroken() }))
        #expect(error?.code == .chainFailed && error?.underlying is EncodingError)
    }

    @Test func floatingPointOutputsOfEveryValueAreRestored() async throws {
        final class GetDouble: BaseRequest, TypedRequest {
            override var url: EndpointURL { "n1" }
            var decoder: ResponseDecoder<Double> { ResponseDecoder { _ in -.infinity } }
        }
        func make(last: String) -> ChainRequest.Typed<Int> {
            named(
                ChainRequest.Typed<Int> { chain in
                    let number = chain.add(GetDouble())
                    chain.add { GetNumber(last) }
                    return chain.add { GetNumber(try number.output < 0 ? "n4" : "n3") }
                })
        }
        _ = await failure(make(last: "bad"))
        #expect(try await make(last: "n2").value(on: fixture.agent) == 4)
    }
}
