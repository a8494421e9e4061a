import ErrandCore

/// The operations while the file cannot be opened: the entries cached in memory are the store.
extension StoreState {
    mutating func readWithoutFile(_ key: CacheKey) -> StoredResponse? {
        guard let cached = memoryCache.value(for: EntryRow.id(of: key)), cached.key == key else {
            return nil
        }
        return cached.entry
    }

    /// - Throws: The error of the file if the entry does not fit into memory.
    mutating func writeWithoutFile(
        _ entry: StoredResponse, for key: CacheKey, id: Int64, now: Int64
    ) throws(SQLiteFailure) {
        let cached = CachedEntry(key: key, entry: entry, accessed: now)
        memoryCache.remove(id)
        let count = memoryCache.count
        let isKept = memoryCache.insert(cached, for: id, cost: Self.memoryCost(ofSize: entry.size))
        if isKept, let maximum = limits.maximumEntries {
            while memoryCache.count > maximum, let oldest = memoryCache.oldestKey {
                memoryCache.remove(oldest)
            }
        }
        if isKept { evictions += count + 1 - memoryCache.count }
        if !isKept, let failure = unavailability?.failure { throw failure }
    }

    func listWithoutFile(after id: Int64, limit: Int) -> [(Int64, StoredEntryInfo)] {
        memoryCache.all
            .filter { $0.0 > id }
            .sorted { $0.0 < $1.0 }
            .prefix(limit)
            .map { ($0.0, StoredEntryInfo(key: $0.1.key, entry: $0.1.entry)) }
    }

    func usageWithoutFile() -> StoredEntryInfo.Usage {
        StoredEntryInfo.Usage(
            entries: memoryCache.count, bytes: memoryCache.totalCost,
            maximumEntries: limits.maximumEntries, maximumBytes: limits.memoryBytes,
            evictions: evictions)
    }

    /// The key, the header objects and the list node take about 300 bytes more.
    static func memoryCost(ofSize size: Int) -> Int { size + 300 }
}
