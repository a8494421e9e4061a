import ErrandCore

/// The removals of entries from a file that cannot be opened.
struct DelayedRemovals {
    /// Above these numbers, all entries are removed.
    private static let maximumKeys = 10_000
    private static let maximumPredicates = 100
    private var keys: Set<CacheKey> = []
    private var predicates: [@Sendable (StoredEntryInfo) -> Bool] = []
    private var removesAll = false

    /// Adds the removal of all entries.
    mutating func addAll() {
        removesAll = true
        keys = []
        predicates = []
    }

    /// Adds the removal of an entry.
    mutating func add(_ key: CacheKey) {
        guard !removesAll else { return }
        if keys.count < Self.maximumKeys { keys.insert(key) } else { addAll() }
    }

    /// Adds the removal of the entries that match a predicate.
    mutating func add(_ predicate: @escaping @Sendable (StoredEntryInfo) -> Bool) {
        guard !removesAll else { return }
        if predicates.count < Self.maximumPredicates {
            predicates.append(predicate)
        } else {
            addAll()
        }
    }

    /// Removes the entries from the file.
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
