import Errand
import ErrandTesting
import Synchronization
import TestSupport
import Testing

/// Each form of start of each kind of composite delivers one end with the documented type.
@Suite(.limited) @MainActor struct CompositeFormTests {
    /// Members have no agent of their own, so that only an agent at the call can send them.
    private let fixture = CompositeFixture()

    private func users(_ ids: Int..., policy: BatchRequest.Policy = .failFast)
        -> BatchRequest.Typed<[User]>
    {
        BatchRequest.Typed(ids.map { GetUser(id: $0) }, policy: policy)
    }

    private func chain(_ id: Int) -> ChainRequest.Typed<User> {
        ChainRequest.Typed { chain in
            chain.add(GetUser(id: 1))
            return chain.add(GetUser(id: id))
        }
    }

    // MARK: - Untyped

    @Test func batchGetsItsResultsOrTheError() async throws {
        let good = await BatchRequest([GetUser(id: 1)]).ended(on: fixture.agent)
        #expect(try good.get().count == 1)
        let bad = await BatchRequest([fixture.user(0)]).ended()
        #expect(bad.failure?.code == .unacceptableStatus)
    }

    @Test func chainGetsItsResponsesOrTheError() async throws {
        let good = await ChainRequest { fixture.user(1) }.ended()
        #expect(try good.get().count == 1)
        let bad = await ChainRequest { GetUser(id: 0) }.ended(on: fixture.agent)
        #expect(bad.failure?.code == .unacceptableStatus)
    }

    @Test func refusedStartCallsTheClosure() async {
        let batch = BatchRequest([fixture.user(1)], policy: .quorum(2))
        #expect(await batch.ended().failure?.code == .invalidConfiguration)
        #expect(batch.error?.code == .invalidConfiguration && batch.result != nil)
    }

    @Test func resultIsNilBeforeTheFirstRunAndThatOfTheLastOneAfterIt() async throws {
        let batch = users(1)
        #expect(batch.result == nil && batch.outputResult == nil && batch.output == nil)
        try await batch.send(on: fixture.agent)
        #expect(try batch.result?.get().count == 1 && batch.output?.count == 1)
        let chain = chain(0)
        #expect(chain.result == nil && chain.outputResult == nil && chain.output == nil)
        _ = try? await chain.send(on: fixture.agent)
        #expect(chain.result?.failure?.code == .unacceptableStatus)
        #expect(chain.outputResult?.failure?.code == .unacceptableStatus && chain.output == nil)
    }

    // MARK: - Typed batches

    @Test func typedBatchRunsOnTheAgentAtTheCall() async throws {
        #expect(try await users(1, 2).value(on: fixture.agent).map(\.nick) == ["1", "2"])
        let members = [GetUser(id: 1), GetUser(id: 0)]
        let batch = BatchRequest.Typed(members, policy: .collectAll)
        try await batch.send(on: fixture.agent)
        #expect(members.map { (try? $0.outputResult?.get())?.nick } == ["1", nil])
        var total = 0
        try await users(1).value(on: fixture.agent) { total = $0.members?.total ?? 0 }
        #expect(total == 1)
    }

    @Test func typedBatchClosuresGetTheValuesOrTheError() async throws {
        let values = await users(1, 2).endedWithOutput(on: fixture.agent)
        #expect(try values.get().map(\.nick) == ["1", "2"])
        let failure = await users(0).endedWithOutput(on: fixture.agent)
        #expect(failure.failure?.code == .unacceptableStatus)
        let refused = await users(1, policy: .quorum(2)).endedWithOutput()
        #expect(refused.failure?.code == .invalidConfiguration)
        // The batch succeeds by its policy, and a member has no output.
        let own = BatchRequest.Typed([fixture.user(1), fixture.user(0)], policy: .collectAll)
        #expect(await own.endedWithOutput().failure?.code == .unacceptableStatus)
        #expect(own.error == nil && own.output == nil)
        let results = await own.ended()
        #expect(try results.get().map { (try? $0.get()) != nil } == [true, false])
    }

    @Test func closureWithTheOutputAloneIsNotCalledWithoutAnOutput() async throws {
        let own = BatchRequest.Typed([fixture.user(1), fixture.user(0)], policy: .collectAll)
        var calls = 0
        let task = own.start { _, _ in calls += 1 }
        await task.untilEnded()
        await Task { @MainActor in }.value
        let good = users(1)
        await withCheckedContinuation { continuation in
            good.start(on: fixture.agent) { batch, values in
                #expect(batch === good && values.count == 1)
                continuation.resume()
            }
        }
        #expect(calls == 0)
    }

    // MARK: - Typed chains

    @Test func typedChainRunsOnTheAgentAtTheCall() async throws {
        var total = 0
        let user = try await chain(2).value(on: fixture.agent) { total = $0.members?.total ?? 0 }
        #expect(user.nick == "2" && total == 2)
        let untyped = ChainRequest()
        let step = untyped.add(GetUser(id: 3))
        untyped.add(GetUser(id: 4))
        try await untyped.send(on: fixture.agent)
        #expect(try step.output.nick == "3")
    }

