/// The steps a request passes through, in order.
///
/// This list is the architecture.
package struct Pipeline: Sendable {
    private let steps: [any Step]

    /// Puts the steps in their order.
    ///
    /// Where it carries meaning:
    /// - processors run outside the cache, so that stored and fresh answers take the same way;
    /// - joining stands outside the cache, so that one transfer fills it for everybody who waits;
    /// - the schedule stands inside the cache: an answer from the store never waits for a place;
    /// - retry stands outside validation, so that a rejected answer may be asked for again;
    /// - the download stands outside validation: only a validated body becomes the destination file;
    /// - validation stands inside the cache, so that only validated answers are stored;
    /// - redirects stand inside validation: a 3xx that is followed is no answer;
    /// - credentials stand inside redirects: each hop's are made for its own address, and what follows
    ///   redirects never holds any that it could carry to another origin;
    /// - cookies stand inside redirects: each hop gets those of its own address, and what it sets is kept
    ///   before the next one goes out.
    package init(
        flights: FlightTable, writes: PendingCacheWrites, scheduler: Scheduler = Scheduler(),
        guards: HostGuards = HostGuards(), pacer: Pacer = Pacer(),
        refresher: CacheRefresher = CacheRefresher()
    ) {
        steps = [
            ProcessStep(),  // the user's processors and the typed output
            AdaptStep(),  // filters, shared headers and arguments, the request for the wire
            JoinStep(flights: flights),  // share an identical request that is under way
            // answer from the store, or store what comes
            CacheStep(
                writes: writes, refresher: refresher, validate: ResponseValidation.check),
            ScheduleStep(scheduler: scheduler),  // wait for a place
            RetryStep(guards: guards),  // try again, if the policy says so
            DownloadStep(),  // part file, Range, rename
            ValidateStep(),  // status, content type, body, shape
            RedirectStep(),  // follow a 3xx, without leaking credentials
            AuthenticateStep(),  // credentials of this hop; renewed once after a 401
            CookieStep(),  // cookies of this hop out, new ones into the jar
            PaceStep(pacer: pacer),  // as often as the host of this hop wants it
            TransportStep(),  // the network
        ]
    }

    /// Runs one task through all steps, on the caller's thread until the first of them waits.
    nonisolated(nonsending) package func callAsFunction(
        _ context: TaskContext
    ) async throws(RequestError) -> Response {
        try await Next(steps)(Exchange(context: context))
    }
}
