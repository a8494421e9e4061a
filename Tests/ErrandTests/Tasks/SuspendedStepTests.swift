import Errand
import ErrandTesting
import ErrandWorkflows
import Foundation
import TestSupport
import Testing

/// Closures of a chain that suspend while the chain is cancelled or its deadline passes.
@Suite(.limited) struct SuspendedStepTests {
    private let fixture = GraphFixture()

    /// A closure or a method of the user that a chain awaits.
    enum Place: CaseIterable, Sendable {
        case condition, member, next, nextWithOutput, replacement, value, storedSteps, savedStep,
            removal
    }

    enum Stop: CaseIterable, Sendable { case task, swiftTask, deadline }

    /// Waits at a gate when it reads or saves a checkpoint.
    private final class SlowStore: CheckpointStore {
        let place: Place
        let gate: Gate
        init(_ place: Place, _ gate: Gate) { (self.place, self.gate) = (place, gate) }

        private func wait(_ here: Place) async throws(RequestError) {
            guard here == place else { return }
            do {
                try await gate.passed()
            } catch {
                throw RequestError(.storeFailed, stage: .schedule, "The store was interrupted.")
            }
        }

        func checkpoint(
            of chain: String
        ) async throws(RequestError) -> Checkpoint? {
            try await wait(.storedSteps)
            return nil
        }

        func save(
            _ checkpoint: Checkpoint, replacing revision: UUID?
        ) async throws(RequestError) -> Bool {
            try await wait(.savedStep)
            return true
        }

        func removeCheckpoint(of chain: String) async throws(RequestError) {
            try await wait(.removal)
        }

        func unfinishedChains() async throws(RequestError) -> [String] { [] }
    }

    /// A chain that suspends at a place, after the gate was reached, until its Swift task is cancelled.
    private static func chain(
        _ place: Place, _ gate: Gate, _ fixture: GraphFixture
    ) -> ChainRequest {
        let chain = ChainRequest()
        switch place {
        case .condition:
            chain.add(GetNumber("n1")).onlyIf {
                try await gate.passed()
                return true
            }
        case .member:
            chain.add { () async throws -> GetNumber? in
                try await gate.passed()
                return GetNumber("n1")
            }
        case .next:
            chain.add(GetNumber("n1")).then { _ in
                try await gate.passed()
                return GetNumber("n2")
            }
        case .nextWithOutput:
            chain.add(GetNumber("n1")).then { _, _ in
                try await gate.passed()
                return GetNumber("n2")
            }
        case .replacement:
            chain.add(GetNumber("bad")).recover(byRequest: { _ in
                try await gate.passed()
                return GetNumber("n1")
            })
        case .value:
            chain.add(GetNumber("bad")).recover(byValue: { _ in
                try await gate.passed()
                return 7
            })
        case .storedSteps, .savedStep, .removal:
            chain.name = "slow"
            chain.checkpointStore = SlowStore(place, gate)
            chain.add(GetNumber("n1"))
            chain.add(GetNumber("n2"))
        }
        return chain
    }

    @Test(arguments: Place.allCases, Stop.allCases)
    func endOfTheChainEndsTheClosure(place: Place, stop: Stop) async throws {
        let gate = Gate()
        let task = Shared<RequestTask?>(nil)
        let ends = Shared(0)
        let run = Task { [fixture] () -> RequestError? in
            let chain = Self.chain(place, gate, fixture)
            chain.deadline = .seconds(60)
            chain.observe { event, _ in if event == .didStop { ends.value += 1 } }
            return await fixture.failure(chain) { task.value = $0 }
        }
        try await gate.reached()
        let sent = fixture.transport.requestCount
        switch stop {
        case .task: task.value?.cancel()
        case .swiftTask: run.cancel()
        case .deadline: fixture.base.clock.advance(by: .seconds(60))
        }
        let error = await run.value
        #expect(error?.code == (stop == .deadline ? .timedOut : .cancelled))
        #expect(ends.value == 1 && fixture.transport.requestCount == sent)
        #expect(fixture.base.clock.sleepers == 0)
    }

    /// A chain in a batch, in a chain and in a graph is cancelled with it.
    @Test(arguments: Stop.allCases)
    func endOfTheOuterCompositeEndsTheClosure(stop: Stop) async throws {
        let gate = Gate()
        let task = Shared<RequestTask?>(nil)
        let run = Task { [fixture] () -> RequestError? in
            let outer = ChainRequest()
            outer.deadline = .seconds(60)
            outer.add(BatchRequest([Self.chain(.member, gate, fixture)] as [RequestUnit]))
            return await fixture.failure(outer) { task.value = $0 }
        }
        try await gate.reached()
        switch stop {
        case .task: task.value?.cancel()
        case .swiftTask: run.cancel()
        case .deadline: fixture.base.clock.advance(by: .seconds(60))
        }
        #expect(await run.value?.code == (stop == .deadline ? .timedOut : .cancelled))
        #expect(fixture.transport.requestCount == 0)
    }

    /// A chain whose closure belongs to no actor by itself.
    private static func chain(calling body: @escaping () -> Void) -> ChainRequest {
        let chain = ChainRequest()
        chain.add { () async throws -> GetNumber? in
            body()
            return GetNumber("n1")
        }
        return chain
    }

    @MainActor
    @Test func closureRunsOnTheActorOfTheChain() async throws {
        var calls = 0
        let chain = Self.chain {
            MainActor.assertIsolated()
            calls += 1
        }
        try await chain.send(on: fixture.agent)
        #expect(calls == 1)
    }

    /// An error of cancellation that the closure throws by itself is a cancellation.
    @Test func closureCanCancelTheChain() async throws {
        let chain = ChainRequest()
        chain.add { () async throws -> GetNumber? in throw CancellationError() }
        #expect(await fixture.failure(chain)?.code == .cancelled)
    }
}

extension GraphFixture {
    /// The error of a chain, or `nil` if it succeeds.
    fileprivate func failure(
        _ chain: ChainRequest, onStart: (RequestTask) -> Void = { _ in }
    ) async -> RequestError? {
        do throws(RequestError) {
            try await chain.send(on: agent, onStart: onStart)
            return nil
        } catch {
            return error
        }
    }
}
