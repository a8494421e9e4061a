import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// Starts, cancels, suspends and resumes over real sockets: each request ends once, and no body is truncated.
@Suite(.limited) struct TransportLifecycleTests {
    @Test(arguments: TransportKind.allCases)
    func eachTaskEndsExactlyOnce(kind: TransportKind) async throws {
        let server = LoopbackServer()
        let body = String(repeating: "0123456789", count: 5000)
        server.route(
            "/x", responses: LoopbackResponse(headers: ["Content-Type": "text/plain"], body: body))
        try await server.start()
        let ends = EndCounter()
        var configuration = Configuration(baseURL: server.baseURL)
        configuration.eventListeners = [ends]
        configuration.limits = RequestLimits(total: 32)
        let agent = RequestAgent(
            configuration: configuration, transport: kind.makeTransport(), store: nil)
        let tally = ResultTally()
        await withTaskGroup { group in
            for seed in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(seed) &+ 99)
                    for _ in 0..<6 {
                        let tasks = (0..<10).map { _ in agent.start(TextRequest().makeDescription())
                        }
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
                            if case .success(let response) = result, response.string != body {
                                tally.add(failure: "incomplete body")
                            } else {
                                tally.add(result)
                            }
                        }
                    }
                }
            }
        }
        let counts = tally.counts
        #expect(counts.succeeded + counts.cancelled == 480)
        #expect(counts.succeeded > 0 && counts.cancelled > 0)
        #expect(counts.failures.isEmpty, "\(counts.failures.prefix(3))")
        #expect(ends.count == 480 && ends.endedTwice == 0 && agent.activeTasks.isEmpty)
        await agent.shutdown()
        await server.stop()
    }

    private final class TextRequest: BaseRequest {
        override var url: EndpointURL { "x" }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            request.acceptance.format = .text
        }
    }
}
