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

    private var sharedRequest: Shared<TransportRequest>

    package init(context: TaskContext, request: TransportRequest) {
        self.context = context
        sharedRequest = Shared(request)
    }

    /// Lent, not copied: these are large.
    package var description: RequestDescription { _read { yield context.description } }
    package var configuration: Configuration { _read { yield context.configuration } }
}
