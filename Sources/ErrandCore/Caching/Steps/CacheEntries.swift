import ErrandSystem
import ErrandTransport

/// A response store together with the writes that are queued for it.
struct CacheEntries: Sendable {
    let store: any ResponseStore
    let writes: PendingCacheWrites
    /// The number of the request: `RequestAgent.clearCache()` discards writes of earlier requests.
    let ticket: UInt64
    /// The store's key for digests, if the keys of the request contain some.
    private var digestKey: Data?

    init(store: any ResponseStore, writes: PendingCacheWrites, ticket: UInt64) {
        self.store = store
        self.writes = writes
        self.ticket = ticket
    }

    /// Reads the store's key for digests, which is read once for all requests.
    mutating func loadDigestKey() async { digestKey = await writes.digestKey(of: store) }

    /// The key of the entry of a request, with its credentials unless it has a cache identity.
    func key(_ key: CacheKey, of pipelineRequest: PipelineRequest) -> CacheKey {
        let credentials = pipelineRequest.cache.credentials
        return self.key(
            key, credentials: pipelineRequest.cacheIdentity == nil ? credentials?.digest : nil)
    }

    /// The key of an entry with the digest of credentials.
    func key(_ key: CacheKey, credentials: String?) -> CacheKey {
        key.stored(credentials: credentials, digestKey: digestKey ?? DigestKey.ofProcess)
    }

    /// The entry of a key at any age, including queued writes.
    ///
    /// A large body is read in parts if the request is streamed and `isWhole` is false.
    func read(
        _ key: CacheKey, _ task: RequestTask, isWhole: Bool = false
    ) async throws(RequestError) -> StoredResponse? {
        let isInParts = task.description.isStreamed && !isWhole
        let reading = writes.reading(of: key)
        switch reading {
        case .entry(let entry): return isInParts ? entry : try await entry.whole()
        case .removed: return nil
        case .unknown, .unknownExcept:
            defer { emitProblems(task) }
            let entry =
                isInParts ? try await store.entryInParts(for: key) : try await store.entry(for: key)
            guard let entry, case .unknownExcept(let selections) = reading else { return entry }
            let info = StoredEntryInfo(key: key, entry: entry)
            return selections.contains { $0.contains(info) } ? nil : entry
        }
    }

    /// Counts and reports the use of a stored response.
    func hit(age: Duration, _ source: Response.Source, _ task: RequestTask) {
        writes.counters.hit(source)
        task.emit(.cacheHit(age: age, source: source))
    }

    /// Counts and reports a lookup without a usable response.
    func missed(_ reason: CacheMissReason, _ task: RequestTask) {
        writes.counters.miss(reason)
        task.keep(cacheMiss: reason)
        task.emit(.cacheMiss(reason))
    }

    /// The response that the closures of the configuration and the endpoint let the store have; `nil` if they refuse.
    ///
    /// The URL is that of the original one. A streamed response was checked at its head, and is not changed.
    func responseToStore(_ response: Response, _ pipelineRequest: PipelineRequest) -> Response? {
        pipelineRequest.description.isStreamed ? response : apply(pipelineRequest, to: response)
    }

    private func apply(_ pipelineRequest: PipelineRequest, to response: Response) -> Response? {
        let closures = [
            pipelineRequest.configuration.responseToStore,
            pipelineRequest.description.cache.transform,
        ].compactMap(\.self)
        guard !closures.isEmpty else { return response }
        var chosen = response
        for closure in closures {
            guard let next = closure(chosen) else {
                pipelineRequest.task.emit(.cacheNotStored(.refusedByClosure))
                return nil
            }
            chosen = next
        }
        chosen.url = response.url
        return chosen
    }

    private func emitProblems(_ task: RequestTask) {
        guard task.isObserved else { return }
        for problem in store.takeProblems() { task.emit(.storeProblem(problem)) }
    }

