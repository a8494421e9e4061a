import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(1))) @MainActor struct LeakTests {
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
