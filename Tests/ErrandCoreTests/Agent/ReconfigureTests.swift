import Dispatch
import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.limited) struct ReconfigureTests {
    private let agent = RequestAgent(transport: ScriptedTransport())

    private func number(_ text: String?) -> Int { text.flatMap { Int($0) } ?? 0 }

    @Test func concurrentChangesAreAllKept() {
        DispatchQueue.concurrentPerform(iterations: 1000) { index in
            agent.reconfigure { configuration in
                configuration.appVersion = String(number(configuration.appVersion) + 1)
                configuration.tagRateLimits[index] = RateLimit(requests: 1, per: .seconds(1))
            }
        }
        #expect(agent.configuration.appVersion == "1000")
        #expect(agent.configuration.tagRateLimits.count == 1000)
    }

    @Test func closureReturnsAValue() {
        let old = agent.reconfigure { configuration in
            defer { configuration.baseURL = "https://new.example/" }
            return configuration.baseURL
        }
        #expect(old == nil)
        #expect(agent.configuration.baseURL == "https://new.example/")
    }

    @Test func thrownErrorLeavesTheConfigurationUnchanged() {
        #expect(throws: RequestError.self) {
            try agent.reconfigure { (configuration) throws(RequestError) in
                configuration.appVersion = "2"
                throw .cancelled
            }
        }
        #expect(agent.configuration.appVersion == nil)
    }

    /// The first call of the closure meets a change by another thread.
    @Test func assignmentByAnotherThreadIsKept() {
        let isFirst = Atomic(true)
        let calls = Atomic(0)
        let assigned = DispatchSemaphore(value: 0)
        agent.reconfigure { configuration in
            calls.add(1, ordering: .relaxed)
            if isFirst.exchange(false, ordering: .relaxed) {
                Thread.detachNewThread {
                    agent.configuration.baseURL = "https://other.example/"
                    assigned.signal()
                }
                assigned.wait()
            }
            configuration.appVersion = "2"
        }
        #expect(calls.load(ordering: .relaxed) == 2)
        #expect(agent.configuration.baseURL == "https://other.example/")
        #expect(agent.configuration.appVersion == "2")
    }

    @Test func changesWithinTheClosureAreKept() {
        let calls = Atomic(0)
        agent.reconfigure { configuration in
            calls.add(1, ordering: .relaxed)
            agent.reconfigure { inner in
                inner.baseURL = "https://inner.example/"
                agent.configuration.cdnURL = "https://assigned.example/"
            }
            configuration.appVersion = "2"
        }
        #expect(calls.load(ordering: .relaxed) == 2)
        let configuration = agent.configuration
        #expect(configuration.baseURL == "https://inner.example/")
        #expect(configuration.cdnURL == "https://assigned.example/")
        #expect(configuration.appVersion == "2")
    }

    @Test func runningTasksKeepTheirConfiguration() async throws {
        let task = agent.enlist(RequestDescription(endpoint: "Test", url: "https://a.example/"))
        agent.reconfigure { $0.appVersion = "2" }
        #expect(task.configuration.appVersion == nil)
        task.cancel()
        await agent.perform(task)
    }
}
