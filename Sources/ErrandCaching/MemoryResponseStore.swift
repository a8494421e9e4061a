import Synchronization

/// A store in memory: for tests, and for responses that must not be written to a disk.
///
/// When the size exceeds the limit, the least recently used entries are removed. For example:
///
///     let agent = RequestAgent(store: MemoryResponseStore(maximumBytes: 4 << 20))
public final class MemoryResponseStore: ResponseStore {
    /// The maximum size of all headers and bodies, in bytes.
    public let maximumBytes: Int

    /// Whether any agent stores responses of ``CachePolicy/http`` here.
    package let httpCachePresence = HTTPCachePresence(isUsed: false)

    private let table: Mutex<LRUTable<CacheKey, StoredResponse>>

    /// Creates an empty store.
    ///
    /// - Parameter maximumBytes: The maximum size of all headers and bodies. Default 32 MiB.
    public init(maximumBytes: Int = 32 << 20) {
        self.maximumBytes = max(0, maximumBytes)
        table = Mutex(LRUTable(limit: self.maximumBytes))
    }

    /// The current size of all headers and bodies, in bytes.
    public var totalBytes: Int { table.withLock { $0.totalCost } }

    /// The entry of a key, whatever its age.
    public func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? {
        table.withLock { $0.value(for: key) }
    }

    /// Stores an entry and replaces the previous one of the key.
    ///
    /// - Throws: ``RequestError/Code/storeFailed`` for an entry larger than ``maximumBytes``.
    public func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
        let isKept = table.withLock { $0.insert(entry, for: key, cost: entry.size) }
        guard isKept else { throw .entryTooLarge(entry.size, limit: maximumBytes) }
    }

    /// Removes an entry; does nothing if there is none.
    public func remove(_ key: CacheKey) async throws(RequestError) {
        table.withLock { _ = $0.remove(key) }
    }

    /// Removes the entries that match the predicate; `nil` removes all.
    public func removeAll(
        where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
    ) async throws(RequestError) {
        guard let predicate else { return table.withLock { $0.removeAll() } }
        // The predicate is caller code: it is called outside the lock.
        let matches = try await entries().filter(predicate)
        table.withLock { table in
            for info in matches { table.remove(info.key) }
        }
    }

    /// The metadata of all entries, the most recently used first.
    public func entries() async throws(RequestError) -> [StoredEntryInfo] {
        table.withLock { $0.all }.map { key, entry in StoredEntryInfo(key: key, entry: entry) }
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
}
