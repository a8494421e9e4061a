import Dispatch
import Errand
import ErrandTesting
import Synchronization
import Testing

/// The main thread is busy: requests go on without it, and their ends are told when it is free, in order.
@Suite(.timeLimit(.minutes(10))) @MainActor struct LifeBusyMainTests {
    @Test func requestsEndWithoutTheMainThread() async {
        let world = World()
        world.transport.on(nil, nil, .json("{}"))
        let ended = DispatchSemaphore(value: 0)
        world.agent.configuration.eventListeners = [
            FilteredListener { event in
                if case .ended = event.kind { ended.signal() }
            }
        ]
        var told: [Int] = []
        await withCheckedContinuation { continuation in
            for number in 0..<100 {
                let request = world.with(Plain("x"))
                request.tag = number
                request.start { request in
                    told.append(request.tag)
                    if told.count == 100 { continuation.resume() }
                }
            }
            // Holds the main thread until all have ended; the limit is for a failure only.
            for _ in 0..<100 where ended.wait(timeout: .now() + 300) == .timedOut {
                Issue.record("a request waits for the main thread")
            }
            #expect(told.isEmpty)
        }
        #expect(told.sorted() == Array(0..<100))
        #expect(world.agent.activeTasks.isEmpty)
    }
}
