import Dispatch
import Errand
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Starting batches and chains: twice, off every actor, and with a deadline.
@Suite(.limited) struct CompositeStartTests {
    private let fixture = AgentFixture()

    init() {
        fixture.transport.on(.get, "/a", .json(#"{"n":1}"#))
        fixture.transport.on(.get, "/bad", .json("{}", status: .badRequest))
        fixture.transport.on(.get, "/slow", .silence)
    }

    // MARK: - A second start

    @Test @MainActor func secondStartOfARunningBatchFails() async throws {
        let batch = BatchRequest([Plain("slow")])
        let first = batch.start(on: fixture.agent)
        let closure = await withCheckedContinuation { continuation in
            batch.start(on: fixture.agent) { _ in
                continuation.resume(returning: RequestError?.none)
            } failure: { _, error in
                continuation.resume(returning: error)
            }
        }
        #expect(closure?.code == .batchFailed && closure?.stage == .build)
        let sent = await #expect(throws: RequestError.self) { try await batch.send() }
        #expect(sent?.code == .batchFailed && sent?.message.contains("in progress") == true)
        #expect(batch.task === first)
        _ = try await fixture.transport.nextRequest()
        #expect(fixture.transport.requests.count == 1)
        first.cancel()
    }

    @Test @MainActor func secondStartOfARunningChainFails() async throws {
        let chain = ChainRequest()
        chain.add(Plain("slow"))
        let first = chain.start(on: fixture.agent)
        let sent = await #expect(throws: RequestError.self) { try await chain.send() }
        #expect(sent?.code == .chainFailed && sent?.message.contains("in progress") == true)
        // As a member of another chain it is refused as well.
        let outer = ChainRequest()
        outer.add(chain)
        let member = await #expect(throws: RequestError.self) {
            try await outer.send(on: fixture.agent)
        }
        #expect(member?.code == .chainFailed && outer.task == nil)
        #expect(chain.task === first)
        _ = try await fixture.transport.nextRequest()
        #expect(fixture.transport.requests.count == 1)
        first.cancel()
    }

    @Test func compositesCanBeStartedAgainAfterTheirEnd() async throws {
        let batch = BatchRequest([Plain("a")])
        let chain = ChainRequest()
        chain.add(batch)
        for _ in 0..<2 {
            try await batch.send(on: fixture.agent)
            try await chain.send(on: fixture.agent)
        }
        #expect(fixture.transport.requests.count == 4)
    }

    @Test @MainActor func batchCanBeStartedAgainInItsClosure() async {
        let batch = BatchRequest([Plain("a")])
        let count = await withCheckedContinuation { continuation in
            batch.start(on: fixture.agent) { batch in
                batch.start(on: self.fixture.agent) {
                    continuation.resume(returning: $0.results.count)
                }
            }
        }
        #expect(count == 1 && fixture.transport.requests.count == 2)
    }

    // MARK: - Collecting all results

    @Test @MainActor func collectAllSucceedsWithClosuresAsWithSend() async throws {
        let batch = BatchRequest([Plain("bad"), Plain("a")], policy: .collectAll)
        let error = await withCheckedContinuation { continuation in
            batch.start(on: fixture.agent) { _ in
                continuation.resume(returning: RequestError?.none)
            } failure: { _, error in
                continuation.resume(returning: error)
            }
        }
        #expect(error == nil && batch.failedRequest === batch.requests[0])
        #expect(batch.results.map { (try? $0.get()) != nil } == [false, true])
        #expect(try await batch.send(on: fixture.agent).count == 2)
    }

    // MARK: - Off every actor

    @Test func batchStartsFromSynchronousCode() async throws {
        let queue = DispatchQueue(label: "batch")
        let events = Mutex<[String]>([])
        nonisolated(unsafe) let batch = BatchRequest([Plain("a"), Plain("a")])
        batch.observe { event, _ in
            if event != .willStart { dispatchPrecondition(condition: .onQueue(queue)) }
            events.withLock { $0.append("\(event)") }
        }
        let result = await withCheckedContinuation { done in
            BatchRequest.start(batch, on: fixture.agent, queue: queue) { batch in
                dispatchPrecondition(condition: .onQueue(queue))
                done.resume(returning: batch.result ?? .failure(.cancelled))
            } failure: { _, error in
                done.resume(returning: .failure(error))
            }
        }
        #expect(try result.get().map { try $0.get().json["n"].int } == [1, 1])
        #expect(events.withLock { $0 } == ["willStart", "willStop", "didStop"])
    }

    @Test func chainStartsFromSynchronousCode() async throws {
        let chain = ChainRequest()
        chain.add(fixture.with(Plain("a"))).then { [fixture] _ in fixture.with(Plain("a")) }
        let result = await ChainRequest.endedOnQueue(chain)
        #expect(try result.get().count == 2)
    }

    @Test func compositeStartedFromSynchronousCodeCanBeCancelled() async throws {
        let batch = BatchRequest([fixture.with(Plain("slow"))], policy: .collectAll)
        let result = await BatchRequest.endedOnQueue(batch) { task in
            Task {
                _ = try await fixture.transport.nextRequest()
                task.cancel()
            }
        }
        let error = #expect(throws: RequestError.self) { try result.get() }
        #expect(error?.code == .cancelled)
    }

    @Test func failureIsDeliveredOnTheQueue() async throws {
        let chain = ChainRequest()
        chain.add(Plain("bad"))
        let result = await ChainRequest.endedOnQueue(chain, on: fixture.agent)
        let error = #expect(throws: RequestError.self) { try result.get() }
        #expect(error?.code == .unacceptableStatus)
    }

    // MARK: - Deadlines

    @Test func deadlineEndsABatchAndItsMembers() async throws {
        let (agent, transport, clock) = (fixture.agent, fixture.transport, fixture.clock)
        let work = Task {
            let batch = BatchRequest([Plain("slow"), Plain("a")], policy: .collectAll)
            batch.deadline = .seconds(5)
            let error = await #expect(throws: RequestError.self) { try await batch.send(on: agent) }
            #expect(error?.code == .timedOut && error?.timeout == .total)
            #expect(error?.message.contains("5.0 seconds") == true)
            #expect(batch.requests[0].error?.code == .cancelled)
            #expect((try? batch.results[1].get()) != nil && batch.task == nil)
        }
        for _ in 0..<2 { _ = try await transport.nextRequest() }
        try await clock.untilSleeping()
        try await fixture.events.until { events in
            events.contains { if case .ended = $0.kind { true } else { false } }
        }
        clock.advance(by: .seconds(5))
        await work.value
        try await transport.untilIdle()
    }

    @Test func deadlineEndsAChainBeforeItsNextStep() async throws {
        let (agent, transport, clock) = (fixture.agent, fixture.transport, fixture.clock)
        let work = Task {
            let chain = ChainRequest()
            chain.deadline = .seconds(1)
            chain.add(Plain("a"))
            chain.add(BatchRequest([Plain("slow")]))
            chain.add(Plain("a"))
            chain.recover { _, _ in .proceed }
            return await #expect(throws: RequestError.self) { try await chain.send(on: agent) }
        }
        for _ in 0..<2 { _ = try await transport.nextRequest() }
        try await clock.untilSleeping()
        clock.advance(by: .seconds(1))
        #expect(await work.value?.code == .timedOut)
        #expect(transport.requests.count == 2)
    }

    @Test func deadlineThatIsNotReachedLeavesNoTimer() async throws {
        let batch = BatchRequest([Plain("a")])
        batch.deadline = .seconds(1)
        try await batch.send(on: fixture.agent)
        while fixture.clock.sleepers > 0 { await Task.yield() }
        fixture.clock.advance(by: .seconds(2))
        #expect(batch.results.count == 1)
    }

    @Test func deadlineOfZeroIsRefused() async throws {
        let chain = ChainRequest()
        chain.add(Plain("a"))
        chain.deadline = .zero
        let error = await #expect(throws: RequestError.self) {
            try await chain.send(on: fixture.agent)
        }
        #expect(error?.code == .invalidConfiguration && error?.stage == .build)
        #expect(fixture.transport.requests.isEmpty && chain.task == nil)
    }
}
