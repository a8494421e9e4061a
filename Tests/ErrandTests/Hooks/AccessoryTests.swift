import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import Errand

@Suite(.limited) @MainActor struct AccessoryTests {
    @Test func closureAccessoryReceivesEveryLifecycleEvent() async {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        var events: [RequestUnit.LifecycleEvent] = []
        let request = fixture.with(Plain("x"))
        await withCheckedContinuation { continuation in
            request.observe { event, _ in
                events.append(event)
                if event == .didStop { continuation.resume() }
            }
            let task = request.start()
            task.suspend()
            task.resume()
            task.cancel()
        }
        #expect(events == RequestUnit.LifecycleEvent.allCases)
    }

    @Test func accessoryWithOneMethodReceivesEventsThroughWeakAccessories() async throws {
        let recorders = (0..<3).map { _ in LifecycleRecorder() }
        let fixture = AgentFixture { $0.observe(weakly: recorders[2]) }
        fixture.transport.respond { _ in .json("{}") }
        let request = fixture.with(Plain("x"))
        request.accessories = [recorders[0]]
        request.observe(weakly: recorders[1])
        try await request.send()
        for recorder in recorders {
            #expect(recorder.lines == ["x willStart", "x willStop", "x didStop"])
        }
    }

    @Test func configurationAccessoriesReceiveEventsOfAllRequests() async throws {
        let recorder = LifecycleRecorder()
        let fixture = AgentFixture { $0.accessories = [recorder] }
        fixture.transport.on(nil, nil, .json("{}"))
        #expect(fixture.agent.configuration.accessories.count == 1)
        try await fixture.with(Plain("a")).send()
        try await BatchRequest([fixture.with(Plain("b"))]).send()
        let expected = [
            "a willStart", "a willStop", "a didStop", "BatchRequest willStart", "b willStart",
            "b willStop", "b didStop", "BatchRequest willStop", "BatchRequest didStop",
        ]
        #expect(recorder.lines == expected)
        fixture.agent.configuration.accessories = []
        try await fixture.with(Plain("c")).send()
        #expect(recorder.lines == expected)
    }

