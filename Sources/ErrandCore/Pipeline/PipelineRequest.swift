// Performance annotations: decisions 10 and 17.

package import ErrandTransport
package import HTTPTypes

/// The current form of a request, which each step passes to the next.
package struct PipelineRequest: Sendable {
    /// The parts that stay the same for the whole task.
    package var task: RequestTask
    /// The request for the wire; made by `AdaptStep`, changed by later steps.
    package var request: TransportRequest
    /// The number of the current attempt, from 1; 0 before the first.
    package var attempt = 0

    /// What `AdaptStep` remembers of the request that it built; `InterceptStep` changes it with the request.
    package struct Adaptation: Sendable {
        /// The request before the processors, from which each further attempt starts; `nil` without processors.
        var serialized: TransportRequest?
        /// Headers for the current origin only; a redirect to another origin removes them.
        package var boundHeaders: Set<HTTPField.Name> = []
        /// The cache key made from `cache.arguments`; `nil` uses the request's own.
        package var key: CacheKey?
        /// The URL made from `cache.arguments`; `nil` uses the request's own.
        var keyURL: HTTPURL?
        /// The request from which the cache key was made; `nil` without key or interceptors.
        var keyRequest: TransportRequest?
    }

    /// What `RetryStep` remembers of the attempts before the current one.
    struct EarlierAttempts: Sendable {
        var timings: [AttemptTimings] = []
        var errors: [RequestError] = []
        /// The number of attempts before the last one that has made progress, such as new bytes of a download.
        var beforeProgress = 0
        /// `ProcessStep`: the idempotency keys of all repetitions; `nil` if there is no repetition.
        var idempotencyKeys: IdempotencyKeys?
    }

    /// What `CacheStep` and `CoalesceStep` remember of a request whose key depends on more than the request.
    package struct CacheUse: Sendable {
        /// Whether the cache made this a conditional request, so that a 304 is valid.
        var isRevalidation = false
        /// The record of the credentials that steps add; `nil` if no key depends on them.
        var credentials: AddedCredentials?
        /// The redirect that the cache has stored, or wants to store; `nil` if the request bypasses the store.
        var redirects: CachedRedirects?
    }

    /// What the steps remember, each in a value of its own.
    ///
    /// The values are in one box, because each suspended step holds a `PipelineRequest`, and most requests have none
    /// (decision 10).
    private struct Memory: Sendable {
        var adaptation = Adaptation()
        var earlier = EarlierAttempts()
        var cache = CacheUse()
        /// `CacheStep`: the redirected responses to an unsafe request.
        var unsafeHops: UnsafeHops?
        /// `DownloadStep`: the download.
        var download: DownloadSession?
        /// `DownloadAttemptStep`: the destination of the response body.
        var sink: (any ResponseSink)?
        /// `ScheduleStep`: the permit.
        var permit: (any Permit)?
        /// `RedirectStep`: whether a redirect has left the first origin.
        var hasLeftOrigin = false
        /// The scope of an attempt, of a call of `next` by an interceptor, or of a shared transfer.
        var scope: CancellationScope?
        /// `RetryStep`: the time limit of the current attempt.
        var limit: AttemptLimit?
    }

    private var memory: CopyOnWrite<Memory>?

    package init(task: RequestTask, request: TransportRequest) {
        self.task = task
        self.request = request
    }

    /// Creates the first form, in which the request for the wire does not exist yet.
    init(task: RequestTask) { self.init(task: task, request: Self.none) }

    private static let none = TransportRequest(url: HTTPURL())

    package var adaptation: Adaptation {
        get { memory?.value.adaptation ?? Adaptation() }
        set { change { $0.adaptation = newValue } }
    }

    var earlier: EarlierAttempts {
        get { memory?.value.earlier ?? EarlierAttempts() }
        set { change { $0.earlier = newValue } }
    }

    package var cache: CacheUse {
        get { memory?.value.cache ?? CacheUse() }
        set { change { $0.cache = newValue } }
    }

    /// The redirected responses to an unsafe request; `nil` if it invalidates no stored responses.
    var unsafeHops: UnsafeHops? {
        get { memory?.value.unsafeHops }
        set { change { $0.unsafeHops = newValue } }
    }

    /// The download of the request, over all its attempts.
    package var download: DownloadSession? {
        get { memory?.value.download }
        set { change { $0.download = newValue } }
    }

    /// Whether the last attempt has made progress that an attempt after it keeps: new bytes of a download.
    func hasMadeProgress() -> Bool { memory?.value.download?.takeProgress() ?? false }

    /// The destination of the response body; `nil` collects it in memory.
    package var sink: (any ResponseSink)? {
        get { memory?.value.sink }
        set { change { $0.sink = newValue } }
    }

    /// The concurrency permit, if the number of requests is limited.
    package var permit: (any Permit)? {
        get { memory?.value.permit }
        set { change { $0.permit = newValue } }
    }

    /// Whether a redirect has left the first origin; credentials are then no longer added.
    package var hasLeftOrigin: Bool {
        get { memory?.value.hasLeftOrigin ?? false }
        set { change { $0.hasLeftOrigin = newValue } }
    }

    /// The scope that cancels this request: the task's, or that of an attempt with a timeout.
    package var scope: CancellationScope {
        get { memory?.value.scope ?? task.scope }
        set { change { $0.scope = newValue } }
    }

    /// The time limit of the current attempt, if any.
    package var limit: AttemptLimit? {
        get { memory?.value.limit }
        set { change { $0.limit = newValue } }
    }

    private mutating func change(_ change: (inout Memory) -> Void) {
        var own = exchange(&memory, with: nil) ?? CopyOnWrite(Memory())
        own.change(change)
        memory = own
    }

    /// A copy with a change, for the later steps.
    @inline(never)
    func changed(_ change: (inout PipelineRequest) -> Void) -> PipelineRequest {
        var pipelineRequest = self
        change(&pipelineRequest)
        return pipelineRequest
    }

    /// Yielded, not copied: both values are large.
    package var description: RequestDescription { _read { yield task.description } }
    package var configuration: Configuration { _read { yield task.configuration } }

    var hasInterceptors: Bool {
        !task.configuration.interceptors.isEmpty || !task.description.interceptors.isEmpty
    }

    var hasRequestProcessors: Bool {
        !task.configuration.requestProcessors.isEmpty
            || !task.description.requestProcessors.isEmpty
    }

    /// The identity of the cache key: the endpoint's or the configuration's.
    var cacheIdentity: String? {
        task.description.cache.identity ?? task.configuration.cacheIdentity
    }

    /// Waits with the task's clock; throws if the scope is cancelled.
    package func sleep(for duration: Duration) async throws(RequestError) {
        do {
            try await scope.run { [clock = task.clock] in try await clock.sleep(for: duration) }
        } catch {
            throw .cancelled
        }
        try scope.check()
    }

    /// Waits, without holding the permit if the wait is long.
    ///
    /// - Throws: The error of `wait`, or ``RequestError/Code/cancelled`` while waiting for a new permit.
    func pausing(
        _ isLong: Bool, _ wait: () async throws(RequestError) -> Void
    ) async throws(RequestError) {
        if isLong { task.enter(.waiting) }
        guard isLong, let permit else { return try await wait() }
        permit.release()
        try await wait()
        try await permit.acquire(self, again: true)
    }
}

