import Synchronization

/// A store that lives as long as the process: for tests, and for answers that must not touch a
/// disk.
///
/// When the bytes exceed the limit, what was not read for the longest goes. For example:
///
///     let agent = RequestAgent(store: MemoryResponseStore(maximumBytes: 4 << 20))
public final class MemoryResponseStore: ResponseStore {
    /// The most bytes of headers and bodies that are kept.
    public let maximumBytes: Int

    /// Whether any agent keeps answers by RFC 9111 here.
    package let use = CacheUse(isUsed: false)

    private let table: Mutex<LRUTable<CacheKey, StoredResponse>>

    /// Makes an empty store.
    ///
    /// - Parameter maximumBytes: The most bytes of headers and bodies. Default 32 MiB.
    public init(maximumBytes: Int = 32 << 20) {
        self.maximumBytes = max(0, maximumBytes)
        table = Mutex(LRUTable(limit: self.maximumBytes))
    }

    /// The bytes of headers and bodies that are kept now.
    public var totalBytes: Int { table.withLock { $0.totalCost } }

    /// The entry of a key, whatever its age.
    public func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? {
        table.withLock { $0.value(for: key) }
    }

    /// Keeps an entry in place of the one that is there.
    ///
    /// - Throws: ``RequestError/Code/storeFailed`` for an entry larger than the whole store.
    public func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
        let isKept = table.withLock { $0.insert(entry, for: key, cost: entry.size) }
        guard isKept else { throw .entryTooLarge(entry.size, limit: maximumBytes) }
    }

    /// Removes an entry.
    public func remove(_ key: CacheKey) async throws(RequestError) {
        table.withLock { _ = $0.remove(key) }
    }

    /// Removes the entries for which the predicate holds; `nil` removes all.
    public func removeAll(
        where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
    ) async throws(RequestError) {
        guard let predicate else { return table.withLock { $0.removeAll() } }
        // The predicate is foreign code: it is asked outside the lock.
        let doomed = try await entries().filter(predicate)
        table.withLock { table in
            for info in doomed { table.remove(info.key) }
        }
    }

    /// What is kept, the newest first.
    public func entries() async throws(RequestError) -> [StoredEntryInfo] {
        table.withLock { $0.all }.map { key, entry in StoredEntryInfo(key: key, entry: entry) }
    }
}

extension StoredEntryInfo {
    /// What is known of an entry.
    package init(key: CacheKey, entry: StoredResponse) {
        self.init(
            key: key, url: entry.url, storedAt: entry.storedAt, size: entry.size, tag: entry.tag,
            identity: entry.identity)
    }
}

extension RequestError {
    /// What every store says of an entry that is larger than itself.
    package static func entryTooLarge(_ size: Int, limit: Int) -> RequestError {
        RequestError(
            .storeFailed, stage: .cache,
            "The answer has \(size) bytes and the store takes \(limit) in all. Raise the store's "
                + "`maximumBytes`, or do not cache this endpoint.")
    }
}
