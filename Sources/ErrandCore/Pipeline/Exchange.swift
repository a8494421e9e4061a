package import HTTPTypes

/// What one step hands to the next: the request in its present form.
package struct Exchange: Sendable {
    /// What stays the same from start to end of the task.
    package var context: TaskContext
    /// The request for the wire; made by `AdaptStep`, changed by steps behind it.
    package var request: TransportRequest
    /// The number of the present attempt, from 1; 0 before the first.
    package var attempt = 0

    /// What few requests have, behind one reference: each suspended step keeps an exchange.
    private struct Extras: Sendable {
        var serialized: TransportRequest?
        var scope: CancellationScope?
        var limit: AttemptLimit?
        var sink: (any ResponseSink)?
        var cacheKey: CacheKey?
        var boundHeaders: Set<HTTPField.Name> = []
        var hasLeftOrigin = false
        var place: ScheduledPlace?
        var earlierTimings: [AttemptTimings] = []
        var countingURL: URI?
        var isRevalidation = false
    }

    private var extras: Shared<Extras>?

    package init(context: TaskContext, request: TransportRequest) {
        self.context = context
        self.request = request
    }

    /// What a task begins with: the request for the wire is yet to be made.
    init(context: TaskContext) { self.init(context: context, request: Self.none) }

    private static let none = TransportRequest(url: URI())

    /// The request before the user's processors, from which each further attempt begins; `nil` without processors.
    var serialized: TransportRequest? {
        get { extras?.value.serialized }
        set { change { $0.serialized = newValue } }
    }

    /// What is cancelled with this request: the task's scope, or that of one attempt with a limit of its own.
    package var scope: CancellationScope {
        get { extras?.value.scope ?? context.scope }
        set { change { $0.scope = newValue } }
    }

    /// The limit of the present attempt, where it has one.
    package var limit: AttemptLimit? {
        get { extras?.value.limit }
        set { change { $0.limit = newValue } }
    }

    /// Where the body goes; `nil` collects it in memory.
    package var sink: (any ResponseSink)? {
        get { extras?.value.sink }
        set { change { $0.sink = newValue } }
    }

    /// The key of the request as `cacheArguments` would have it; `nil` where the request's own holds.
    package var cacheKey: CacheKey? {
        get { extras?.value.cacheKey }
        set { change { $0.cacheKey = newValue } }
    }

    /// Headers that belong to the present origin and stay there when a redirect leads elsewhere.
    package var boundHeaders: Set<HTTPField.Name> {
        get { extras?.value.boundHeaders ?? [] }
        set { change { $0.boundHeaders = newValue } }
    }

    /// Whether a redirect has led away from the first address's origin: credentials stay behind for good.
    package var hasLeftOrigin: Bool {
        get { extras?.value.hasLeftOrigin ?? false }
        set { change { $0.hasLeftOrigin = newValue } }
    }

    /// The place among those under way, where places are limited.
    package var place: ScheduledPlace? {
        get { extras?.value.place }
        set { change { $0.place = newValue } }
    }

    /// What the attempts before this one took.
    var earlierTimings: [AttemptTimings] {
        get { extras?.value.earlierTimings ?? [] }
        set { change { $0.earlierTimings = newValue } }
    }

    /// The address as `cacheArguments` would have it; `nil` where the request's own holds.
    var countingURL: URI? {
        get { extras?.value.countingURL }
        set { change { $0.countingURL = newValue } }
    }

    /// Whether the cache put conditions on: then a 304 is an answer.
    var isRevalidation: Bool {
        get { extras?.value.isRevalidation ?? false }
        set { change { $0.isRevalidation = newValue } }
    }

    private mutating func change(_ change: (inout Extras) -> Void) {
        var value = extras?.value ?? Extras()
        change(&value)
        extras = Shared(value)
    }

    /// The same exchange with a change, for the steps behind.
    @inline(never)
    func changed(_ change: (inout Exchange) -> Void) -> Exchange {
        var exchange = self
        change(&exchange)
        return exchange
    }

    /// Lent, not copied: these are large.
    package var description: RequestDescription { _read { yield context.description } }
    package var configuration: Configuration { _read { yield context.configuration } }

    /// Waits by the task's clock.
    package func sleep(for duration: Duration) async throws(RequestError) {
        do {
            try await scope.run { [clock = context.clock] in try await clock.sleep(for: duration) }
        } catch {
            throw .cancelled
        }
        try scope.check()
    }
}
