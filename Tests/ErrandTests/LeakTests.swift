import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(5))) @MainActor struct LeakTests {
    @Test func nothingIsKeptAfterTheEnd() async {
        for answer in [ScriptedAnswer.json("{}"), .json("{}", status: .internalServerError)] {
            weak var weakRequest: Plain?
            weak var weakCaptured: Log?
            weak var weakAgent: RequestAgent?
            do {
                let world = World()
                world.transport.on(.get, "/x", answer)
                let request = world.with(Plain("x"))
                let captured = Log()
                weakRequest = request
                weakCaptured = captured
                weakAgent = world.agent
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
                try? await world.transport.untilIdle()
            }
            // The task that called back ends behind the callback; yielding lets it.
            for _ in 0..<1000 where weakRequest != nil || weakAgent != nil { await Task.yield() }
            #expect(weakRequest == nil)
            #expect(weakCaptured == nil)
            #expect(weakAgent == nil)
        }
    }

    enum Way: CaseIterable {
        case cancelled, cancelledAtOnce, suspended, joined, batch, chain, owned, watched, shutDown
    }

    /// Request, captured object, task and agent go, whichever way the request went.
    @Test(arguments: Way.allCases) func nothingIsKept(way: Way) async {
        weak var weakRequest: Plain?
        weak var weakCaptured: Log?
        weak var weakAgent: RequestAgent?
        weak var weakTask: RequestTask?
        weak var weakAccessory: ClosureAccessory?
        do {
            let world = World()
            let gate = Gate()
            world.transport.on(nil, nil, ScriptedAnswer.json("{}").held(by: gate))
            let request = world.with(Plain("x"))
            let captured = Log()
            let accessory = ClosureAccessory { _, _ in captured.lines.append("accessory") }
            request.accessories = [accessory]
            request.onProgress { _, _ in captured.lines.append("progress") }
            weakRequest = request
            weakCaptured = captured
            weakAgent = world.agent
            weakAccessory = accessory
            await withCheckedContinuation { continuation in
                weakTask = run(way, request, captured, world, gate) { continuation.resume() }
            }
            #expect(captured.lines.contains("end"))
            await world.agent.shutdown()
            try? await world.transport.untilIdle()
        }
        for _ in 0..<5000
        where weakRequest != nil || weakAgent != nil || weakTask != nil || weakCaptured != nil {
            await Task.yield()
        }
        #expect(weakRequest == nil && weakCaptured == nil && weakAccessory == nil)
        #expect(weakAgent == nil && weakTask == nil)
    }

    private func run(
        _ way: Way, _ request: Plain, _ captured: Log, _ world: World, _ gate: Gate,
        done: @escaping () -> Void
    ) -> RequestTask? {
        let end = {
            captured.lines.append("end")
            done()
        }
        switch way {
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
        let task = request.start(owner: way == .owned ? owner : nil) { _ in
            end()
        } failure: { _, _ in
            end()
        }
        switch way {
        case .cancelled:
            Task {
                _ = try? await world.transport.nextRequest()
                task.cancel()
            }
        case .cancelledAtOnce: task.cancel()
        case .suspended:
            task.suspend()
            gate.open()
            task.cancel()
        case .joined:
            let follower = world.with(Plain("x"))
            follower.start { _ in captured.lines.append("follower") }
            gate.open()
        case .watched:
            task.onProgress { _ in _ = task.phase }
            Task { for await _ in task.progress {} }
            gate.open()
        case .shutDown: Task { await world.agent.shutdown(draining: false) }
        default: gate.open()
        }
        return task
    }

    @Test func weakAccessoriesAreNotKept() {
        let request = Plain("x")
        weak var weakLog: Log?
        do {
            let log = Log()
            weakLog = log
            request.accessories = [WeakAccessory(log)]
        }
        #expect(weakLog == nil)
    }
}
