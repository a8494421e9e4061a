import ErrandCaching
import Foundation

/// The state that the store's lock protects: the connection, the entries cached in memory, and the
/// access times that are not written yet.
struct StoreState {
    private struct CachedEntry: Sendable {
        var key: CacheKey
        var entry: StoredResponse
        var accessed: Int64
    }

    private let path: String
    private let limits: StoreLimits
    private var database: OpenDatabase?
    /// Entries by row number, which hashes faster than the key's text.
    private var memoryCache: LRUTable<Int64, CachedEntry>
    /// The data version of the database to which ``memoryCache`` corresponds.
    private var memoryCacheVersion: Int64 = 0
    /// Access times by row number that are not in the database yet.
    private var pendingAccessTimes: [Int64: Int64] = [:]
    private var bytesSinceSizeCheck = 0
    private var bytesSinceCheckpoint = 0

    /// Problems with the file, the latest last.
    private(set) var problems: [RequestError] = []
    /// The number of reads that were served from memory.
    private(set) var memoryHits = 0

    init(path: String, limits: StoreLimits) {
        self.path = path
        self.limits = limits
        memoryCache = LRUTable(limit: limits.memoryBytes)
    }

    // MARK: - Opening and replacing

    /// Runs a closure with the database and opens it first if necessary.
    ///
    /// If the file is unusable, it is renamed and replaced by a new one, and the closure runs once more.
    mutating func withDatabase<T>(
        _ body: (inout StoreState, OpenDatabase) throws(SQLiteFailure) -> T
    ) throws(SQLiteFailure) -> T {
        do throws(SQLiteFailure) {
            return try body(&self, opened())
        } catch  where error.isUnusableFile {
            try replaceUnusableFile(error)
            return try body(&self, opened())
        }
    }

    private mutating func opened() throws(SQLiteFailure) -> OpenDatabase {
        if let database { return database }
        try? FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let database = try OpenDatabase(path: path)
        memoryCacheVersion = try database.dataVersion()
        self.database = database
        return database
    }

    private mutating func replaceUnusableFile(_ failure: SQLiteFailure) throws(SQLiteFailure) {
        database = nil
        memoryCache.removeAll()
        pendingAccessTimes.removeAll()
        let outcome = BrokenDatabase(path: path).moveAway()
        switch outcome {
        case .alreadyReplaced: return
        case .movedTo(let newPath):
            report(
                "The response store at \(path) is unusable: \(failure.message). It was renamed to "
                    + "\(newPath) and replaced by a new one. Delete the renamed file when it is no "
                    + "longer needed.", failure)
        case .failed(let reason):
            report(
                "The response store at \(path) is unusable: \(failure.message). It could not be "
                    + "renamed: \(reason). Delete it, or give the store another path.",
                failure)
            throw failure
        }
    }

    private mutating func report(_ message: String, _ failure: SQLiteFailure) {
        let error = RequestError(.storeFailed, stage: .cache, message, underlying: failure)
        problems = problems.suffix(15) + [error]
    }

    // MARK: - Reading

    enum Reading: Sendable {
        case entry(StoredResponse)
        case none
        /// The entry was damaged and has been deleted.
        case damaged
    }

