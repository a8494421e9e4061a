import Dispatch
import Errand
import ErrandTesting
import Testing

/// With a blocked main thread, requests still run to their end; callbacks run when it is free.
@Suite(.timeLimit(.minutes(10))) @MainActor struct BlockedMainThreadTests {
    @Test func requestsEndWhileTheMainThreadIsBlocked() async {
        let fixture = AgentFixture()
        fixture.transport.on(nil, nil, .json("{}"))
        let ended = DispatchSemaphore(value: 0)
        fixture.agent.configuration.eventListeners = [
            FilteredListener { event in
                if case .ended = event.kind { ended.signal() }
            }
        ]
        var finished: [Int] = []
        await withCheckedContinuation { continuation in
            for number in 0..<100 {
                let request = fixture.with(Plain("x"))
                request.tag = number
                request.start { request in
                    finished.append(request.tag)
                    if finished.count == 100 { continuation.resume() }
                }
            }
            // Blocks the main thread until all requests have ended. The timeout is reached only on failure.
            for _ in 0..<100 where ended.wait(timeout: .now() + 300) == .timedOut {
                Issue.record("a request waits for the main thread")
            }
            #expect(finished.isEmpty)
        }
        #expect(finished.sorted() == Array(0..<100))
        #expect(fixture.agent.activeTasks.isEmpty)
    }
}
