package import HTTPTypes

/// What one step hands to the next: the request in its present form.
package struct Exchange: Sendable {
    /// What stays the same from start to end of the task.
    package var context: TaskContext
    /// The request for the wire; made by `AdaptStep`, changed by steps behind it.
    package var request: TransportRequest {
        get { sharedRequest.value }
        set { sharedRequest = Shared(newValue) }
    }
    /// The request before the user's processors, from which each further attempt begins; `nil` without processors.
    var serialized: Shared<TransportRequest>?
    /// What is cancelled with this request: the task's scope, or that of one attempt with a limit of its own.
    package var scope: CancellationScope
    /// The number of the present attempt, from 1; 0 before the first.
    package var attempt = 0
    /// Where the body goes; `nil` collects it in memory.
    package var sink: (any ResponseSink)?
    /// The key of the request as `cacheArguments` would have it; `nil` where the request's own holds.
    package var cacheKey: CacheKey?
    /// Headers that belong to the present origin and stay there when a redirect leads elsewhere.
    package var boundHeaders: Set<HTTPField.Name> = []
    /// Whether a redirect has led away from the first address's origin: credentials stay behind for good.
    package var hasLeftOrigin = false
    /// The place among those under way, where places are limited.
    package var place: ScheduledPlace?

    private var sharedRequest: Shared<TransportRequest>

    package init(context: TaskContext, request: TransportRequest) {
        self.init(context: context, Shared(request))
    }

    /// What a task begins with: the request for the wire is yet to be made.
    init(context: TaskContext) { self.init(context: context, Self.none) }

    private init(context: TaskContext, _ request: Shared<TransportRequest>) {
        self.context = context
        scope = context.scope
        sharedRequest = request
    }

    private static let none = Shared(TransportRequest(url: URI()))

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
