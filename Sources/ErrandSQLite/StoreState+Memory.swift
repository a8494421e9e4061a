import ErrandCaching

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
        let isKept = memoryCache.insert(cached, for: id, cost: Self.memoryCost(of: entry))
        if !isKept, let failure = unavailability?.failure { throw failure }
    }

    func listWithoutFile(after id: Int64, limit: Int) -> [(Int64, StoredEntryInfo)] {
        memoryCache.all
            .filter { $0.0 > id }
            .sorted { $0.0 < $1.0 }
            .prefix(limit)
            .map { ($0.0, StoredEntryInfo(key: $0.1.key, entry: $0.1.entry)) }
    }

    /// The key, the header objects and the list node take about 300 bytes more.
    static func memoryCost(of entry: StoredResponse) -> Int { entry.size + 300 }
}

/// The removals of entries from a file that cannot be opened.
struct DelayedRemovals {
    /// Above these numbers, all entries are removed.
    private static let maximumKeys = 10_000
    private static let maximumPredicates = 100
    private var keys: Set<CacheKey> = []
    private var predicates: [@Sendable (StoredEntryInfo) -> Bool] = []
    private var removesAll = false

    /// Adds the removal of an entry, or of all entries.
    mutating func add(_ key: CacheKey?) {
        if let key, !removesAll, keys.count < Self.maximumKeys {
            keys.insert(key)
        } else {
            removesAll = true
            keys = []
            predicates = []
        }
    }

    /// Adds the removal of the entries that match a predicate.
    mutating func add(_ predicate: @escaping @Sendable (StoredEntryInfo) -> Bool) {
        if removesAll || predicates.count == Self.maximumPredicates { return add(nil) }
        predicates.append(predicate)
    }

    func perform(in database: OpenDatabase) throws(SQLiteFailure) {
        if removesAll { return try database.deleteAllAndVacuum() }
        let keys = try keys.union(matches(in: database))
        guard !keys.isEmpty else { return }
        try database.write { () throws(SQLiteFailure) in
            for key in keys { try database.delete(key) }
        }
    }

    /// The keys of the entries that match a predicate.
    private func matches(in database: OpenDatabase) throws(SQLiteFailure) -> [CacheKey] {
        guard !predicates.isEmpty else { return [] }
        var found: [CacheKey] = []
        var last = Int64.min
        while true {
            let page = try database.list(after: last, limit: 500)
            guard let end = page.last?.0 else { return found }
            last = end
            found += page.filter { entry in predicates.contains { $0(entry.1) } }.map(\.1.key)
        }
    }
}