    @Test func typedChainClosuresGetTheValueOrTheError() async throws {
        #expect(try await chain(2).endedWithOutput(on: fixture.agent).get().nick == "2")
        let failure = await chain(0).endedWithOutput(on: fixture.agent)
        #expect(failure.failure?.code == .unacceptableStatus)
        let own = ChainRequest.Typed { $0.add(fixture.user(5)) }
        #expect(try await own.endedWithOutput().get().nick == "5" && own.output?.nick == "5")
    }

    // MARK: - Retries

    @Test func retryRunsOnTheAgentAtTheCall() async throws {
        let batch = BatchRequest(
            [GetUser(id: 1), GetUser(id: 0)], policy: .collectAll, maxConcurrent: 1)
        try await batch.send(on: fixture.agent)
        batch.repeatsOnlyFailures = true
        #expect(try await batch.send(on: fixture.agent).count == 2)
        #expect(fixture.paths == ["/users?id=1", "/users?id=0", "/users?id=0"])
        let again = await batch.ended(on: fixture.agent)
        #expect(try again.get().count == 2 && fixture.paths.count == 4)
        batch.repeatsOnlyFailures = false
        try await batch.send(on: fixture.agent)
        #expect(fixture.paths.count == 6)
    }

    @Test func retryOfATypedBatchGivesAllOutputs() async throws {
        let batch = users(1, 2, policy: .collectAll)
        let isDown = Mutex(true)
        fixture.transport.respond { _ in
            isDown.withLock { $0 } ? .json("{}", status: .notFound) : nil
        }
        try await batch.send(on: fixture.agent)
        #expect(batch.output == nil)
        isDown.withLock { $0 = false }
        batch.repeatsOnlyFailures = true
        let result = await batch.endedWithOutput(on: fixture.agent)
        #expect(try result.get().map(\.nick) == ["1", "2"])
        let again = await batch.endedWithOutput()
        #expect(try again.get().count == 2 && fixture.paths.count == 4)
    }

    @Test func ownerEndsARetry() async throws {
        let batch = BatchRequest([fixture.plain("bad")], policy: .collectAll)
        try await batch.send()
        fixture.transport.respond { _ in .silence }
        batch.repeatsOnlyFailures = true
        var owner: RequestOwner? = RequestOwner()
        let error = await withCheckedContinuation { continuation in
            batch.start(owner: owner, finished: { continuation.resume(returning: $0.error) })
            owner = nil
        }
        #expect(error?.code == .cancelled)
    }

    // MARK: - Delegates

    /// Records the ends of composites and requests.
    private final class Delegate: RequestDelegate {
        var lines: [String] = []
        func requestDidFinish(_ request: BaseRequest) { lines.append("\(request.url) finished") }
        func compositeDidFinish(_ composite: CompositeRequest) {
            lines.append("\(composite.tag) finished")
        }
        func compositeDidFail(_ composite: CompositeRequest, _ error: RequestError) {
            lines.append("\(composite.tag) failed \(error.code)")
        }
    }

    @Test func delegateIsCalledAfterThoseOfTheMembersAndBeforeTheClosures() async throws {
        let delegate = Delegate()
        let member = fixture.plain("a")
        member.delegate = delegate
        let batch = BatchRequest([member])
        batch.delegate = delegate
        batch.observe { event, _ in delegate.lines.append("\(event)") }
        await withCheckedContinuation { continuation in
            batch.start { _ in
                delegate.lines.append("closure")
                Task { continuation.resume() }
            }
        }
        let common = ["willStart", "a finished", "willStop", "0 finished"]
        #expect(delegate.lines == common + ["closure", "didStop"])
        delegate.lines = []
        try await batch.send()
        #expect(delegate.lines == common + ["didStop"])
    }

    @Test func delegateIsCalledForEveryFormOfStartAndForNestedComposites() async throws {
        let delegate = Delegate()
        let inner = ChainRequest { fixture.plain("bad") }
        let chain = ChainRequest { inner }
        (inner.tag, chain.tag) = (1, 2)
        (inner.delegate, chain.delegate) = (delegate, delegate)
        let lines = ["1 failed unacceptableStatus", "2 failed unacceptableStatus"]
        _ = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(delegate.lines == lines)
        _ = await chain.ended()
        #expect(delegate.lines == lines + lines)
        weak var released: Delegate?
        do {
            let other = Delegate()
            released = other
            chain.delegate = other
        }
        #expect(released == nil)
    }

    @Test func delegateIsCalledForARefusalBeforeTheRunButNotDuringIt() async throws {
        let delegate = Delegate()
        let batch = BatchRequest([fixture.plain("a")], policy: .quorum(2))
        batch.delegate = delegate
        _ = await #expect(throws: RequestError.self) { try await batch.send() }
        _ = await batch.ended()
        #expect(
            delegate.lines == ["0 failed invalidConfiguration", "0 failed invalidConfiguration"])
        delegate.lines = []
        let gate = Gate()
        fixture.transport.respond { _ in ScriptedResponse.json("{}").held(by: gate) }
        let running = BatchRequest([fixture.plain("a")])
        running.delegate = delegate
        let work = Task { try await running.send() }
        try await gate.reached()
        _ = await #expect(throws: RequestError.self) { try await running.send() }
        _ = await running.ended()
        #expect(delegate.lines.isEmpty)
        gate.open()
        _ = try await work.value
        #expect(delegate.lines == ["0 finished"])
    }
}
