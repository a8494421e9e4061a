import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(5))) @MainActor struct LeakTests {
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
                    request.attach { request in captured.lines.append(request.url) }
                    request.start { request in
                        captured.lines.append(request.url)
                        continuation.resume()
                    } failure: { request, _ in
                        captured.lines.append(request.url)
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

    enum Ending: CaseIterable {
        case cancelled, cancelledAtOnce, suspended, joined, batch, chain, owned, observed, shutDown
    }

    /// The request, its captured objects, its task and the agent are released, however the request ends.
    @Test(arguments: Ending.allCases) func requestTaskAndAgentAreReleased(ending: Ending) async {
        weak var weakRequest: Plain?
        weak var weakCaptured: CallbackLog?
        weak var weakAgent: RequestAgent?
        weak var weakTask: RequestTask?
        weak var weakAccessory: ClosureAccessory?
        do {
            let fixture = AgentFixture()
            let gate = Gate()
            fixture.transport.on(nil, nil, ScriptedResponse.json("{}").held(by: gate))
            let request = fixture.with(Plain("x"))
            let captured = CallbackLog()
            let accessory = ClosureAccessory { _, _ in captured.lines.append("accessory") }
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
        _ ending: Ending, _ request: Plain, _ captured: CallbackLog, _ fixture: AgentFixture,
        _ gate: Gate,
        done: @escaping () -> Void
    ) -> RequestTask? {
        let end = {
            captured.lines.append("end")
            done()
        }
        switch ending {
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
        case .joined:
            let follower = fixture.with(Plain("x"))
            follower.start { _ in captured.lines.append("follower") }
            gate.open()
        case .observed:
            task.onProgress { _ in _ = task.phase }
            Task { for await _ in task.progress {} }
            gate.open()
        case .shutDown: Task { await fixture.agent.shutdown(draining: false) }
        default: gate.open()
        }
        return task
    }

    @Test func weakAccessoryDoesNotRetainItsTarget() {
        let request = Plain("x")
        weak var weakLog: CallbackLog?
        do {
            let log = CallbackLog()
            weakLog = log
            request.accessories = [WeakAccessory(log)]
        }
        #expect(weakLog == nil)
    }
}
