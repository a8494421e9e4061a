import Dispatch
import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// With a blocked main thread, requests still run to their end; callbacks run when it is free.
@Suite(.limited) struct BlockedMainThreadTests {
    /// Starts requests and blocks the main thread until all of them have ended.
    @MainActor private final class Blockage {
        private let fixture = AgentFixture()
        private let ended = DispatchSemaphore(value: 0)
        private var finished: [Int] = []
        private var isInTime = true

        init() {
            fixture.transport.on(nil, nil, .json("{}"))
            fixture.agent.configuration.eventListeners = [
                FilteredListener { [ended] event in
                    if case .ended = event.kind { ended.signal() }
                }
            ]
        }

        /// The exit code: 0 if all requests have ended while the main thread was blocked, and all
        /// callbacks have run afterwards.
        func run() async -> Int32 {
            await withCheckedContinuation { continuation in
                for number in 0..<100 {
                    let request = fixture.with(Plain("x"))
                    request.tag = number
                    request.start { [self] request in
                        finished.append(request.tag)
                        if finished.count == 100 { continuation.resume() }
                    }
                }
                // The timeout is reached only on failure.
                let deadline = DispatchTime.now() + 120
                for _ in 0..<100 where ended.wait(timeout: deadline) == .timedOut {
                    isInTime = false
                }
                if !finished.isEmpty { isInTime = false }
            }
            guard isInTime else { return 2 }
            return finished.sorted() == Array(0..<100) && fixture.agent.activeTasks.isEmpty ? 0 : 3
        }
    }

    /// The process is its own: tests of other suites need the main thread.
    @Test func requestsEndWhileTheMainThreadIsBlocked() async {
        await #expect(processExitsWith: .success) {
            exit(await Blockage().run())
        }
    }
}
