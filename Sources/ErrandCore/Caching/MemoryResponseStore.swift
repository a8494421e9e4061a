public import ErrandSystem
import Synchronization

/// A store in memory: for tests, and for responses that must not be written to a disk.
///
/// When the size exceeds a limit, the least recently used entries are removed. For example:
///
///     let agent = RequestAgent(store: MemoryResponseStore(maximumBytes: 4 << 20))
public final class MemoryResponseStore: ResponseStore, EvictionReporting {
    /// The maximum size of all headers and bodies, in bytes.
    public let maximumBytes: Int
    /// The maximum number of entries; `nil` if only the size is limited.
    public let maximumEntries: Int?

    /// Whether any agent stores responses of ``CachePolicy/http`` here.
    package let httpCachePresence = HTTPCachePresence(isUsed: false)

    private struct State {
        var table: LRUTable<CacheKey, StoredResponse>
        var evictions = 0
        /// The number of evictions that ``MemoryResponseStore/takeEvictions()`` has returned.
        var reportedEvictions = 0
    }

    private let state: Mutex<State>
    private let randomKey = DigestKey.random()

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - maximumBytes: The maximum size of all headers and bodies. Default 32 MiB.
    ///   - maximumEntries: The maximum number of entries; 0 and less keeps none. Default `nil`, no limit.
    public init(maximumBytes: Int = 32 << 20, maximumEntries: Int? = nil) {
        self.maximumBytes = max(0, maximumBytes)
        self.maximumEntries = maximumEntries.map { max(0, $0) }
        state = Mutex(State(table: LRUTable(limit: self.maximumBytes)))
    }

    /// The current size of all headers and bodies, in bytes.
    public var totalBytes: Int { state.withLock { $0.table.totalCost } }

    /// The entry of a key, whatever its age.
    public func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? {
        state.withLock { $0.table.value(for: key) }
    }

    /// Stores an entry and replaces the previous one of the key.
    ///
    /// - Throws: ``RequestError/Code/storeFailed`` for an entry larger than ``maximumBytes``.
    public func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
        let size = entry.size
        let isKept = state.withLock { state in
            state.table.remove(key)
            let count = state.table.count
            guard state.table.insert(entry, for: key, cost: size) else { return false }
            if let maximumEntries {
                while state.table.count > maximumEntries, let oldest = state.table.oldestKey {
                    state.table.remove(oldest)
                }
            }
            state.evictions += count + 1 - state.table.count
            return true
        }
        guard isKept else { throw .entryTooLarge(size, limit: maximumBytes) }
    }

    /// Random bytes of this store.
    public func digestKey() async throws(RequestError) -> Data { randomKey }

    package func takeEvictions() -> Int {
        state.withLock { state in
            defer { state.reportedEvictions = state.evictions }
            return state.evictions - state.reportedEvictions
        }
    }

    /// Reads the body into memory and stores the entry.
    ///
    /// - Throws: ``RequestError/Code/storeFailed`` for an entry larger than ``maximumBytes``, whose
    ///   body is not read; the errors of `body`.
    public func store(
        _ entry: StoredResponse, body: StoredResponse.ChunkedBody, for key: CacheKey
    ) async throws(RequestError) {
        guard body.count <= maximumBytes else {
            try await remove(key)
            throw .entryTooLarge(body.count, limit: maximumBytes)
        }
        var entry = entry
        entry.body = try await body.bytes(in: 0..<body.count)
        try await store(entry, for: key)
    }

    /// Removes an entry; does nothing if there is none.
    public func remove(_ key: CacheKey) async throws(RequestError) {
        state.withLock { _ = $0.table.remove(key) }
    }

    /// Removes the entries that match the predicate; `nil` removes all.
    public func removeAll(
        where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
    ) async throws(RequestError) {
        guard let predicate else { return state.withLock { $0.table.removeAll() } }
        // The predicate is caller code: it is called outside the lock.
        let matches = try await entries().filter(predicate)
        state.withLock { state in
            for info in matches { state.table.remove(info.key) }
        }
    }

    /// Removes the entries of a selection at once; returns how many there were.
    @discardableResult
    public func removeAll(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> Int {
        state.withLock { state in
            let matches = Self.entries(of: state.table, matching: selection)
            for info in matches { state.table.remove(info.key) }
            return matches.count
        }
    }

    /// The metadata of all entries, the most recently used first.
    public func entries() async throws(RequestError) -> [StoredEntryInfo] {
        try await entries(matching: .all)
    }

    /// The metadata of the entries of a selection, in any order.
    ///
    /// A selection with keys reads only those entries.
    public func entries(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> [StoredEntryInfo] {
        state.withLock { Self.entries(of: $0.table, matching: selection) }
    }

    private static func entries(
        of table: LRUTable<CacheKey, StoredResponse>, matching selection: StoredEntryInfo.Selection
    ) -> [StoredEntryInfo] {
        let infos =
            if let keys = selection.keys {
                keys.compactMap { key in
                    table.peek(key).map { StoredEntryInfo(key: key, entry: $0) }
                }
            } else {
                table.all.map { key, entry in StoredEntryInfo(key: key, entry: entry) }
            }
        return infos.filter { selection.contains($0) }
    }

    /// The number of entries, the size of their headers and bodies, and the limits.
    public func usage() async throws(RequestError) -> StoredEntryInfo.Usage {
        state.withLock { state in
            StoredEntryInfo.Usage(
                entries: state.table.count, bytes: state.table.totalCost,
                maximumEntries: maximumEntries, maximumBytes: maximumBytes,
                evictions: state.evictions)
        }
    }
}

extension StoredEntryInfo {
    /// Creates the metadata of an entry.
    package init(key: CacheKey, entry: StoredResponse) {
        self.init(
            key: key, url: entry.url, storedAt: entry.storedAt, size: entry.size, tag: entry.tag,
            identity: entry.identity, expiresAt: entry.expiresAt)
    }
}

extension RequestError {
    /// The error of a store for an entry that exceeds its limit.
    package static func entryTooLarge(_ size: Int, limit: Int) -> RequestError {
        RequestError(
            .storeFailed, stage: .cache,
            "The response has \(size) bytes; the store accepts at most \(limit). Raise the store's "
                + "`maximumBytes`, or do not cache this endpoint.")
    }

    /// The error of a response whose user may not be that of its key.
    package static var credentialsChanged: RequestError {
        RequestError(
            .storeFailed, stage: .cache,
            "The response was not stored: the credentials changed while the request was in progress. "
                + "If they belong to the same user, set cacheIdentity.")
    }

    /// The error of a streamed body whose copy was given up.
    package static func streamNotCopied(limit: Int64) -> RequestError {
        RequestError(
            .storeFailed, stage: .cache,
            "The streamed body was not stored: it is larger than maximumBytesInMemory and the store "
                + "allow (\(limit) bytes), or its copy could not be written or read.")
    }
}
