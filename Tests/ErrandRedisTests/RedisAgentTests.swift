#if Redis && os(Linux)
    import ErrandCore
    import ErrandRedis
    import ErrandTesting
    import Foundation
    import TestSupport
    import Testing

    /// Agents that share a store, as on several machines.
    @Suite(.limited)
    struct RedisAgentTests {
        private func request() -> RequestDescription {
            var description = RequestDescription(endpoint: "Test", url: "x")
            description.cacheSeconds = 60
            return description
        }

        @Test func agentsThatMissAtOnceSendOneRequest() async throws {
            let server = try await RedisServer()
            let origin = ScriptedTransport()
            let gate = Gate()
            origin.on(.get, "/x", ScriptedResponse.json("1").held(by: gate))
            let agents = try (0..<20).map { _ in
                RequestAgent(
                    configuration: Configuration(baseURL: "https://api.example.com/"),
                    transport: origin,
                    store: try server.store {
                        $0.connections = 1
                        $0.fetchWait = .seconds(60)
                        $0.fetchLease = .seconds(60)
                    })
            }
            let tasks = agents.map { $0.start(request()) }
            _ = try await origin.nextRequest()
            gate.open()
            for task in tasks {
                #expect(try await task.response().data == Data("1".utf8))
            }
            #expect(origin.requestCount == 1)
            for agent in agents { await agent.flushCache() }
        }

        @Test func failedRequestEndsItsLease() async throws {
            let server = try await RedisServer()
            let origin = ScriptedTransport()
            origin.on(.get, "/x", .json("0", status: .notFound), .json("1"))
            func agent() throws -> RequestAgent {
                RequestAgent(
                    configuration: Configuration(baseURL: "https://api.example.com/"),
                    transport: origin,
                    store: try server.store {
                        $0.fetchWait = .seconds(60)
                        $0.fetchLease = .seconds(3600)
                    })
            }
            let (one, other) = (try agent(), try agent())
            await #expect(throws: RequestError.self) {
                _ = try await one.start(request()).response()
            }
            #expect(try await other.start(request()).response().data == Data("1".utf8))
            await other.flushCache()
            #expect(try await one.start(request()).response().source == .cacheFresh)
        }

        @Test func absentServerIsOneProblemForAllRequests() async throws {
            let origin = ScriptedTransport()
            origin.on(.get, "/x", .json("1"))
            let events = EventRecorder()
            var configuration = Configuration(baseURL: "https://api.example.com/")
            configuration.eventListeners = [events]
            let agent = RequestAgent(
                configuration: configuration, transport: origin,
                store: try RedisResponseStore(.init(address: .unixSocket("/nonexistent"))))
            for _ in 0..<5 {
                #expect(try await agent.start(request()).response().source == .network)
                // Until its write has failed, a response is found among the pending writes.
                await agent.flushCache()
            }
            _ = try await events.untilEnded()
            let problems = events.events.filter {
                if case .storeProblem = $0.kind { return true }
                return false
            }
            #expect(problems.count == 1)
        }
    }
#endif