    mutating func read(_ key: CacheKey, now: Int64) throws(SQLiteFailure) -> Reading {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            let id = EntryRow.id(of: key)
            if let entry = try state.readFromMemory(key, id: id, database, now: now) {
                return .entry(entry)
            }
            switch try database.entry(for: key, id: id) {
            case .entry(let entry, let accessed):
                let isRecorded = state.recordAccess(id, last: accessed, now: now)
                state.cacheInMemory(entry, for: key, id: id, accessed: isRecorded ? now : accessed)
                return .entry(entry)
            case .damaged:
                try database.delete(id: id)
                return .damaged
            case .otherKey, nil:
                return .none
            }
        }
    }

    private mutating func readFromMemory(
        _ key: CacheKey, id: Int64, _ database: OpenDatabase, now: Int64
    ) throws(SQLiteFailure) -> StoredResponse? {
        guard let cached = memoryCache.value(for: id), cached.key == key else { return nil }
        // The version is checked only for reads from memory: a read from the database is current.
        // Entries that were read from the database under an old version are removed here, too.
        let version = try database.dataVersion()
        guard version == memoryCacheVersion else {
            // Another connection has written, in this process or in another.
            memoryCache.removeAll()
            memoryCacheVersion = version
            return nil
        }
        memoryHits += 1
        if recordAccess(id, last: cached.accessed, now: now) {
            cacheInMemory(cached.entry, for: key, id: id, accessed: now)
        }
        return cached.entry
    }

    private mutating func cacheInMemory(
        _ entry: StoredResponse, for key: CacheKey, id: Int64, accessed: Int64
    ) {
        // A large entry would evict most others; it is read from the disk instead.
        guard entry.size <= limits.memoryBytes / 4 else {
            memoryCache.remove(id)
            return
        }
        // The key, the header objects and the list node take about 300 bytes more.
        let cached = CachedEntry(key: key, entry: entry, accessed: accessed)
        memoryCache.insert(cached, for: id, cost: entry.size + 300)
    }

    private mutating func recordAccess(_ id: Int64, last: Int64, now: Int64) -> Bool {
        // Access times are written rarely and in one transaction: one write for each read would
        // cost more than the read.
        guard now &- last >= limits.accessGranularity else { return false }
        pendingAccessTimes[id] = now
        if pendingAccessTimes.count >= 4096 { writeBackAccesses() }
        return true
    }

    /// Writes the pending access times to the database.
    ///
    /// Errors are ignored: they affect only the order of eviction.
    mutating func writeBackAccesses() {
        guard !pendingAccessTimes.isEmpty, let database else { return }
        let pending = pendingAccessTimes
        pendingAccessTimes.removeAll()
        try? database.connection.transaction { () throws(SQLiteFailure) in
            for (id, time) in pending { try database.setAccessed(time, id: id) }
        }
    }

    // MARK: - Writing

    mutating func write(
        _ entry: StoredResponse, for key: CacheKey, now: Int64
    ) throws(SQLiteFailure) {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            let id = EntryRow.id(of: key)
            state.memoryCache.remove(id)
            try database.store(entry, for: key, id: id, accessed: now)
            state.pendingAccessTimes[id] = nil
            state.cacheInMemory(entry, for: key, id: id, accessed: now)
            state.bytesSinceCheckpoint += entry.size + 8192
            state.bytesSinceSizeCheck += entry.size
            if state.bytesSinceSizeCheck >= state.limits.sizeCheckInterval {
                state.bytesSinceSizeCheck = 0
                try state.evict(from: database)
            }
        }
    }

    /// Whether 4 MiB were written since the last checkpoint; resets the count if so.
    mutating func takeCheckpointRequest() -> Bool {
        guard bytesSinceCheckpoint >= 4 << 20 else { return false }
        bytesSinceCheckpoint = 0
        return true
    }

    mutating func remove(_ keys: [CacheKey]) throws(SQLiteFailure) {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            for key in keys { state.memoryCache.remove(EntryRow.id(of: key)) }
            try database.connection.transaction { () throws(SQLiteFailure) in
                for key in keys { try database.delete(key) }
            }
        }
    }

    mutating func removeAll() throws(SQLiteFailure) {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            state.memoryCache.removeAll()
            state.pendingAccessTimes.removeAll()
            try database.connection.execute("DELETE FROM entries")
            // Also removes the bytes from the disk, for example when a user signs out. If another
            // process holds the database now, they remain until a later VACUUM or overwrite.
            try? database.connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    // MARK: - Size and eviction

    mutating func usedBytes() throws(SQLiteFailure) -> Int {
        try withDatabase { (_, database) throws(SQLiteFailure) in try database.usedBytes() }
    }

    mutating func list(after id: Int64, limit: Int) throws(SQLiteFailure) -> [(
        Int64, StoredEntryInfo
    )] {
        try withDatabase { (_, database) throws(SQLiteFailure) in
            try database.list(after: id, limit: limit)
        }
    }

    /// Removes the least recently read entries until the size is below the limit minus `spare`.
    ///
    /// With up to 256 entries the order is exact. With more, each round samples 256 entries at
    /// random and removes the oldest quarter of them. That is approximately LRU and needs no index,
    /// which would slow down every write.
    private mutating func evict(from database: OpenDatabase) throws(SQLiteFailure) {
        guard try database.usedBytes() > limits.bytes else { return }
        writeBackAccesses()
        let target = limits.bytes - limits.spare
        memoryCache.removeAll()
        try database.connection.transaction { () throws(SQLiteFailure) in
            while try database.usedBytes() > target {
                var excess = try database.usedBytes() - target
                let sample = try database.sample(256).sorted { $0.accessed < $1.accessed }
                // Never remove the last entry: it has just been written.
                let victims = sample.prefix(max(1, sample.count / 4)).dropLast(
                    sample.count == 1 ? 1 : 0)
                if victims.isEmpty { return }
                for row in victims where excess > 0 {
                    try database.delete(id: row.id)
                    excess -= row.size + 64
                }
            }
        }
    }
}

/// The size limits of a store and the intervals derived from them.
struct StoreLimits: Sendable {
    /// The maximum size of the database pages in use, in bytes.
    var bytes: Int
    /// The maximum size of the entries in memory, in bytes.
    var memoryBytes: Int
    /// The minimum time between two recorded reads of an entry, in milliseconds.
    var accessGranularity: Int64 = 60_000

    /// The number of written bytes after which the size is checked again.
    var sizeCheckInterval: Int { min(64 << 10, bytes / 16) }
    /// How far below the limit eviction goes, in bytes, so that not every write evicts.
    var spare: Int { min(1 << 20, bytes / 8) }
}
