public import ErrandSystem
import ErrandTransport
import Synchronization

extension RequestAgent {
    /// The use of the cache by this agent since its creation, and the size of its store.
    public struct CacheStatistics: Sendable, Hashable {
        /// The number of fresh stored responses that were used.
        public var freshHits: Int
        /// The number of stale stored responses that were used.
        public var staleHits: Int
        /// The number of stored responses that the server has confirmed with 304.
        ///
        /// Each of them is a miss of the reason ``RequestError/CacheMissReason/expired`` as well, because the network was used.
        public var revalidatedHits: Int
        /// The number of lookups without a usable response, by reason; reasons without a lookup are absent.
        ///
        /// Requests without a cache time are not counted.
        public var misses: [CacheMissReason: Int]
        /// The number of responses that were stored.
        public var stores: Int
        /// The number of responses that could not be stored.
        public var storeFailures: Int
        /// The entries, bytes and evictions of the store; `nil` without a store.
        public var usage: StoredEntryInfo.Usage?

        /// The number of stored responses that were used without the network, as a fraction of all lookups; `nil`
        /// without a lookup.
        public var hitRate: Double? {
            let hits = freshHits + staleHits
            let all = hits + misses.values.reduce(0, +)
            return all == 0 ? nil : Double(hits) / Double(all)
        }
    }

    /// The use of the cache since the agent was created, and the size of the store.
    ///
    /// Counts are kept without listeners as well. The agents of a shared store count separately, and have one usage.
    ///
    /// - Throws: ``RequestError/Code/storeFailed`` if the store cannot report its size.
    public func cacheStatistics() async throws(RequestError) -> CacheStatistics {
        let values = writes.counters.values
        var usage: StoredEntryInfo.Usage?
        if let store { usage = try await store.usage() }
        return CacheStatistics(
            freshHits: values.fresh, staleHits: values.stale, revalidatedHits: values.revalidated,
            misses: values.misses, stores: values.stores, storeFailures: values.storeFailures,
            usage: usage)
    }

