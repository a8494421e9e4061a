import Errand
import ErrandTesting
import Synchronization
import TestSupport
import Testing

/// Each form of start of each kind of composite delivers one end with the documented type.
@Suite(.limited) @MainActor struct CompositeFormTests {
    /// Members have no agent of their own, so that only an agent at the call can send them.
    private let fixture = CompositeFixture()

    private typealias Users = BatchRequest.Typed<[User], [Result<User, RequestError>]>

    private func users(_ ids: Int..., policy: BatchRequest.Policy = .failFast) -> Users {
        BatchRequest.Typed(ids.map { GetUser(id: $0) }, policy: policy)
    }

    private func chain(_ id: Int) -> ChainRequest.Typed<User> {
        ChainRequest.Typed { chain in
            chain.add(GetUser(id: 1))
            return chain.add(GetUser(id: id))
        }
    }

    /// The value that the closure passes to its argument; another call ends the test process.
    private func end<Value: Sendable>(
        _ start: (@escaping @Sendable (Value) -> Void) -> Void
    ) async -> Value {
        await withCheckedContinuation { continuation in
            start { continuation.resume(returning: $0) }
        }
    }

    // MARK: - Untyped

    @Test func batchCompletionGetsTheResultsOrTheError() async throws {
        let good = await end { done in
            fixture.agent.start(BatchRequest([GetUser(id: 1)])) { batch, result in
                done(result.map { _ in batch.results.count })
            }
        }
        #expect(try good.get() == 1)
        let batch = BatchRequest([fixture.user(0)])
        let bad = await end { done in batch.start { _, result in done(result.map(\.count)) } }
        let error = #expect(throws: RequestError.self) { try bad.get() }
        #expect(error?.code == .unacceptableStatus)
    }

    @Test func chainCompletionGetsTheResponsesOrTheError() async throws {
        let chain = ChainRequest { fixture.user(1) }
        let good = await end { done in chain.start { _, result in done(result.map(\.count)) } }
        #expect(try good.get() == 1)
        let bad = await end { done in
            fixture.agent.start(ChainRequest { GetUser(id: 0) }) { _, result in
                done(result.map(\.count))
            }
        }
        let error = #expect(throws: RequestError.self) { try bad.get() }
        #expect(error?.code == .unacceptableStatus)
    }

    @Test func refusedStartCallsTheCompletion() async {
        let batch = BatchRequest([fixture.user(1)], policy: .quorum(2))
        let result = await end { done in batch.start { _, result in done(result.map(\.count)) } }
        let error = #expect(throws: RequestError.self) { try result.get() }
        #expect(error?.code == .invalidConfiguration)
    }

    // MARK: - Typed batches

    @Test func typedBatchRunsOnTheAgentAtTheCall() async throws {
        #expect(try await fixture.agent.values(users(1, 2)).map(\.nick) == ["1", "2"])
        let results = try await fixture.agent.results(users(1, 0, policy: .collectAll))
        #expect(results.map { (try? $0.get())?.nick } == ["1", nil])
        var total = 0
        _ = try await fixture.agent.values(users(1)) { total = $0.progress.total }
        #expect(total == 1)
    }

    @Test func typedBatchClosuresGetValuesOrResults() async throws {
        let values = await end { done in
            fixture.agent.start(users(1, 2), values: { done($0.map(\.nick)) })
        }
        #expect(values == ["1", "2"])
        let failure = await end { done in
            fixture.agent.start(users(0), values: { _ in done(nil) }, failure: { done($0.code) })
        }
        #expect(failure == .unacceptableStatus)
        let results = await end { done in
            fixture.agent.start(
                users(1, 0, policy: .collectAll),
                results: { done($0.map { (try? $0.get())?.nick }) })
        }
        #expect(results == ["1", nil])
        let own = BatchRequest.Typed([fixture.user(1), fixture.user(0)], policy: .collectAll)
        let more = await end { done in
            own.start(results: { done($0.map { (try? $0.get())?.nick }) })
        }
        #expect(more == ["1", nil])
        let refused = await end { done in
            users(1, policy: .quorum(2)).start(
                results: { _ in done(nil) }, failure: { done($0.code) })
        }
        #expect(refused == .invalidConfiguration)
    }

    @Test func typedBatchCompletionGetsTheValuesOrTheError() async throws {
        let good = await end { done in
            fixture.agent.start(users(1, 2)) { batch, result in
                done(result.map { ($0 + (batch.output ?? [])).map(\.nick) })
            }
        }
        #expect(try good.get() == ["1", "2", "1", "2"])
        let own = BatchRequest.Typed([fixture.user(1), fixture.user(0)], policy: .collectAll)
        let bad = await end { done in own.start { _, result in done(result.map(\.count)) } }
        let error = #expect(throws: RequestError.self) { try bad.get() }
        #expect(error?.code == .unacceptableStatus)
        // A closure that names the type gets the untyped results.
        let untyped = await end { done in
            own.start {
                (_: BatchRequest, result: Result<[Result<Response, RequestError>], RequestError>) in
                done(result.map { $0.map { (try? $0.get()) != nil } })
            }
        }
        #expect(try untyped.get() == [true, false])
    }

