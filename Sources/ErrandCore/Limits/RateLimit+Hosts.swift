package import ErrandHTTP

extension RateLimit {
    /// The limit of the most specific pattern that matches the host.
    package static func limit(
        of host: String, _ limits: [HostPattern: RateLimit]
    ) throws(RequestError) -> RateLimit? {
        var best: (pattern: HostPattern, limit: RateLimit)?
        for (pattern, limit) in limits {
            try pattern.check(in: "hostRateLimits")
            guard pattern.matches(host), best?.pattern.isLessSpecific(than: pattern) != false else {
                continue
            }
            best = (pattern, limit)
        }
        return best?.limit
    }
}
