import Errand
import ErrandTesting
import TestSupport
import Testing

/// The properties that make two requests identical for `duplicatePolicy`.
@Suite(.limited) struct DuplicateIdentityTests {
    private func isDuplicate(
        _ change: @escaping (inout RequestDescription) -> Void,
        _ configure: @escaping (inout Configuration) -> Void = { _ in }
    ) async throws -> Bool {
        let fixture = AgentFixture(configure)
        let gate = Gate()
        fixture.transport.on(.get, "/shared", ScriptedResponse.json("{}").held(by: gate))
        func start(_ configure: (inout RequestDescription) -> Void) -> RequestTask {
            fixture.agent.start(
                InlineRequest("shared") {
                    $0.sending.duplicates = .reject
                    configure(&$0)
                }.makeDescription())
        }
        let first = start { _ in }
        try await gate.reached()
        let second = start(change)
        defer { gate.open() }
        // A rejected request ends without being sent; any other reaches the transport.
        let result = try await fixture.events.next { event in
            guard event.taskID == second.id else { return false }
            switch event.kind {
            case .ended, .transferStarted: return true
            default: return false
            }
        }
        gate.open()
        _ = try await first.response()
        if case .ended = result.kind { return true }
        return false
    }

    @Test func equalRequestsAreIdenticalWhateverTheirTag() async throws {
        #expect(try await isDuplicate { _ in })
        #expect(try await isDuplicate { $0.tag = 7 })
    }

    @Test func headersDistinguishRequests() async throws {
        #expect(try await !isDuplicate { $0.headers = [.from: "a"] })
        #expect(try await !isDuplicate { $0.authorization = .bearer("a") })
        // Equal names in the same order, with different values.
        let shared: (inout Configuration) -> Void = { $0.sharedHeaders = [.from: "b"] }
        #expect(try await !isDuplicate({ $0.headers = [.from: "a"] }, shared))
        #expect(try await isDuplicate({ $0.headers = [.from: "b"] }, shared))
    }

    @Test func transportOverridesDistinguishRequests() async throws {
        #expect(
            try await !isDuplicate {
                $0.sending.transport = TransportOverrides(httpVersion: .http11)
            })
        #expect(
            try await !isDuplicate {
                var overrides = TransportOverrides()
                overrides.maximumBodyBytes = 3
                $0.sending.transport = overrides
            })
    }

    @Test func cellularAccessDistinguishesRequests() async throws {
        #expect(try await !isDuplicate { $0.uses.remove(.cellular) })
    }

    @Test func effectiveCachingSettingsDistinguishRequests() async throws {
        #expect(try await !isDuplicate { $0.cacheSeconds = 60 })
        #expect(try await !isDuplicate { $0.cacheVersion = 2 })
        #expect(try await !isDuplicate { $0.ignoresCache = true })
        #expect(try await !isDuplicate { $0.cache.policy = .reload })
        #expect(try await isDuplicate { $0.cache.policy = .cacheElseLoad })
        #expect(try await isDuplicate { $0.cacheSeconds = -7 })
    }

    @Test func redirectPolicyDistinguishesRequests() async throws {
        #expect(try await !isDuplicate { $0.sending.redirects = RedirectPolicy.none })
        #expect(try await isDuplicate { $0.sending.redirects = .follow })
    }

    @Test func securityPolicyAndCookieUseDistinguishRequests() async throws {
        #expect(try await !isDuplicate { $0.sending.security = SecurityPolicy() })
        #expect(try await !isDuplicate { $0.uses.remove(.cookies) })
    }

    /// Another configuration may have another redirect decider, so its requests are not identical.
    @Test func redirectDeciderDistinguishesRequests() async throws {
        let fixture = AgentFixture { $0.redirectDecider = { _ in .asPolicy } }
        let gate = Gate()
        fixture.transport.on(.get, "/shared", ScriptedResponse.json("{}").held(by: gate))
        func start() -> RequestTask {
            fixture.agent.start(
                InlineRequest("shared") { $0.sending.duplicates = .join }.makeDescription())
        }
        let first = start()
        try await gate.reached()
        fixture.agent.configuration.redirectDecider = { _ in .deliver }
        let second = start()
        _ = try await fixture.transport.nextRequest()
        _ = try await fixture.transport.nextRequest()
        gate.open()
        _ = try await first.response()
        _ = try await second.response()
        #expect(fixture.transport.requests.count == 2)
        #expect(!fixture.events.names.contains("joined"))
    }
}
