#if ServiceLifecycle
    import ErrandOutbox
    import ErrandServiceLifecycle
    import ErrandTesting
    import ErrandTransport
    import ServiceLifecycle
    import ServiceLifecycleTestKit
    import TestSupport
    import Testing

    @Suite(.limited) struct OutboxServiceTests {
        private let transport = ScriptedTransport()
        private let clock = ManualClock()
        private let gate = Gate()
        private let store = MemoryOutboxStore()

        private func outbox() -> Outbox {
            transport.on(
                .post, "/notes",
                ScriptedResponse(steps: [.hold(gate), .head(.init(status: .created))]))
            let agent = RequestAgent(
                configuration: Configuration(baseURL: "https://api.example.com"),
                transport: transport, clock: clock)
            return Outbox(agent: agent, store: store)
        }

        private var note: RequestDescription {
            var description = RequestDescription(endpoint: "AddNote", url: "/notes")
            description.method = .post
            return description
        }

        @Test func requestInProgressIsDeliveredAndNoFurtherOneIsSent() async throws {
            let outbox = outbox()
            try await outbox.add(note)
            try await outbox.add(note)
            try await testGracefulShutdown { trigger in
                let service = Task { try await OutboxService(outbox).run() }
                try await gate.reached()
                trigger.triggerGracefulShutdown()
                // The limit is running.
                try await clock.untilSleeping()
                gate.open()
                try await service.value
            }
            #expect(transport.requestCount == 1)
            #expect(outbox.entries.count == 1)
            #expect(try await store.outlines(after: .min).count == 1)
        }

        @Test func requestThatRemainsAfterTheLimitStaysInTheStore() async throws {
            let outbox = outbox()
            try await outbox.add(note)
            try await testGracefulShutdown { trigger in
                let service = Task {
                    try await OutboxService(outbox, shutdownLimit: .seconds(5)).run()
                }
                try await gate.reached()
                trigger.triggerGracefulShutdown()
                try await clock.untilSleeping()
                clock.advance(by: .seconds(5))
                try await service.value
            }
            #expect(try await store.outlines(after: .min).count == 1)
        }

        @Test func cancelledServiceStopsTheOutbox() async throws {
            let outbox = outbox()
            try await outbox.add(note)
            let service = Task { try await OutboxService(outbox).run() }
            try await gate.reached()
            service.cancel()
            await #expect(throws: CancellationError.self) { try await service.value }
            #expect(try await store.outlines(after: .min).count == 1)
        }
    }
#endif