    /// Removes the stored responses of a selection, and returns how many the store had.
    ///
    ///     try await agent.clearCache(where: .init(tag: 7))
    ///
    /// Pending writes of the selection are discarded. Responses of requests that started before this call are delivered,
    /// but not stored if they belong to the selection. Requests that start later find none of the removed responses.
    ///
    /// - Throws: ``RequestError/Code/storeFailed`` if the store cannot remove its entries.
    @discardableResult
    public func clearCache(
        where selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> Int {
        guard let store else { return 0 }
        let ticket = TaskID.ticket(of: TaskID.next())
        return try await writes.clear(selection, in: store, before: ticket)
    }

    /// The key under which the response of a request is stored; `nil` if the request has none.
    ///
    /// The request is built and passes the interceptors, as in a start, and is not sent: credentials and the cache
    /// identity are parts of the key. With ``CachePolicy/http`` it is the key of the URL; if the response has `Vary`,
    /// the entry of that key is an index, and the variants have keys of their own. `nil` for a download, for a body of
    /// unknown bytes, and if ``CachePolicy/http`` does not store the request.
    ///
    /// - Throws: The errors that a request ends with before anything is sent.
    public func cacheKey(
        for description: RequestDescription
    ) async throws(RequestError) -> CacheKey? {
        guard !description.isDownload else { return nil }
        let found = Found<CacheKey>()
        try await withStoredEntry(of: description) { [cache] request throws(RequestError) in
            found.set(try await cache.entry(of: request)?.key)
        }
        return found.value
    }

    /// The stored response that a start without the network would use; `nil` if there is none.
    ///
    /// Lookup, validation and processors are those of a start with ``CachePolicy/cacheOnly``, or with `only-if-cached`
    /// under ``CachePolicy/http``; ``RequestDescription/CacheOptions/maximumStaleness`` applies. Interceptors run, since they may
    /// change the request and with it the key. Nothing is sent, no task is created, and no event is emitted.
    ///
    /// - Throws: The errors that a request ends with before anything is sent; ``RequestError/Code/storeFailed`` if the
    ///   store cannot be read; the errors of processors.
    public func cachedResponse(
        for description: RequestDescription
    ) async throws(RequestError) -> Response? {
        try await cachedOutcome(of: description)?.result.get()
    }

    /// The stored response and its typed output; `nil` if there is no usable response.
    package func cachedOutcome(
        of description: RequestDescription
    ) async throws(RequestError) -> TaskOutcome? {
        let task = storedOperation(description, looksUp: true)
        do throws(RequestError) {
            let stored = try await Self.perform(in: task) {
                [cache] request throws(RequestError) in try await cache.lookUp(request)
            }
            let refined = try await ProcessStep.refine(
                stored, of: PipelineRequest(task: task))
            return TaskOutcome(result: .success(refined.response), output: refined.output)
        } catch {
            guard error.code == .cacheMiss else { throw error }
            return nil
        }
    }

    /// Stores a response by hand, as if the request had received it now.
    ///
    /// The key, the identity and the credentials are those of a start, so another user does not get it. The response is
    /// validated first, and passes ``Configuration/responseToStore``. Returns when it is in the store.
    ///
    /// - Throws: The errors that a request ends with before anything is sent; those of validation;
    ///   ``RequestError/Code/invalidCombination`` for a request without a cache time, and for a response that
    ///   ``CachePolicy/http`` or ``Configuration/responseToStore`` does not store; ``RequestError/Code/storeFailed``.
    public func store(
        _ response: Response, for description: RequestDescription
    ) async throws(RequestError) {
        try await withStoredEntry(of: description) { [cache] request throws(RequestError) in
            try await cache.store(response, for: request)
        }
    }

    /// Stores bytes by hand as a response with status 200, as ``store(_:for:)-(Response,RequestDescription)`` does.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - contentType: The field `Content-Type`. Default `application/json`.
    ///   - description: The request.
    /// - Throws: As ``store(_:for:)-(Response,RequestDescription)``.
    public func store(
        _ data: Data, contentType: String = "application/json", for description: RequestDescription
    ) async throws(RequestError) {
        try await withStoredEntry(of: description) { [cache] request throws(RequestError) in
            let response = Response(
                status: .ok, headers: [.contentType: contentType], body: .data(data),
                url: request.request.url)
            try await cache.store(response, for: request)
        }
    }

    /// Removes the stored response of a request; does nothing if there is none.
    ///
    /// The key is that of ``cacheKey(for:)-(RequestDescription)``; variants of ``CachePolicy/http`` are not found any more. A pending write
    /// of an earlier request is replaced; a request in progress can still store its response.
    ///
    /// - Throws: The errors that a request ends with before anything is sent; ``RequestError/Code/storeFailed``.
    public func removeCached(_ description: RequestDescription) async throws(RequestError) {
        try await withStoredEntry(of: description) { [cache] request throws(RequestError) in
            guard let (key, entries) = try await cache.entry(of: request) else { return }
            if let error = await entries.writes.write(.remove, for: key, in: entries.store) {
                throw error
            }
        }
    }

    private var cache: CacheStep { pipeline.cache }

    /// The task of an operation on stored responses; it emits no events.
    private func storedOperation(
        _ description: RequestDescription, looksUp: Bool
    ) -> RequestTask {
        var configuration = configuration
        configuration.eventListeners = []
        var description = description
        description.prepare(by: configuration)
        if looksUp {
            let policy = description.cache.policy ?? configuration.cachePolicy
            description.cache.policy =
                policy == .http || policy == .httpThenLoad ? .http : .cacheOnly
            description.ignoresCache = false
        }
        description.isStreamed = false
        return RequestTask(
            id: TaskID.next(), description: description,
            configuration: SharedConfiguration(configuration), services: services)
    }

    /// Runs an operation that needs no response.
    private func withStoredEntry(
        of description: RequestDescription,
        _ operation: @escaping StoredOperationStep.Operation<Void>
    ) async throws(RequestError) {
        // Interceptors need a response: they get the error of a request without a stored one.
        let failure = Found<RequestError>()
        let isDone = Found<Bool>()
        do throws(RequestError) {
            _ = try await Self.perform(in: storedOperation(description, looksUp: false)) {
                request throws(RequestError) in
                do throws(RequestError) {
                    try await operation(request)
                    isDone.set(true)
                } catch {
                    failure.set(error)
                    throw error
                }
                throw .cacheMiss(.noEntry)
            }
        } catch {
            if let failure = failure.value { throw failure }
            if isDone.value != true { throw error }
        }
    }

    /// Builds the request, passes it through the interceptors and performs the operation with it.
    private static func perform(
        in task: RequestTask, _ operation: @escaping StoredOperationStep.Operation<Response>
    ) async throws(RequestError) -> Response {
        let steps = Next([AdaptStep(), InterceptStep(), StoredOperationStep(operation)])
        return try await task.perform { (pipelineRequest) throws(RequestError) in
            try await steps(pipelineRequest)
        }
    }
}

/// Performs an operation on stored responses in place of the steps that use the network.
private final class StoredOperationStep: Step {
    typealias Operation<Value> = @Sendable (PipelineRequest) async throws(RequestError) -> Value

    private let operation: Operation<Response>

    init(_ operation: @escaping Operation<Response>) { self.operation = operation }

    nonisolated(nonsending) func run(
        _ pipelineRequest: PipelineRequest, next: Next
    ) async throws(RequestError) -> Response {
        try await operation(pipelineRequest)
    }
}

/// A value that an operation finds inside the interceptors.
private final class Found<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    var value: Value? { state.withLock { $0 } }

    func set(_ value: Value?) { state.withLock { $0 = value } }
}
