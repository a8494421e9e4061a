#if ServiceLifecycle
    import ErrandCore
    import ErrandServiceLifecycle
    import ErrandTesting
    import ErrandTransport
    import ServiceLifecycle
    import ServiceLifecycleTestKit
    import TestSupport
    import Testing

    @Suite(.limited) struct RequestAgentServiceTests {
        private let transport = ScriptedTransport()
        private let clock = ManualClock()
        private let gate = Gate()
        private let events = EventRecorder()

        private func agent() -> RequestAgent {
            transport.on(
                .get, "/slow", ScriptedResponse(steps: [.hold(gate), .head(.init(status: .ok))]))
            transport.on(.get, "/fast", ScriptedResponse())
            return RequestAgent(
                configuration: Configuration(baseURL: "https://api.example.com"),
                transport: transport, clock: clock)
        }

        private func request(_ url: String) -> RequestDescription {
            RequestDescription(endpoint: "Get", url: EndpointURL(raw: url))
        }

        /// Waits until the agent refuses requests.
        private func untilClosed(_ agent: RequestAgent) async {
            while (try? await agent.start(request("/fast")).response()) != nil {
                await Task.yield()
            }
        }

        @Test func currentRequestsEndAndNewOnesAreRefused() async throws {
            let agent = agent()
            let current = agent.start(request("/slow"))
            try await gate.reached()
            try await testGracefulShutdown { trigger in
                let service = Task { try await RequestAgentService(agent).run() }
                trigger.triggerGracefulShutdown()
                await untilClosed(agent)
                let error = await #expect(throws: RequestError.self) {
                    try await agent.start(request("/fast")).response()
                }
                #expect(error?.code == .agentShutDown)
                gate.open()
                try await service.value
            }
            #expect(try await current.response().status == .ok)
        }

        @Test func requestsThatRemainAfterTheLimitEnd() async throws {
            let agent = agent()
            let current = agent.start(request("/slow"))
            try await gate.reached()
            try await testGracefulShutdown { trigger in
                let service = Task {
                    try await RequestAgentService(agent, shutdownLimit: .seconds(5)).run()
                }
                trigger.triggerGracefulShutdown()
                try await clock.untilSleeping()
                clock.advance(by: .milliseconds(4_999))
                #expect(agent.activeTasks.contains { $0.id == current.id })
                clock.advance(by: .milliseconds(1))
                try await service.value
            }
            let error = await #expect(throws: RequestError.self) { try await current.response() }
            #expect(error?.code == .agentShutDown)
        }

        @Test func limitOfZeroEndsRequestsAtOnce() async throws {
            let agent = agent()
            let current = agent.start(request("/slow"))
            try await gate.reached()
            try await testGracefulShutdown { trigger in
                let service = Task {
                    try await RequestAgentService(agent, shutdownLimit: .zero).run()
                }
                trigger.triggerGracefulShutdown()
                try await service.value
            }
            let error = await #expect(throws: RequestError.self) { try await current.response() }
            #expect(error?.code == .agentShutDown)
        }

        @Test func cancelledServiceEndsRequests() async throws {
            let agent = agent()
            let current = agent.start(request("/slow"))
            try await gate.reached()
            let service = Task { try await RequestAgentService(agent).run() }
            service.cancel()
            await #expect(throws: CancellationError.self) { try await service.value }
            let error = await #expect(throws: RequestError.self) { try await current.response() }
            #expect(error?.code == .agentShutDown)
        }
    }
#endif
