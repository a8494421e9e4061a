import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// The task of a run in progress, for every way of starting a request object.
@Suite(.limited) @MainActor struct RunningTaskTests {
    private let fixture = AgentFixture()
    private let gate = Gate()

    init() {
        fixture.transport.on(nil, nil, ScriptedResponse.json("{}").held(by: gate))
    }

    /// Runs a request on the main actor and reads its task there while it waits for its response.
    private func inspect(
        _ request: BaseRequest, _ run: @escaping @MainActor () async throws -> Void
    ) async throws -> RequestTask {
        #expect(request.task == nil)
        let work = Task { try await run() }
        try await gate.reached()
        let task = try #require(request.task)
        #expect(fixture.agent.activeTasks.map(\.id) == [task.id])
        gate.open()
        try await work.value
        #expect(request.task == nil && task.phase == .ended)
        return task
    }

    @Test func sentRequestHasATaskUntilItsEnd() async throws {
        let request = fixture.with(Plain("x"))
        _ = try await inspect(request) { try await request.send() }
    }

    @Test func awaitedValueHasATaskUntilItsEnd() async throws {
        let request = InlineRequest("x", agent: fixture.agent).decoding(using: .empty)
        _ = try await inspect(request) { try await request.value() }
    }

    @Test func memberOfABatchHasATaskUntilItsEnd() async throws {
        let request = Plain("x")
        let batch = BatchRequest([request])
        _ = try await inspect(request) {
            #expect(batch.task == nil)
            try await batch.send(on: fixture.agent) { #expect(batch.task === $0) }
            #expect(batch.task == nil)
        }
    }

    @Test func memberOfAChainHasATaskUntilItsEnd() async throws {
        let request = Plain("x")
        let chain = ChainRequest()
        chain.add(request)
        _ = try await inspect(request) {
            try await chain.send(on: fixture.agent) { #expect(chain.task === $0) }
            #expect(chain.task == nil)
        }
    }

    @Test func startedRequestHasTheTaskThatStartReturns() async throws {
        let request = Plain("x")
        var inHook: RequestTask?
        let task = await withCheckedContinuation { continuation in
            var task: RequestTask?
            task = request.start(on: fixture.agent) { request in
                inHook = request.task
                continuation.resume(returning: task)
            }
            #expect(request.task === task)
            gate.open()
        }
        #expect(task?.phase == .ended && request.task == nil && inHook == nil)
    }

    @Test func onStartReceivesTheTaskBeforeAnythingIsSent() async throws {
        var seen: [RequestTask.Phase] = []
        gate.open()
        let request = Plain("x")
        try await request.send(on: fixture.agent) { task in
            #expect(request.task === task)
            seen.append(task.phase)
        }
        try await fixture.with(request).send { seen.append($0.phase) }
        let typed = InlineRequest("x", agent: fixture.agent).decoding(using: .empty)
        try await typed.value { seen.append($0.phase) }
        try await typed.value(on: fixture.agent) { seen.append($0.phase) }
        #expect(seen == Array(repeating: .described, count: 4))
        let error = await #expect(throws: RequestError.self) {
            try await request.send(on: fixture.agent) { $0.cancel() }
        }
        #expect(error?.code == .cancelled && fixture.transport.requests.count == 4)
    }

    @Test func awaitedRequestCanBeSuspendedAndObserved() async throws {
        let request = Plain("x")
        let work = Task { try await request.send(on: fixture.agent) }
        try await gate.reached()
        let task = try #require(request.task)
        task.suspend()
        #expect(task.phase == .suspended)
        let events = task.events()
        gate.open()
        task.resume()
        _ = try await work.value
        var names: [String] = []
        for await event in events { if case .ended = event.kind { names.append("ended") } }
        #expect(names == ["ended"])
    }

    @Test func requestStartedAgainInItsHookHasTheNewTask() async throws {
        gate.open()
        let request = Plain("x")
        var first: RequestTask?
        var second: RequestTask?
        await withCheckedContinuation { continuation in
            first = request.start(on: fixture.agent) { request in
                second = request.start(on: self.fixture.agent) { _ in continuation.resume() }
                #expect(request.task === second)
            }
        }
        #expect(first?.id != second?.id && request.task == nil)
    }

    /// The end of an earlier run does not remove the task of a later one.
    @Test func laterOfTwoRunsKeepsItsTask() async throws {
        let late = Gate()
        fixture.transport.on(.get, "/late", ScriptedResponse.json("{}").held(by: late))
        let request = Plain("late")
        fixture.transport.on(
            .get, "/late", .json("{}"), ScriptedResponse.json("{}").held(by: late))
        var first: RequestTask?
        await withCheckedContinuation { continuation in
            first = request.start(on: fixture.agent) { _ in continuation.resume() }
            Task {
                _ = try await fixture.transport.nextRequest()
            }
        }
        #expect(first?.phase == .ended)
        let running = request.start(on: fixture.agent)
        try await late.reached()
        let cancelled = request.start(on: fixture.agent)
        #expect(request.task === cancelled)
        running.cancel()
        await running.untilEnded()
        await Task { @MainActor in }.value
        #expect(request.task === cancelled)
        late.open()
        await cancelled.untilEnded()
    }
}