    @Test func configurationAccessoriesAreCalledBeforeTheRequestsOwn() async throws {
        let recorder = LifecycleRecorder()
        let fixture = AgentFixture { $0.accessories = [recorder] }
        fixture.transport.on(nil, nil, .json("{}"))
        let request = fixture.with(Plain("a"))
        var seen: [[String]] = []
        request.observe { _, _ in seen.append(recorder.lines) }
        try await request.send()
        #expect(
            seen == [
                ["a willStart"], ["a willStart", "a willStop"],
                ["a willStart", "a willStop", "a didStop"],
            ])
    }

    @Test func cancellingAnAwaitedRequestReportsWillCancelBeforeWillStop() async {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        let request = fixture.with(Plain("x"))
        var events: [RequestUnit.LifecycleEvent] = []
        request.observe { event, _ in events.append(event) }
        let work = Task { try await request.send() }
        _ = try? await fixture.transport.nextRequest()
        work.cancel()
        _ = await work.result
        #expect(events == [.willStart, .willCancel, .willStop, .didStop])
    }

    @Test func cancelRacingWithCompletionIsReportedOnce() async throws {
        // The cancel call blocks in the `cancelled` event, before the accessories, until the request has ended.
        let gate = Gate()
        let blocker = CancellationBlocker(at: gate)
        let fixture = AgentFixture { $0.eventListeners.append(blocker) }
        fixture.transport.on(nil, nil, ScriptedResponse.json("{}").held(by: gate))
        let request = fixture.with(Plain("x"))
        var events: [RequestUnit.LifecycleEvent] = []
        await withCheckedContinuation { continuation in
            request.observe { event, _ in
                events.append(event)
                if event == .didStop { continuation.resume() }
            }
            let task = request.start()
            Task {
                try await gate.reached()
                DispatchQueue.global().async {
                    task.cancel()
                    blocker.cancelReturned.signal()
                }
            }
        }
        blocker.proceed.signal()
        await blocker.untilCancelReturned()
        // A late `willCancel` would arrive on the main actor: let pending main-actor work run.
        await Task { @MainActor in }.value
        #expect(events == [.willStart, .willCancel, .willStop, .didStop])
    }

    @Test func accessoryRelayReportsWhetherItForwardedWillCancel() {
        let request = Plain("x")
        var events: [RequestUnit.LifecycleEvent] = []
        request.observe { event, _ in events.append(event) }
        let closed = AccessoryRelay(of: request, by: nil)
        closed.take(.willSuspend)
        #expect(!closed.close())
        // The relay is closed: the event is dropped.
        closed.take(.willCancel)
        #expect(!closed.close() && events == [.willSuspend])
        let relay = AccessoryRelay(of: request, by: nil)
        relay.take(.willCancel)
        #expect(relay.close() && events == [.willSuspend, .willCancel])
    }

    /// Blocks the cancelling thread in the `cancelled` event and lets the response through meanwhile.
    private final class CancellationBlocker: RequestEventListener {
        let gate: Gate
        let proceed = DispatchSemaphore(value: 0)
        let cancelReturned = DispatchSemaphore(value: 0)

        init(at gate: Gate) { self.gate = gate }

        func handle(_ event: RequestEvent) {
            guard case .cancelled = event.kind else { return }
            gate.open()
            proceed.wait()
        }

        func untilCancelReturned() async {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { [cancelReturned] in
                    cancelReturned.wait()
                    continuation.resume()
                }
            }
        }
    }

    @Test func requestDescriptionContainsNoSecrets() {
        final class Login: BaseRequest {
            override var url: EndpointURL { "https://user:pw@a.example/login?token=secret#x" }
            override var method: HTTPMethod { .post }
            override var arguments: Arguments? { ["name": "a", "password": "secret"] }
        }
        let login = Login()
        login.tag = 7
        #expect("\(login)" == "Login POST https://…@a.example/login (name, password) #7")
        #expect("\(Plain("users"))" == "Plain GET users")
    }

    @Test func untilEndedReturnsAfterCancellation() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        let task = fixture.agent.start(Plain("x").makeDescription())
        _ = try await fixture.transport.nextRequest()
        task.cancel()
        await task.untilEnded()
        #expect(task.phase == .ended && fixture.agent.activeTasks.isEmpty)
        await task.untilEnded()
    }

    @Test func batchAccessoriesReceiveSuspendResumeAndCancelOnce() async {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .silence)
        let log = CompositeLog()
        let batch = BatchRequest([fixture.with(Plain("x"))])
        batch.accessories = [log]
        await withCheckedContinuation { continuation in
            log.didStop = { continuation.resume() }
            let task = batch.start()
            task.suspend()
            task.suspend()
            task.resume()
            task.resume()
            task.cancel()
            task.cancel()
        }
        #expect(
            log.lines == [
                "willStart", "willSuspend", "didResume", "willCancel", "willStop", "didStop",
            ])
    }

    @Test(arguments: [true, false]) func awaitedBatchReportsWillCancelOnlyWhenCancelled(
        isCancelled: Bool
    ) async throws {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, isCancelled ? .silence : .json("{}"))
        let transport = fixture.transport
        let waiting = Task { () -> [String] in
            let log = CompositeLog()
            let batch = BatchRequest([fixture.with(Plain("x"))])
            batch.accessories = [log]
            _ = try? await batch.send()
            return log.lines
        }
        if isCancelled {
            _ = try await transport.nextRequest()
            waiting.cancel()
        }
        let expected = ["willStart", "willCancel", "willStop", "didStop"]
        #expect(await waiting.value == expected.filter { isCancelled || $0 != "willCancel" })
    }

    /// Records the callbacks of a batch or chain.
    private final class CompositeLog: RequestAccessory {
        var didStop: () -> Void = {}
        var lines: [String] = []

        func compositeWillStart(_: CompositeRequest) { lines.append("willStart") }
        func compositeWillSuspend(_: CompositeRequest) { lines.append("willSuspend") }
        func compositeDidResume(_: CompositeRequest) { lines.append("didResume") }
        func compositeWillCancel(_: CompositeRequest) { lines.append("willCancel") }
        func compositeWillStop(_: CompositeRequest) { lines.append("willStop") }
        func compositeDidStop(_: CompositeRequest) {
            lines.append("didStop")
            didStop()
        }
    }
}
