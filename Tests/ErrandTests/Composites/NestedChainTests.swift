import Errand
import ErrandTesting
import Synchronization
import TestSupport
import Testing

/// Batches and chains as steps of a chain.
@Suite(.limited) struct NestedChainTests {
    private let fixture = CompositeFixture()

    @Test func batchCanBeAStepOfAChain() async throws {
        let chain = ChainRequest()
        chain.add(fixture.plain("a"))
            .then { [fixture] _ in
                BatchRequest([fixture.plain("b"), fixture.plain("c")], maxConcurrent: 1)
            }
            .then { [fixture] batch in fixture.plain("d\(batch.results.count)") }
        let responses = try await chain.send()
        #expect(fixture.paths == ["/a", "/b", "/c", "/d2"])
        #expect(responses.map { $0.json["path"].string } == ["/a", "/b", "/c", "/d2"])
        #expect(chain.requests.map(\.url) == ["a", "b", "c", "d2"])
    }

    @Test func chainCanBeAStepOfAChain() async throws {
        let inner = ChainRequest()
        inner.add(fixture.plain("b")).then { [fixture] _ in fixture.plain("c") }
        let chain = ChainRequest()
        var innerCounts: [String] = []
        chain.add(fixture.plain("a"))
        chain.add(inner) { _, inner in innerCounts.append("\(inner.requests.count)") }
        chain.add(fixture.plain("d"))
        try await chain.send()
        #expect(fixture.paths == ["/a", "/b", "/c", "/d"] && innerCounts == ["2"])
        try await chain.send()
        #expect(fixture.paths.count == 8)
    }

    @Test func failureOfABatchStopsTheChain() async throws {
        let batch = BatchRequest([fixture.plain("b"), fixture.plain("bad")], maxConcurrent: 1)
        let chain = ChainRequest()
        chain.add(batch)
        chain.add(fixture.plain("c"))
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(error?.code == .unacceptableStatus && chain.failedRequest?.url == "bad")
        #expect(fixture.paths == ["/b", "/bad"])
    }

    @Test func collectAllBatchWithFailuresDoesNotStopTheChain() async throws {
        let chain = ChainRequest()
        chain.add(
            BatchRequest(
                [fixture.plain("bad"), fixture.plain("b")], policy: .collectAll, maxConcurrent: 1)
        )
        .then { [fixture] batch in
            fixture.plain(batch.results.map { (try? $0.get()) == nil ? "x" : "o" }.joined())
        }
        try await chain.send()
        #expect(fixture.paths == ["/bad", "/b", "/xo"])
    }

    @Test func replacementOfAFailedMemberReplacesTheWholeStep() async throws {
        let chain = ChainRequest()
        chain.add(BatchRequest([fixture.plain("a"), fixture.plain("bad")], maxConcurrent: 1))
        chain.add(fixture.plain("c"))
        chain.recover { [fixture] request, _ in
            request.url == "bad" ? .replace(fixture.plain("b")) : .stop
        }
        let responses = try await chain.send()
        #expect(responses.map { $0.json["path"].string } == ["/b", "/c"])
    }

    @Test func cancellingEndsTheMembersOfABatchStep() async throws {
        let gate = Gate()
        let fixture = AgentFixture()
        fixture.transport.respond { _ in ScriptedResponse.json("{}").held(by: gate) }
        let log = CallbackLog()
        let members = [fixture.with(Plain("a")), fixture.with(Plain("b"))]
        let batch = BatchRequest(members)
        batch.accessories = [log]
        let chain = ChainRequest()
        chain.add(batch)
        chain.add(fixture.with(Plain("c")))
        let canceller = Task { [fixture] in
            try await gate.reached(times: 2)
            fixture.agent.cancelAll()
        }
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        try await canceller.value
        #expect(error?.code == .cancelled && fixture.transport.requests.count == 2)
        #expect(log.lines == ["batch willStart", "batch willStop", "batch didStop"])
    }

    @Test @MainActor func cancellingTheTaskOfAChainCancelsItsNestedMembers() async throws {
        let gate = Gate()
        let fixture = AgentFixture()
        fixture.transport.respond { _ in ScriptedResponse.json("{}").held(by: gate) }
        var lines: [String] = []
        func record(_ unit: RequestUnit, _ name: String) {
            unit.observe { event, _ in lines.append("\(name) \(event)") }
        }
        let members = [fixture.with(Plain("a")), fixture.with(Plain("b"))]
        let batch = BatchRequest(members)
        let (inner, chain) = (ChainRequest(), ChainRequest())
        record(batch, "batch")
        record(inner, "inner")
        record(chain, "chain")
        inner.add(batch)
        inner.add(fixture.with(Plain("never")))
        chain.add(inner) { _, _ in lines.append("callback") }
        chain.add(fixture.with(Plain("never")))
        let work = Task { () -> RequestError? in
            do throws(RequestError) {
                try await chain.send()
                return nil
            } catch {
                return error
            }
        }
        try await gate.reached(times: 2)
        let running = try #require(chain.task)
        running.cancel()
        #expect(await work.value?.code == .cancelled)
        #expect(running.phase == .ended && chain.task == nil)
        #expect(members.allSatisfy { $0.error?.code == .cancelled })
        #expect(fixture.transport.requestCount == 2 && fixture.transport.inFlight == 0)
        let starts = ["chain willStart", "inner willStart", "batch willStart"]
        let ends = ["batch", "inner", "chain"].flatMap { name in
            ["willCancel", "willStop", "didStop"].map { "\(name) \($0)" }
        }
        #expect(lines == starts + ends)
    }

    @Test @MainActor func chainTaskSuspendsCancelsAndCountsItsMembers() async throws {
        let gate = Gate()
        let fixture = AgentFixture()
        fixture.transport.respond { _ in ScriptedResponse.json("{}").held(by: gate) }
        let chain = ChainRequest()
        chain.add(BatchRequest([fixture.with(Plain("a")), fixture.with(Plain("b"))]))
        let result = Mutex<RequestError?>(nil)
        let end = Gate()
        let task = chain.start { _ in
            end.open()
        } failure: { _, error in
            result.withLock { $0 = error }
            end.open()
        }
        try await gate.reached(times: 2)
        task.suspend()
        #expect(fixture.agent.activeTasks.allSatisfy { $0.phase == .suspended })
        task.resume()
        #expect(fixture.agent.activeTasks.allSatisfy { $0.phase.isRunning })
        task.cancel()
        try await end.passed()
        #expect(result.withLock { $0 }?.code == .cancelled)
        #expect(task.members?.finished == 1)
    }

    @Test func chainCannotContainItself() async {
        let chain = ChainRequest()
        chain.add(chain)
        let error = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(error?.code == .chainFailed)
    }
}