/// Takes a response body in place of memory; called serially on the transport's thread.
package protocol ResponseSink: AnyObject, Sendable {
    /// Called before each hop with its URL.
    func willSend(to url: HTTPURL)

    /// Decides by the final head: true takes the body, false collects it in memory, for example with an error status,
    /// and an error ends the transfer.
    func accept(_ head: ResponseHead) -> Result<Bool, RequestError>

    /// Takes bytes, and reports their progress; an error ends the transfer.
    ///
    /// - Returns: False if the sink needs no more bytes: the transfer then ends as if its body were complete.
    func write(_ bytes: UnsafeRawBufferPointer) -> Result<Bool, RequestError>

    /// Ends an accepted body and returns it, or an error; also called with the transfer's error, so that the sink keeps
    /// or removes the bytes written so far.
    func finish(_ error: RequestError?) -> Result<Response.Body, RequestError>
}

/// Permission to be one of a limited number of requests in progress.
///
/// A step gives the permit back while the request waits for something else, so that other requests can run.
package protocol Permit: AnyObject, Sendable {
    /// Gives the permit back, if it is held.
    func release()

    /// Takes the permit, or waits for it.
    ///
    /// - Parameter again: Whether the request held the permit before: then it keeps its position in the queue.
    func acquire(_ pipelineRequest: PipelineRequest, again: Bool) async throws(RequestError)
}

/// The cache key of a request: made from `cache.arguments` if `AdaptStep` set one, otherwise from the request for the
/// wire; `nil` if the bytes of its body are unknown.
package func cacheKey(for pipelineRequest: PipelineRequest) -> CacheKey? {
    pipelineRequest.adaptation.key
        ?? CacheKeyBuilder.key(
            for: pipelineRequest.request,
            identity: pipelineRequest.description.cache.identity
                ?? pipelineRequest.configuration.cacheIdentity)
}
