import Dispatch
import Errand
import ErrandTesting
import TestSupport
import Testing

@Suite(.limited) @MainActor struct LeakTests {
    @Test func requestAndAgentAreReleasedAfterTheEnd() async {
        for response in [ScriptedResponse.json("{}"), .json("{}", status: .internalServerError)] {
            weak var weakRequest: Plain?
            weak var weakCaptured: CallbackLog?
            weak var weakAgent: RequestAgent?
            do {
                let fixture = AgentFixture()
                fixture.transport.on(.get, "/x", response)
                let request = fixture.with(Plain("x"))
                let captured = CallbackLog()
                weakRequest = request
                weakCaptured = captured
                weakAgent = fixture.agent
                await withCheckedContinuation { continuation in
                    request.attach { request in captured.lines.append(request.url.description) }
                    request.start { request in
                        captured.lines.append(request.url.description)
                        continuation.resume()
                    } failure: { request, _ in
                        captured.lines.append(request.url.description)
                        continuation.resume()
                    }
                }
                try? await fixture.transport.untilIdle()
            }
            // The task that made the callback ends after it: yield until it has.
            for _ in 0..<1000 where weakRequest != nil || weakAgent != nil { await Task.yield() }
            #expect(weakRequest == nil)
            #expect(weakCaptured == nil)
            #expect(weakAgent == nil)
        }
    }

