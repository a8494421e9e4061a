import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(5))) @MainActor struct AccessoryTests {
    /// Companions of all requests of an agent.
    private final class Counter: RequestAccessory, Sendable {
        let lines = Mutex<[String]>([])

        func requestWillStart(_ request: BaseRequest) { note("start \(request.url)") }
        func requestDidStop(_ request: BaseRequest) { note("stop \(request.url)") }
        private func note(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test func closuresHearOfEveryMoment() async {
        let world = World()
        world.transport.on(nil, nil, .silence)
        var moments: [ClosureAccessory.Moment] = []
        let request = world.with(Plain("x"))
        await withCheckedContinuation { continuation in
            request.accessories = [
                ClosureAccessory { moment, _ in
                    moments.append(moment)
                    if moment == .didStop { continuation.resume() }
                }
            ]
            let task = request.start()
            task.suspend()
            task.resume()
            task.cancel()
        }
        #expect(moments == ClosureAccessory.Moment.allCases)
    }

    @Test func oneMethodHearsOfEveryMomentAlsoWhenHeldByOthers() async throws {
        final class Recorder: MomentAccessory, Sendable {
            let moments = Mutex<[ClosureAccessory.Moment]>([])
            func request(_ request: BaseRequest, reached moment: ClosureAccessory.Moment) {
                moments.withLock { $0.append(moment) }
            }
        }
        let world = World()
        world.transport.answer { _ in .json("{}") }
        let recorders = (0..<4).map { _ in Recorder() }
        let request = world.with(Plain("x"))
        request.accessories = [
            recorders[0], WeakAccessory(recorders[1]),
            FilteredAccessory(recorders[2]) { _ in true },
            AgentAccessory(weak: recorders[3]),
        ]
        try await request.send()
        for recorder in recorders {
            #expect(recorder.moments.withLock { $0 } == [.willStart, .willStop, .didStop])
        }
    }

    @Test func anAgentsAccessoriesAccompanyAllItsRequests() async throws {
        let counter = Counter()
        let world = World { $0.accessories = [counter] }
        world.transport.on(nil, nil, .json("{}"))
        #expect(world.agent.configuration.accessories.count == 1)
        try await world.with(Plain("a")).send()
        try await BatchRequest([world.with(Plain("b"))]).send()
        #expect(counter.lines.withLock { $0 } == ["start a", "stop a", "start b", "stop b"])
        world.agent.configuration.accessories = []
        try await world.with(Plain("c")).send()
        #expect(counter.lines.withLock { $0.count } == 4)
    }

    @Test func theAgentsComeBeforeTheRequestsOwn() async throws {
        let counter = Counter()
        let world = World { $0.accessories = [counter] }
        world.transport.on(nil, nil, .json("{}"))
        let request = world.with(Plain("a"))
        var seen: [[String]] = []
        request.accessories = [
            ClosureAccessory { _, _ in seen.append(counter.lines.withLock { $0 }) }
        ]
        try await request.send()
        #expect(seen == [["start a"], ["start a"], ["start a", "stop a"]])
    }

    @Test func whoAwaitsHearsOfACancellationJustBeforeTheEnd() async {
        let world = World()
        world.transport.on(nil, nil, .silence)
        let request = world.with(Plain("x"))
        var moments: [ClosureAccessory.Moment] = []
        request.accessories = [ClosureAccessory { moment, _ in moments.append(moment) }]
        let work = Task { try await request.send() }
        _ = try? await world.transport.nextRequest()
        work.cancel()
        _ = await work.result
        #expect(moments == [.willStart, .willCancel, .willStop, .didStop])
    }

    @Test func aCancellationThatIsOvertakenByTheEndIsToldOnce() async throws {
        // Held up between the task that is told to stop and the accessories, until the request has ended.
        let gate = Gate()
        let holdUp = HoldUp(at: gate)
        let world = World { $0.eventListeners.append(holdUp) }
        world.transport.on(nil, nil, ScriptedAnswer.json("{}").held(by: gate))
        let request = world.with(Plain("x"))
        var moments: [ClosureAccessory.Moment] = []
        await withCheckedContinuation { continuation in
            request.accessories = [
                ClosureAccessory { moment, _ in
                    moments.append(moment)
                    if moment == .didStop { continuation.resume() }
                }
            ]
            let task = request.start()
            Task {
                try await gate.reached()
                DispatchQueue.global().async {
                    task.cancel()
                    holdUp.isOver.signal()
                }
            }
        }
        holdUp.goOn.signal()
        await holdUp.returned()
        // Whoever comes too late comes on the main actor.
        await Task { @MainActor in }.value
        #expect(moments == [.willStart, .willCancel, .willStop, .didStop])
    }

    @Test func aRelayKnowsWhatItTold() {
        let request = Plain("x")
        var moments: [ClosureAccessory.Moment] = []
        request.accessories = [ClosureAccessory { moment, _ in moments.append(moment) }]
        let deaf = AccessoryRelay(request: request)
        deaf.take(.willSuspend)
        #expect(!deaf.close())
        // Too late: the end has told it.
        deaf.take(.willCancel)
        #expect(!deaf.close() && moments == [.willSuspend])
        let relay = AccessoryRelay(request: request)
        relay.take(.willCancel)
        #expect(relay.close() && moments == [.willSuspend, .willCancel])
    }

    /// Keeps whoever cancels a request waiting in the event of it, and lets the request's answer in meanwhile.
    private final class HoldUp: RequestEventListener {
        let gate: Gate
        let goOn = DispatchSemaphore(value: 0)
        let isOver = DispatchSemaphore(value: 0)

        init(at gate: Gate) { self.gate = gate }

        func handle(_ event: RequestEvent) {
            guard case .cancelled = event.kind else { return }
            gate.open()
            goOn.wait()
        }

        func returned() async {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { [isOver] in
                    isOver.wait()
                    continuation.resume()
                }
            }
        }
    }

    @Test func aRequestShowsNothingSecret() {
        final class Login: BaseRequest {
            override var url: String { "https://user:pw@a.example/login?token=secret#x" }
            override var method: HTTPMethod { .post }
            override var arguments: Arguments? { ["name": "a", "password": "secret"] }
        }
        let login = Login()
        login.tag = 7
        #expect("\(login)" == "Login POST https://…@a.example/login (name, password) #7")
        #expect("\(Plain("users"))" == "Plain GET users")
    }

    @Test func cancellingCanBeWaitedFor() async throws {
        let world = World()
        world.transport.on(nil, nil, .silence)
        let task = world.agent.start(Plain("x").describe())
        _ = try await world.transport.nextRequest()
        task.cancel()
        await task.untilEnded()
        #expect(task.phase == .ended && world.agent.activeTasks.isEmpty)
        await task.untilEnded()
    }

    @Test func aBatchesAccessoriesHearOfSuspendResumeAndCancel() async {
        let world = World()
        world.transport.on(nil, nil, .silence)
        let log = CompositeLog()
        let batch = BatchRequest([world.with(Plain("x"))])
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

    @Test(arguments: [true, false]) func anAwaitedBatchesAccessoriesHearOfItsCancelling(
        isCancelled: Bool
    ) async throws {
        let world = World()
        world.transport.on(nil, nil, isCancelled ? .silence : .json("{}"))
        let transport = world.transport
        let waiting = Task { () -> [String] in
            let log = CompositeLog()
            let batch = BatchRequest([world.with(Plain("x"))])
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

    /// Notes what is told of the whole.
    private final class CompositeLog: RequestAccessory {
        var didStop: () -> Void = {}
        var lines: [String] = []

        func compositeWillStart(_: any CompositeRequest) { lines.append("willStart") }
        func compositeWillSuspend(_: any CompositeRequest) { lines.append("willSuspend") }
        func compositeDidResume(_: any CompositeRequest) { lines.append("didResume") }
        func compositeWillCancel(_: any CompositeRequest) { lines.append("willCancel") }
        func compositeWillStop(_: any CompositeRequest) { lines.append("willStop") }
        func compositeDidStop(_: any CompositeRequest) {
            lines.append("didStop")
            didStop()
        }
    }
}