    private func emitEvictions(_ task: RequestTask) {
        guard task.isObserved, let store = store as? any EvictionReporting else { return }
        let count = store.takeEvictions()
        if count > 0 { task.emit(.cacheEvicted(entries: count)) }
    }

    /// Queues the removal of an entry; from now on, reads do not find it.
    func remove(_ key: CacheKey) { writes.enqueue(.remove, for: key, in: store) }

    /// Reports that a response is not stored, because it may belong to another user than its key.
    func refuse(_ pipelineRequest: PipelineRequest) {
        pipelineRequest.task.emit(.cacheWriteFailed(.credentialsChanged))
    }

    /// Calls a closure with the complete response: at once, or when a streamed body has been read to its end.
    ///
    /// A streamed body is copied to a file while it is read.
    func whenComplete(
        _ response: Response, _ pipelineRequest: PipelineRequest,
        _ store: @escaping @Sendable (Response) async -> Void
    ) async {
        // The closures get the head of a streamed body, which they can refuse: the body is then not copied.
        if pipelineRequest.description.isStreamed,
            apply(pipelineRequest, to: response.withoutStream()) == nil
        {
            return
        }
        guard let channel = response.channel else { return await store(response) }
        let limit = max(
            pipelineRequest.request.options.maximumBytesInMemory,
            Int64(self.store.maximumBytesInParts ?? 0))
        let copy = SpooledCopy(limit: limit)
        channel.copy(to: copy)
        channel.beforeEnd { [head = response.withoutStream()] in
            guard let complete = head.completed(by: copy) else {
                return pipelineRequest.task.emit(
                    .cacheWriteFailed(.streamNotCopied(limit: limit)))
            }
            await store(complete)
        }
    }

    /// Queues a write without emitting an event.
    func put(_ entry: StoredResponse, for key: CacheKey) {
        writes.enqueue(.store(entry), for: key, in: store, ticket: ticket)
    }

    /// Writes an entry, queued or before this returns (`cache.writesAsynchronously`), and emits the result.
    func write(_ entry: StoredResponse, for key: CacheKey, _ pipelineRequest: PipelineRequest) async
    {
        let task = pipelineRequest.task
        let report: @Sendable (RequestError?) -> Void = { failure in
            emitProblems(task)
            writes.counters.stored(isSuccess: failure == nil)
            task.emit(failure.map { .cacheWriteFailed($0) } ?? .cacheStored(bytes: entry.size))
            emitEvictions(task)
        }
        if pipelineRequest.description.cache.writesAsynchronously {
            let hasRoom = writes.enqueue(
                .store(entry), for: key, in: store, ticket: ticket, onEnd: report)
            if !hasRoom { await writes.flush() }
        } else {
            report(await writes.write(.store(entry), for: key, in: store, ticket: ticket))
        }
    }

    /// Calls a closure that writes or removes the entry of which a response was made: at once, or after the last part
    /// of a large body, because the closure removes the parts that the reader gets.
    func whenRead(
        _ response: Response, _ change: @escaping @Sendable () async -> Void
    ) async {
        guard let body = response.stream as? StoredResponse.LargeBody else { return await change() }
        body.afterLastPart(change)
    }
}

extension CacheRules {
    /// The rules of a request.
    ///
    /// - Parameter task: Its description and its configuration are read in place: a copy of both costs more than the
    ///   rules.
    package init(_ task: RequestTask) {
        let own = task.description.hasRareMembers ? task.description.cache : nil
        let policy =
            if let policy = own?.policy { policy } else { task.configuration.cachePolicy }
        let identity =
            if let identity = own?.identity { identity } else {
                task.configuration.cacheIdentity
            }
        self.init(
            policy: policy == .httpThenLoad ? .http : policy,
            cacheSeconds: task.description.cacheSeconds,
            cacheVersion: task.description.cacheVersion,
            appVersion: task.configuration.appVersion, identity: identity,
            ignoresCache: task.description.ignoresCache,
            isDownload: task.description.isDownload, maximumStaleness: own?.maximumStaleness)
    }
}