    // MARK: - Typed chains

    @Test func typedChainRunsOnTheAgentAtTheCall() async throws {
        var total = 0
        #expect(try await fixture.agent.value(chain(2)) { total = $0.progress.total }.nick == "2")
        #expect(total == 2)
        let untyped = ChainRequest()
        let step = untyped.add(GetUser(id: 3))
        untyped.add(GetUser(id: 4))
        #expect(try await fixture.agent.value(of: step, in: untyped).nick == "3")
    }

    @Test func typedChainClosuresGetTheValue() async throws {
        let value = await end { done in
            fixture.agent.start(chain(2), value: { done($0.nick) })
        }
        #expect(value == "2")
        let failure = await end { done in
            fixture.agent.start(chain(0), value: { _ in done(nil) }, failure: { done($0.code) })
        }
        #expect(failure == .unacceptableStatus)
        let own = ChainRequest.Typed { $0.add(fixture.user(5)) }
        #expect(await end { done in own.start(value: { done($0.nick) }) } == "5")
        let completion = await end { done in
            own.start { chain, result in done(result.map { $0.nick + (chain.output?.nick ?? "") }) }
        }
        #expect(try completion.get() == "55")
        let atCall = await end { done in
            fixture.agent.start(chain(6)) { _, result in done(result.map(\.nick)) }
        }
        #expect(try atCall.get() == "6")
    }

    // MARK: - Retries

    @Test func retryRunsOnTheAgentAtTheCall() async throws {
        let batch = BatchRequest(
            [GetUser(id: 1), GetUser(id: 0)], policy: .collectAll, maxConcurrent: 1)
        try await fixture.agent.send(batch)
        #expect(try await fixture.agent.retryFailed(batch).count == 2)
        #expect(fixture.paths == ["/users?id=1", "/users?id=0", "/users?id=0"])
        let count = await end { done in
            fixture.agent.retryFailed(batch) { _, result in done(result.map(\.count)) }
        }
        #expect(try count.get() == 2 && fixture.paths.count == 4)
        // The next start sends all members again.
        try await fixture.agent.send(batch)
        #expect(fixture.paths.count == 6)
    }

    @Test func retryOfATypedBatchGivesAllOutputs() async throws {
        let batch = users(1, 2, policy: .collectAll)
        let isDown = Mutex(true)
        fixture.transport.respond { _ in
            isDown.withLock { $0 } ? .json("{}", status: .notFound) : nil
        }
        _ = try await fixture.agent.results(batch)
        #expect(batch.output == nil)
        isDown.withLock { $0 = false }
        let result = await end { done in
            fixture.agent.retryFailed(batch) { _, result in done(result.map { $0.map(\.nick) }) }
        }
        #expect(try result.get() == ["1", "2"])
        let again = await end { done in
            batch.retryFailed { batch, result in done(result.map { _ in batch.output?.count }) }
        }
        #expect(try again.get() == 2 && fixture.paths.count == 4)
    }

    @Test func ownerEndsARetry() async throws {
        let batch = BatchRequest([fixture.plain("bad")], policy: .collectAll)
        try await batch.send()
        fixture.transport.respond { _ in .silence }
        var owner: RequestOwner? = RequestOwner()
        let result = await end { done in
            batch.retryFailed(owner: owner) { _, result in done(result.map(\.count)) }
            owner = nil
        }
        let error = #expect(throws: RequestError.self) { try result.get() }
        #expect(error?.code == .cancelled)
    }

    // MARK: - Delegates

    /// Records the ends of composites and requests.
    private final class Delegate: RequestDelegate {
        var lines: [String] = []
        func requestFinished(_ request: BaseRequest) { lines.append("\(request.url) finished") }
        func compositeFinished(_ composite: any CompositeRequest) {
            lines.append("\(composite.tag) finished")
        }
        func compositeFailed(_ composite: any CompositeRequest, _ error: RequestError) {
            lines.append("\(composite.tag) failed \(error.code)")
        }
    }

    @Test func delegateIsCalledAfterThoseOfTheMembersAndBeforeTheClosures() async throws {
        let delegate = Delegate()
        let member = fixture.plain("a")
        member.delegate = delegate
        let batch = BatchRequest([member])
        batch.delegate = delegate
        batch.accessories = [
            ClosureAccessory.ofComposites { event, _ in delegate.lines.append("\(event)") }
        ]
        await end { done in
            batch.start { _ in
                delegate.lines.append("closure")
                Task { done(()) }
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
        await end { done in chain.start { _, _ in done(()) } }
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
        await end { done in batch.start { _, _ in done(()) } }
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
        await end { done in running.start { _, _ in done(()) } }
        #expect(delegate.lines.isEmpty)
        gate.open()
        _ = try await work.value
        #expect(delegate.lines == ["0 finished"])
    }
}
