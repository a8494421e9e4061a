import Errand
import ErrandTesting
import TestSupport
import Testing

/// Numbers without a meaning are refused before anything is sent.
@Suite(.limited) struct InvalidNumberTests {
    private func error(
        configuration change: (inout Configuration) -> Void = { _ in },
        endpoint describe: (inout RequestDescription) -> Void = { _ in }
    ) async -> RequestError? {
        let fixture = AgentFixture(change)
        fixture.transport.on(.get, "/x", .json("{}"))
        let error = await fixture.agent.start(InlineRequest("x", describe).makeDescription())
            .outcome()
            .error
        #expect(error == nil || fixture.transport.requests.isEmpty)
        return error
    }

    @Test func numberOfTheConfigurationIsRefused() async {
        let faults: [(String, (inout Configuration) -> Void)] = [
            ("redirectPolicy.maximumCount", { $0.redirectPolicy.maximumCount = -1 }),
            ("retryPolicy.maximumAttempts", { $0.retryPolicy.maximumAttempts = 0 }),
            ("retryPolicy.maximumAttempts", { $0.retryPolicy = .attempts(-3) }),
            ("retryPolicy.attemptTimeout", { $0.retryPolicy.attemptTimeout = .zero }),
            ("delay of retryPolicy", { $0.retryPolicy.baseDelay = .seconds(-1) }),
            ("delay of retryPolicy", { $0.retryPolicy.maximumDelay = .seconds(-1) }),
            ("delay of retryPolicy", { $0.retryPolicy.maximumRetryAfter = .seconds(-1) }),
            ("retryBudget.ratio", { $0.retryBudget = RetryBudget(ratio: .nan) }),
            ("retryBudget.ratio", { $0.retryBudget = RetryBudget(ratio: .infinity) }),
            ("retryBudget.ratio", { $0.retryBudget = RetryBudget(ratio: -0.1) }),
            ("retryBudget.reserve", { $0.retryBudget = RetryBudget(reserve: -1) }),
            ("circuitBreaker.failures", { $0.circuitBreaker = CircuitBreakerPolicy(failures: 0) }),
            (
                "circuitBreaker.pause",
                { $0.circuitBreaker = CircuitBreakerPolicy(pause: .seconds(-1)) }
            ),
            ("limits.total", { $0.limits.total = 0 }),
            ("limits.perHost", { $0.limits.perHost = 0 }),
            ("limits.perTag[7]", { $0.limits.perTag = [7: 0] }),
            ("limits.waiting", { $0.limits.waiting = -1 }),
            ("maximumBodyBytes", { $0.transportOptions.maximumBodyBytes = -1 }),
            ("maximumBytesInMemory", { $0.transportOptions.maximumBytesInMemory = -1 }),
            ("maximumDecodingRatio", { $0.transportOptions.maximumDecodingRatio = 0 }),
            ("maximumHeadBytes", { $0.transportOptions.maximumHeadBytes = 0 }),
            ("receiveBufferBytes", { $0.transportOptions.receiveBufferBytes = 0 }),
            ("httpCache.heuristicFraction", { $0.httpCache.heuristicFraction = .nan }),
            ("httpCache.heuristicFraction", { $0.httpCache.heuristicFraction = -1 }),
            ("time of httpCache", { $0.httpCache.heuristicLimit = .seconds(-1) }),
            ("time of httpCache", { $0.httpCache.lifetimeWithoutHeaders = .seconds(-1) }),
            ("time of httpCache", { $0.httpCache.staleIfError = .seconds(-1) }),
        ]
        for (name, change) in faults {
            let error = await error(configuration: change)
            #expect(error?.code == .invalidConfiguration, "\(name)")
            #expect(error?.stage == .build, "\(name)")
            #expect(error?.message.contains(name) == true, "\(error?.message ?? name)")
        }
    }

    @Test func numberOfTheEndpointIsRefused() async {
        let faults: [(inout RequestDescription) -> Void] = [
            { $0.sending.redirects = RedirectPolicy(maximumCount: -1) },
            { $0.retryPolicy = .attempts(0) },
            { $0.sending.transport.maximumBodyBytes = -1 },
        ]
        for describe in faults {
            #expect(await error(endpoint: describe)?.code == .invalidConfiguration)
        }
    }

    /// A number that the endpoint replaces has no effect.
    @Test func replacedNumberOfTheConfigurationIsAccepted() async {
        func error(_ describe: (inout RequestDescription) -> Void) async -> RequestError? {
            await self.error(
                configuration: {
                    $0.redirectPolicy.maximumCount = -1
                    $0.retryPolicy.maximumAttempts = 0
                    $0.transportOptions.maximumBodyBytes = -1
                }, endpoint: describe)
        }
        func overrides(_ bytes: Int64) -> TransportOverrides {
            var overrides = TransportOverrides()
            overrides.maximumBodyBytes = bytes
            return overrides
        }
        let complete = await error {
            $0.sending.redirects = RedirectPolicy(maximumCount: 1)
            $0.retryPolicy = .attempts(1)
            $0.sending.transport = overrides(10)
        }
        #expect(complete == nil)
        let partial = await error {
            $0.sending.redirects = RedirectPolicy(maximumCount: 1)
            $0.retryPolicy = .attempts(1)
        }
        #expect(partial?.code == .invalidConfiguration)
        #expect(partial?.message.contains("maximumBodyBytes") == true)
    }

    @Test func smallestNumbersAreAccepted() async {
        let error = await error {
            $0.redirectPolicy.maximumCount = 0
            $0.retryPolicy.baseDelay = .zero
            $0.retryPolicy.maximumDelay = .zero
            $0.retryBudget = RetryBudget(ratio: 0, reserve: 0)
            $0.circuitBreaker = CircuitBreakerPolicy(failures: 1, pause: .zero)
            $0.limits = RequestLimits(total: 1, perHost: 1, perTag: [0: 1], waiting: 0)
            $0.transportOptions.maximumDecodingRatio = 1
            $0.transportOptions.maximumHeadBytes = 1
            $0.httpCache.heuristicFraction = 0
        }
        #expect(error == nil)
    }
}
