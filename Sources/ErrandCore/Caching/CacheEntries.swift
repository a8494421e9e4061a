/// A response store together with the writes that are queued for it.
struct CacheEntries: Sendable {
    let store: any ResponseStore
    let writes: PendingCacheWrites

    /// The entry of a key at any age, including queued writes.
    func read(_ key: CacheKey) async throws(RequestError) -> StoredResponse? {
        switch writes.reading(of: key) {
        case .entry(let entry): entry
        case .removed: nil
        case .unknown: try await store.entry(for: key)
        }
    }

    /// Queues the removal of an entry; from now on, reads do not find it.
    func remove(_ key: CacheKey) { writes.enqueue(.remove, for: key, in: store) }

    /// Queues a write without emitting an event.
    func put(_ entry: StoredResponse, for key: CacheKey) {
        writes.enqueue(.store(entry), for: key, in: store)
    }

    /// Writes an entry, queued or before this returns (`writesCacheAsynchronously`), and emits the result.
    func write(_ entry: StoredResponse, for key: CacheKey, _ pipelineRequest: PipelineRequest) async
    {
        let context = pipelineRequest.context
        let report: @Sendable (RequestError?) -> Void = { failure in
            context.emit(failure.map { .cacheWriteFailed($0) } ?? .cacheStored(bytes: entry.size))
        }
        if pipelineRequest.description.writesCacheAsynchronously {
            let hasRoom = writes.enqueue(.store(entry), for: key, in: store, onEnd: report)
            if !hasRoom { await writes.flush() }
        } else {
            report(await writes.write(.store(entry), for: key, in: store))
        }
    }
}

extension CacheRules {
    package init(_ description: RequestDescription, _ configuration: Configuration) {
        self.init(
            policy: description.cachePolicy ?? configuration.cachePolicy,
            cacheSeconds: description.cacheSeconds, cacheVersion: description.cacheVersion,
            appVersion: configuration.appVersion,
            identity: description.cacheIdentity ?? configuration.cacheIdentity,
            ignoresCache: description.ignoresCache, isDownload: description.download != nil)
    }
}
