import Errand

/// An agent that enables every step of the pipeline and gives none of them anything to do: limits that are never
/// reached, retries that are never needed, credentials and cookies of other hosts, a cache that is not asked.
enum EverySteps {
    static func agent(over transport: any Transport) -> RequestAgent {
        var configuration = Configuration()
        configuration.limits = RequestLimits(total: 1000, perHost: 1000)
        configuration.rateLimit = RateLimit(requests: 1_000_000_000, per: .seconds(1))
        configuration.learnsRateLimits = true
        configuration.retryPolicy = RetryPolicy(maximumAttempts: 3)
        configuration.retryBudget = RetryBudget()
        configuration.circuitBreaker = CircuitBreakerPolicy()
        configuration.authenticators = [
            HostAuthenticator("api.example.com", BearerAuthenticator("token"))
        ]
        let agent = RequestAgent(configuration: configuration, transport: transport)
        if let elsewhere = try? URI(parsing: "https://api.example.com/") {
            agent.cookieJar.receive([.setCookie: "a=b"], from: elsewhere)
        }
        return agent
    }
}
