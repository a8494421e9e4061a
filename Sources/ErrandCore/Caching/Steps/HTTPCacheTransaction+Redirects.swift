import ErrandSystem
import ErrandTransport
import HTTPTypes

/// Stores and follows redirects.
extension HTTPCacheTransaction {
    /// Begins with a stored redirect instead of a request to its URL, if the redirect is fresh.
    ///
    /// The target is requested as always: it may belong to another user or origin.
    func follow(_ found: Found, _ next: Next) async throws(RequestError) -> Response {
        let control = CacheControl(found.entry.headers)
        let strategy = CacheStrategy.decide(
            found.entry, control, requestControl, now: task.clock.now, settings: settings)
        if requestControl.isOnlyIfCached { return try gatewayTimeout(.noEntry) }
        guard case .fresh(let age) = strategy,
            let redirect = response(of: found, .cacheFresh, age, control)
        else {
            entries.missed(.expired, task)
            return try await load(next, found: nil)
        }
        entries.hit(age: age, .cacheFresh, task)
        let redirects = CachedRedirects(first: redirect)
        return try await next(pipelineRequest.changed { $0.cache.redirects = redirects })
    }

    /// Stores the redirect of the requested URL; returns whether it may be stored.
    func storeRedirect(_ response: Response, since beganAt: Date) async -> Bool {
        let times = (requestTime(of: response, since: beganAt), task.clock.now)
        guard response.headers.contains(.location), mayStore(response, receivedAt: times.1) else {
            return false
        }
        await store(response, times, replacing: nil)
        return true
    }
}
