import Errand
import ErrandTransport

/// An agent whose pipeline steps are all enabled and idle.
///
/// Its limits are never reached, no retry is needed, its credentials and cookies belong to other
/// hosts, and no request uses the cache.
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
            "api.example.com": .bearer("token")
        ]
        let agent = RequestAgent(configuration: configuration, transport: transport)
        if let elsewhere = try? HTTPURL(parsing: "https://api.example.com/") {
            agent.cookieJar.receive([.setCookie: "a=b"], from: elsewhere)
        }
        return agent
    }
}
