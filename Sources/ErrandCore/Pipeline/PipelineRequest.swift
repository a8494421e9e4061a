// Performance annotations: decisions 10 and 17.

package import ErrandTransport
package import HTTPTypes

/// The current form of a request, which each step passes to the next.
package struct PipelineRequest: Sendable {
    /// The parts that stay the same for the whole task.
    package var context: TaskContext
    /// The request for the wire; made by `AdaptStep`, changed by later steps.
    package var request: TransportRequest
    /// The number of the current attempt, from 1; 0 before the first.
    package var attempt = 0

    /// Rarely used members in a box, because each suspended step holds a `PipelineRequest` (decision 10).
    private struct Extras: Sendable {
        var serialized: TransportRequest?
        var scope: CancellationScope?
        var limit: AttemptLimit?
        var sink: (any ResponseSink)?
        var cacheKey: CacheKey?
        var boundHeaders: Set<HTTPField.Name> = []
        var hasLeftOrigin = false
        var permit: (any Permit)?
        var earlierTimings: [AttemptTimings] = []
        var cacheURL: HTTPURL?
        var isRevalidation = false
        var keyRequest: TransportRequest?
        var earlierErrors: [RequestError] = []
        var credentials: AddedCredentials?
        var redirects: CachedRedirects?
        var download: DownloadSession?
        var attemptsBeforeProgress = 0
    }

    private var extras: Shared<Extras>?

    package init(context: TaskContext, request: TransportRequest) {
        self.context = context
        self.request = request
    }

    /// Creates the first form, in which the request for the wire does not exist yet.
    init(context: TaskContext) { self.init(context: context, request: Self.none) }

    private static let none = TransportRequest(url: HTTPURL())

    /// The request before the processors, from which each further attempt starts; `nil` without processors.
    var serialized: TransportRequest? {
        get { extras?.value.serialized }
        set { change { $0.serialized = newValue } }
    }

    /// The scope that cancels this request: the task's, or that of an attempt with a timeout.
    package var scope: CancellationScope {
        get { extras?.value.scope ?? context.scope }
        set { change { $0.scope = newValue } }
    }

    /// The time limit of the current attempt, if any.
    package var limit: AttemptLimit? {
        get { extras?.value.limit }
        set { change { $0.limit = newValue } }
    }

    /// The destination of the response body; `nil` collects it in memory.
    package var sink: (any ResponseSink)? {
        get { extras?.value.sink }
        set { change { $0.sink = newValue } }
    }

    /// The cache key made from `cache.arguments`; `nil` uses the request's own.
    package var cacheKey: CacheKey? {
        get { extras?.value.cacheKey }
        set { change { $0.cacheKey = newValue } }
    }

    /// Headers for the current origin only; a redirect to another origin removes them.
    package var boundHeaders: Set<HTTPField.Name> {
        get { extras?.value.boundHeaders ?? [] }
        set { change { $0.boundHeaders = newValue } }
    }

    /// Whether a redirect has left the first origin; credentials are then no longer added.
    package var hasLeftOrigin: Bool {
        get { extras?.value.hasLeftOrigin ?? false }
        set { change { $0.hasLeftOrigin = newValue } }
    }

    /// The concurrency permit, if the number of requests is limited.
    package var permit: (any Permit)? {
        get { extras?.value.permit }
        set { change { $0.permit = newValue } }
    }

    /// The timings of the earlier attempts.
    var earlierTimings: [AttemptTimings] {
        get { extras?.value.earlierTimings ?? [] }
        set { change { $0.earlierTimings = newValue } }
    }

    /// The URL made from `cache.arguments`; `nil` uses the request's own.
    var cacheURL: HTTPURL? {
        get { extras?.value.cacheURL }
        set { change { $0.cacheURL = newValue } }
    }

    /// Whether the cache made this a conditional request, so that a 304 is valid.
    var isRevalidation: Bool {
        get { extras?.value.isRevalidation ?? false }
        set { change { $0.isRevalidation = newValue } }
    }

    /// The request from which the cache key was made; `nil` without key or interceptors.
    var keyRequest: TransportRequest? {
        get { extras?.value.keyRequest }
        set { change { $0.keyRequest = newValue } }
    }

    /// The errors of the earlier attempts.
    var earlierErrors: [RequestError] {
        get { extras?.value.earlierErrors ?? [] }
        set { change { $0.earlierErrors = newValue } }
    }

    /// The record of the credentials that steps add; `nil` if no key depends on them.
    var credentials: AddedCredentials? {
        get { extras?.value.credentials }
        set { change { $0.credentials = newValue } }
    }

    /// The redirect that the cache has stored, or wants to store; `nil` if the request bypasses the store.
    var redirects: CachedRedirects? {
        get { extras?.value.redirects }
        set { change { $0.redirects = newValue } }
    }

    /// The download of the request, over all its attempts.
    package var download: DownloadSession? {
        get { extras?.value.download }
        set { change { $0.download = newValue } }
    }

    /// The number of attempts before the last one that has received new bytes of a download.
    var attemptsBeforeProgress: Int {
        get { extras?.value.attemptsBeforeProgress ?? 0 }
        set { change { $0.attemptsBeforeProgress = newValue } }
    }

    private mutating func change(_ change: (inout Extras) -> Void) {
        var value = extras?.value ?? Extras()
        change(&value)
        extras = Shared(value)
    }

    /// A copy with a change, for the later steps.
    @inline(never)
    func changed(_ change: (inout PipelineRequest) -> Void) -> PipelineRequest {
        var pipelineRequest = self
        change(&pipelineRequest)
        return pipelineRequest
    }

    /// Yielded, not copied: both values are large.
    package var description: RequestDescription { _read { yield context.description } }
    package var configuration: Configuration { _read { yield context.configuration } }

    var hasInterceptors: Bool {
        !context.configuration.interceptors.isEmpty || !context.description.interceptors.isEmpty
    }

    var hasRequestProcessors: Bool {
        !context.configuration.requestProcessors.isEmpty
            || !context.description.requestProcessors.isEmpty
    }

    /// The identity of the cache key: the endpoint's or the configuration's.
    var cacheIdentity: String? {
        context.description.cache.identity ?? context.configuration.cacheIdentity
    }

    /// Waits with the task's clock; throws if the scope is cancelled.
    package func sleep(for duration: Duration) async throws(RequestError) {
        do {
            try await scope.run { [clock = context.clock] in try await clock.sleep(for: duration) }
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
        if isLong { context.enter(.waiting) }
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
