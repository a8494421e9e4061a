/// The steps that perform a request, in order.
package struct Pipeline: Sendable {
    private let steps: Next
    /// The step that uses stored responses, for operations without a task.
    let cache: CacheStep
    /// The circuits of hosts.
    let hostHealth: HostHealth

    /// Creates the steps in their order.
    ///
    /// Reasons:
    ///
    /// - processors run outside the cache: stored and new responses are processed in the same way;
    /// - interceptors run inside adaptation: they see the request as it was built; and outside coalescing: a changed
    ///   request has its own key, and one that gets its response from an interceptor takes no permit;
    /// - a stored response is delivered first outside coalescing: each of the requests that share a transfer gets it;
    /// - coalescing runs outside the cache: one transfer fills the cache for all requests that share it;
    /// - scheduling runs inside the cache: a stored response never waits for a permit;
    /// - retry runs outside validation: a rejected response may be requested again;
    /// - a download's part file is opened outside retry: it stays locked between attempts;
    /// - the requests of downloads run outside validation: only a validated body becomes the destination file;
    /// - validation runs inside the cache: only validated responses are stored;
    /// - redirects run inside validation: a followed 3xx response is not validated;
    /// - authentication runs inside redirects: each hop gets credentials for its own URL, and the redirect step never
    ///   sees credentials that it could send to another origin;
    /// - cookies run inside redirects: each hop gets the cookies of its own URL, and cookies that it sets are stored
    ///   before the next hop.
    package init(
        sharedTransfers: SharedTransferTable, writes: PendingCacheWrites,
        concurrencyLimiter: ConcurrencyLimiter = ConcurrencyLimiter(),
        hostHealth: HostHealth = HostHealth(), rateLimiter: RateLimiter = RateLimiter(),
        refresher: CacheRefresher = CacheRefresher()
    ) {
        let validation: CacheStep.Validation = ResponseValidation.check
        let cache = CacheStep(writes: writes, refresher: refresher, validate: validation)
        self.cache = cache
        self.hostHealth = hostHealth
        steps = Next([
            AdaptStep(),  // filters, shared headers and arguments, the request for the wire
            InterceptStep(),  // the user's interceptors, around all that follows
            // deliver a stored response before the network's
            StoredThenLoadStep(cache: cache),
            // share an identical request in progress
            CoalesceStep(sharedTransfers: sharedTransfers),
            // use a stored response, or store the new one
            CacheStep(
                writes: writes, refresher: refresher, validate: ResponseValidation.check),
            // wait for a network and a permit
            ScheduleStep(concurrencyLimiter: concurrencyLimiter),
            DownloadStep(),  // open the part file
            RetryStep(hostHealth: hostHealth),  // retry, if the policy says so
            DownloadAttemptStep(),  // Range, segments, rename
            ValidateStep(),  // status, content type, body, shape
            RedirectStep(),  // follow a 3xx, without leaking credentials
            AuthenticateStep(),  // credentials of this hop; refreshed once after a 401
            CookieStep(),  // cookies of this hop out, new ones into the jar
            // wait for the rate limits of this hop
            RateLimitStep(rateLimiter: rateLimiter),
            InstrumentStep(),  // traces and metrics of this hop
            TransportStep(),  // the network
        ])
    }

    /// Runs a task through all steps, on the caller's thread until a step suspends.
    @inline(__always)  // decision 10
    nonisolated(nonsending) package func callAsFunction(
        _ task: RequestTask
    ) async throws(RequestError) -> Processed {
        let pipelineRequest = PipelineRequest(task: task)
        guard ProcessStep.concerns(pipelineRequest) else {
            return Processed(try await steps(pipelineRequest))
        }
        // The user's processors and the typed output.
        return try await ProcessStep.run(pipelineRequest, next: steps)
    }
}