    /// Gets the stored response first.
    private final class StoredFirst: BaseRequest {
        override var url: EndpointURL { "x" }
        override var cacheSeconds: Int { 60 }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.cache.policy = .cacheThenLoad
        }
    }

    @Test(arguments: [true, false], [true, false])
    func requestWithAStoredResponseFirstIsReleased(hasStored: Bool, onQueue: Bool) async throws {
        weak var weakRequest: StoredFirst?
        weak var weakTask: RequestTask?
        weak var weakAgent: RequestAgent?
        do {
            let fixture = AgentFixture()
            fixture.transport.on(.get, "/x", .json("1"), .json("2"))
            if hasStored {
                _ = try await fixture.with(StoredFirst()).send()
                await fixture.agent.flushCache()
            }
            // The network's response comes after the receiver of the stored one was set.
            let gate = Gate()
            fixture.transport.on(.get, "/x", ScriptedResponse.json("2").held(by: gate))
            let request = fixture.with(StoredFirst())
            weakRequest = request
            weakAgent = fixture.agent
            await withCheckedContinuation { continuation in
                if onQueue {
                    // Refused, because a queue gets one end.
                    nonisolated(unsafe) let request = request
                    weakTask = StoredFirst.start(request, queue: .global()) { _ in
                    } failure: { _, _ in
                        continuation.resume()
                    }
                } else {
                    weakTask = request.start { request in
                        if request.response?.source == .network { continuation.resume() }
                    } failure: { _, error in
                        Issue.record("\(error)")
                        continuation.resume()
                    }
                }
                gate.open()
            }
            try await fixture.transport.untilIdle()
        }
        for _ in 0..<1000 where weakTask != nil || weakAgent != nil { await Task.yield() }
        #expect(weakRequest == nil)
        #expect(weakTask == nil)
        #expect(weakAgent == nil)
    }

    enum Ending: CaseIterable {
        case cancelled, cancelledAtOnce, suspended, joined, batch, chain, owned, observed, shutDown
    }

    /// Joins an identical request.
    private final class Joining: BaseRequest {
        override var url: EndpointURL { "x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.sending.duplicates = .join
        }
    }

    /// An accessory that holds an object of its user.
    private final class LineAccessory: RequestAccessory {
        let log: CallbackLog
        init(_ log: CallbackLog) { self.log = log }
        func notify(_ event: RequestUnit.LifecycleEvent, of unit: RequestUnit) {
            log.lines.append("accessory")
        }
    }

    /// The request, its captured objects, its task and the agent are released, however the request ends.
    @Test(arguments: Ending.allCases) func requestTaskAndAgentAreReleased(ending: Ending) async {
        weak var weakRequest: BaseRequest?
        weak var weakCaptured: CallbackLog?
        weak var weakAgent: RequestAgent?
        weak var weakTask: RequestTask?
        weak var weakAccessory: LineAccessory?
        do {
            let fixture = AgentFixture()
            let gate = Gate()
            fixture.transport.on(nil, nil, ScriptedResponse.json("{}").held(by: gate))
            let request: BaseRequest = ending == .joined ? Joining() : Plain("x")
            request.assignedAgent = fixture.agent
            let captured = CallbackLog()
            let accessory = LineAccessory(captured)
            request.accessories = [accessory]
            request.onProgress { _, _ in captured.lines.append("progress") }
            weakRequest = request
            weakCaptured = captured
            weakAgent = fixture.agent
            weakAccessory = accessory
            await withCheckedContinuation { continuation in
                weakTask = run(ending, request, captured, fixture, gate) { continuation.resume() }
            }
            #expect(captured.lines.contains("end"))
            if ending == .joined {
                // One transfer served both requests.
                #expect(captured.lines.contains("follower"))
                #expect(fixture.transport.requestCount == 1)
            }
            await fixture.agent.shutdown()
            try? await fixture.transport.untilIdle()
        }
        for _ in 0..<5000
        where weakRequest != nil || weakAgent != nil || weakTask != nil || weakCaptured != nil {
            await Task.yield()
        }
        #expect(weakRequest == nil && weakCaptured == nil && weakAccessory == nil)
        #expect(weakAgent == nil && weakTask == nil)
    }

    private func run(
        _ ending: Ending, _ request: BaseRequest, _ captured: CallbackLog, _ fixture: AgentFixture,
        _ gate: Gate,
        done: @escaping () -> Void
    ) -> RequestTask? {
        let end = {
            captured.lines.append("end")
            done()
        }
        switch ending {
        case .joined: return runJoined(request, captured, fixture, gate, done: end)
        case .batch:
            BatchRequest([request]).start { _ in
                end()
            } failure: { _, _ in
                end()
            }
            gate.open()
            return nil
        case .chain:
            let chain = ChainRequest()
            chain.add(request) { _, _ in captured.lines.append("step") }
            chain.start { _ in
                end()
            } failure: { _, _ in
                end()
            }
            gate.open()
            return nil
        default: break
        }
        let owner = RequestOwner()
        let task = request.start(owner: ending == .owned ? owner : nil) { _ in
            end()
        } failure: { _, _ in
            end()
        }
        switch ending {
        case .cancelled:
            Task {
                _ = try? await fixture.transport.nextRequest()
                task.cancel()
            }
        case .cancelledAtOnce: task.cancel()
        case .suspended:
            task.suspend()
            gate.open()
            task.cancel()
        case .observed:
            task.onProgress { _ in _ = task.phase }
            Task { for await _ in task.progress {} }
            gate.open()
        case .shutDown: Task { await fixture.agent.shutdown(draining: false) }
        default: gate.open()
        }
        return task
    }

    /// Starts the request and another one that joins its transfer; `done` is called after the end of both.
    private func runJoined(
        _ request: BaseRequest, _ captured: CallbackLog, _ fixture: AgentFixture, _ gate: Gate,
        done: @escaping () -> Void
    ) -> RequestTask {
        var ends = 0
        let end = {
            ends += 1
            if ends == 2 { done() }
        }
        let task = request.start { _ in
            end()
        } failure: { _, _ in
            end()
        }
        fixture.with(Joining()).start { _ in
            captured.lines.append("follower")
            end()
        } failure: { _, _ in
            end()
        }
        Task {
            // Until the second one has joined, or has started a transfer of its own.
            try await fixture.events.until { events in
                events.contains { $0.isJoined } || events.count { $0.isTransferStart } == 2
            }
            gate.open()
        }
        return task
    }

    @Test func weakAccessoryDoesNotRetainItsTarget() {
        let request = Plain("x")
        weak var weakLog: CallbackLog?
        do {
            let log = CallbackLog()
            weakLog = log
            request.observe(weakly: log)
        }
        #expect(weakLog == nil)
    }
}
