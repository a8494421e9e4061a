import Errand
import ErrandTesting
import Testing

/// What makes two requests the same for `duplicatePolicy`: also how they are carried, redirected and trusted.
@Suite(.timeLimit(.minutes(5))) struct DuplicateIdentityTests {
    private func isDuplicate(
        _ later: @escaping (inout RequestDescription) -> Void,
        _ configure: @escaping (inout Configuration) -> Void = { _ in }
    ) async throws -> Bool {
        let world = World(configure)
        let gate = Gate()
        world.transport.on(.get, "/shared", ScriptedAnswer.json("{}").held(by: gate))
        func start(_ configure: (inout RequestDescription) -> Void) -> RequestTask {
            world.agent.start(
                InlineRequest("shared") {
                    $0.duplicatePolicy = .reject
                    configure(&$0)
                }.describe())
        }
        let first = start { _ in }
        try await gate.reached()
        let second = start(later)
        defer { gate.open() }
        // A refused one ends by itself; another one goes to the transport.
        try await world.events.until { events in
            events.contains {
                guard $0.taskID == second.id else { return false }
                switch $0.kind {
                case .ended, .transferStarted: return true
                default: return false
                }
            }
        }
        let refused = second.phase == .ended || world.transport.requests.count == 1
        gate.open()
        _ = try await first.response()
        return refused
    }

    @Test func theSameIsTheSame() async throws {
        #expect(try await isDuplicate { _ in })
        #expect(try await isDuplicate { $0.tag = 7 })
    }

    @Test func howItIsCarriedCounts() async throws {
        #expect(
            try await !isDuplicate {
                $0.transportOverrides = TransportOverrides(httpVersion: .http11)
            })
        #expect(
            try await !isDuplicate {
                var overrides = TransportOverrides()
                overrides.maximumBodyBytes = 3
                $0.transportOverrides = overrides
            })
    }

    @Test func whichRedirectsAreFollowedCounts() async throws {
        #expect(try await !isDuplicate { $0.redirectPolicy = RedirectPolicy.none })
        #expect(try await isDuplicate { $0.redirectPolicy = .follow })
    }

    @Test func whoIsTrustedAndWhetherCookiesAreSentCount() async throws {
        #expect(try await !isDuplicate { $0.securityPolicy = SecurityPolicy() })
        #expect(try await !isDuplicate { $0.usesCookies = false })
    }

    /// A decider may say something else of another endpoint, and another configuration has another decider.
    @Test func whoDecidesOnRedirectsCounts() async throws {
        let world = World { $0.redirectDecider = { _ in .asPolicy } }
        let gate = Gate()
        world.transport.on(.get, "/shared", ScriptedAnswer.json("{}").held(by: gate))
        func start() -> RequestTask {
            world.agent.start(InlineRequest("shared") { $0.duplicatePolicy = .join }.describe())
        }
        let first = start()
        try await gate.reached()
        world.agent.configuration.redirectDecider = { _ in .deliver }
        let second = start()
        _ = try await world.transport.nextRequest()
        _ = try await world.transport.nextRequest()
        gate.open()
        _ = try await first.response()
        _ = try await second.response()
        #expect(world.transport.requests.count == 2)
        #expect(!world.events.names.contains("joined"))
    }
}
