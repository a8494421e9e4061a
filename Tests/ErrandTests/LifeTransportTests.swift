import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Starts, cancels, suspends and resumes over real sockets, with both transports: one end each, whole bodies only.
@Suite(.timeLimit(.minutes(2))) struct LifeTransportTests {
    @Test(arguments: ["curl", "URLSession"]) func everyStartEndsOnce(name: String) async throws {
        let server = LoopbackServer()
        let body = String(repeating: "0123456789", count: 5000)
        server.route(
            "/x", answers: LoopbackAnswer(headers: ["Content-Type": "text/plain"], body: body))
        try await server.start()
        let ends = Ends()
        var configuration = Configuration(baseURL: server.url())
        configuration.eventListeners = [ends]
        configuration.limits = RequestLimits(total: 32)
        let transport: any Transport =
            name == "curl" ? CurlTransport() : URLSessionTransport()
        let agent = RequestAgent(configuration: configuration, transport: transport, store: nil)
        let tally = Tally()
        await withTaskGroup { group in
            for seed in 0..<8 {
                group.addTask {
                    var random = SplitMix(state: UInt64(seed) &+ 99)
                    for _ in 0..<6 {
                        let tasks = (0..<10).map { _ in agent.start(Text().describe()) }
                        for task in tasks {
                            switch random.next() % 4 {
                            case 0: task.cancel()
                            case 1: task.suspend()
                            case 2:
                                task.suspend()
                                task.resume()
                            default: break
                            }
                        }
                        for task in tasks { task.resume() }
                        for task in tasks {
                            let result = await task.outcome().result
                            tally.results.withLock { results in
                                switch result {
                                case .success(let response) where response.string == body:
                                    results.whole += 1
                                case .success: results.other.append("a body is not whole")
                                case .failure(let error) where error.isCancellation:
                                    results.cancelled += 1
                                case .failure(let error): results.other.append("\(error)")
                                }
                            }
                        }
                    }
                }
            }
        }
        let (whole, cancelled, other) = tally.results.withLock { $0 }
        #expect(whole + cancelled == 480 && whole > 0 && cancelled > 0)
        #expect(other.isEmpty, "\(other.prefix(3))")
        #expect(ends.count == 480 && ends.endedTwice == 0 && agent.activeTasks.isEmpty)
        await agent.shutdown()
        await server.stop()
    }

    /// What the tasks came to.
    private final class Tally: Sendable {
        let results = Mutex((whole: 0, cancelled: 0, other: [String]()))
    }

    private final class Text: BaseRequest {
        override var url: String { "x" }
        override var responseSerializer: ResponseSerializer { .string }
    }
}
