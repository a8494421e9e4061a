import ErrandCore
import Foundation

/// Everything behind the store's lock: the connection, the memory in front of it, and what is to be
/// written back one day.
struct StoreState {
    private struct Kept: Sendable {
        var key: CacheKey
        var entry: StoredResponse
        var accessed: Int64
    }

    private let path: String
    private let limits: StoreLimits
    private var database: OpenDatabase?
    /// By row number, which hashes faster than the key's text.
    private var front: LRUTable<Int64, Kept>
    /// The database's version when ``front`` was true.
    private var frontVersion: Int64 = 0
    /// Row numbers and times of reads that are not in the database yet.
    private var touches: [Int64: Int64] = [:]
    private var bytesSinceMeasure = 0
    private var bytesSinceCheckpoint = 0

    /// What went wrong with the file, the latest last.
    private(set) var problems: [RequestError] = []
    /// How many reads the memory answered.
    private(set) var memoryHits = 0

    init(path: String, limits: StoreLimits) {
        self.path = path
        self.limits = limits
        front = LRUTable(limit: limits.memoryBytes)
    }

    // MARK: - Opening and mending

    /// Runs something with the database, which is opened for it or, when it turns out to be none or
    /// damaged, set aside and made anew: then it is run once more.
    mutating func withDatabase<T>(
        _ body: (inout StoreState, OpenDatabase) throws(SQLiteFailure) -> T
    ) throws(SQLiteFailure) -> T {
        do throws(SQLiteFailure) {
            return try body(&self, opened())
        } catch  where error.isDamage {
            try replaceBroken(error)
            return try body(&self, opened())
        }
    }

    private mutating func opened() throws(SQLiteFailure) -> OpenDatabase {
        if let database { return database }
        try? FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let database = try OpenDatabase(path: path)
        frontVersion = try database.dataVersion()
        self.database = database
        return database
    }

    private mutating func replaceBroken(_ failure: SQLiteFailure) throws(SQLiteFailure) {
        database = nil
        front.removeAll()
        touches.removeAll()
        let outcome = BrokenDatabase(path: path).setAside()
        switch outcome {
        case .mendedMeanwhile: return
        case .movedTo(let newPath):
            report(
                "The response store at \(path) is unusable: \(failure.message). It is now at "
                    + "\(newPath), and a new one was made; remove it when nobody needs it.", failure
            )
        case .failed(let reason):
            report(
                "The response store at \(path) is unusable: \(failure.message). It could not be "
                    + "moved out of the way: \(reason). Remove it, or give the store another path.",
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
        /// It was there, and was damaged, and is gone.
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
                let isNoted = state.noteAccess(id, last: accessed, now: now)
                state.keep(entry, for: key, id: id, accessed: isNoted ? now : accessed)
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
        guard let kept = front.value(for: id), kept.key == key else { return nil }
        // Only now: a read from the database needs no such question, and what it brings while the
        // version is an old one goes with the rest when somebody asks.
        let version = try database.dataVersion()
        guard version == frontVersion else {
            // Somebody else wrote, here or in another process.
            front.removeAll()
            frontVersion = version
            return nil
        }
        memoryHits += 1
        if noteAccess(id, last: kept.accessed, now: now) {
            keep(kept.entry, for: key, id: id, accessed: now)
        }
        return kept.entry
    }

    private mutating func keep(
        _ entry: StoredResponse, for key: CacheKey, id: Int64, accessed: Int64
    ) {
        // What would push out everything else is better read from the disk.
        guard entry.size <= limits.memoryBytes / 4 else {
            front.remove(id)
            return
        }
        // Some 300 bytes go for the key, the headers' objects and the list.
        let kept = Kept(key: key, entry: entry, accessed: accessed)
        front.insert(kept, for: id, cost: entry.size + 300)
    }

    private mutating func noteAccess(_ id: Int64, last: Int64, now: Int64) -> Bool {
        // Written back rarely and together: a row for every read would cost more than the reads.
        guard now &- last >= limits.accessGranularity else { return false }
        touches[id] = now
        if touches.count >= 4096 { writeBackAccesses() }
        return true
    }

    /// Writes the times of reads down.
    ///
    /// When that fails only the order of eviction suffers.
    mutating func writeBackAccesses() {
        guard !touches.isEmpty, let database else { return }
        let pending = touches
        touches.removeAll()
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
            state.front.remove(id)
            try database.store(entry, for: key, id: id, accessed: now)
            state.touches[id] = nil
            state.keep(entry, for: key, id: id, accessed: now)
            state.bytesSinceCheckpoint += entry.size + 8192
            state.bytesSinceMeasure += entry.size
            if state.bytesSinceMeasure >= state.limits.measureInterval {
                state.bytesSinceMeasure = 0
                try state.evict(from: database)
            }
        }
    }

    /// Whether so much was written that the log should go into the database; asked once.
    mutating func takeCheckpointWish() -> Bool {
        guard bytesSinceCheckpoint >= 4 << 20 else { return false }
        bytesSinceCheckpoint = 0
        return true
    }

    mutating func remove(_ keys: [CacheKey]) throws(SQLiteFailure) {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            for key in keys { state.front.remove(EntryRow.id(of: key)) }
            try database.connection.transaction { () throws(SQLiteFailure) in
                for key in keys { try database.delete(key) }
            }
        }
    }

    mutating func removeAll() throws(SQLiteFailure) {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            state.front.removeAll()
            state.touches.removeAll()
            try database.connection.execute("DELETE FROM entries")
            // Who signs out wants the bytes gone, not only the rows. It waits for nobody: what
            // another process holds up now goes with its own next time.
            try? database.connection.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    // MARK: - Looking around

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

    /// Drops what was not used for the longest until the limit holds with something to spare.
    ///
    /// With up to 256 entries the order is exact. Beyond, each round looks at 256 entries chosen at
    /// random and drops the oldest quarter of them: nearly the same, and it needs no index that
    /// would make every write dearer.
    private mutating func evict(from database: OpenDatabase) throws(SQLiteFailure) {
        guard try database.usedBytes() > limits.bytes else { return }
        writeBackAccesses()
        let target = limits.bytes - limits.spare
        front.removeAll()
        try database.connection.transaction { () throws(SQLiteFailure) in
            while try database.usedBytes() > target {
                var excess = try database.usedBytes() - target
                let sample = try database.sample(256).sorted { $0.accessed < $1.accessed }
                // The newest stays in any case: it was written a moment ago.
                let doomed = sample.prefix(max(1, sample.count / 4)).dropLast(
                    sample.count == 1 ? 1 : 0)
                if doomed.isEmpty { return }
                for row in doomed where excess > 0 {
                    try database.delete(id: row.id)
                    excess -= row.size + 64
                }
            }
        }
    }
}

/// How much of what.
struct StoreLimits: Sendable {
    /// The most bytes of database pages in use.
    var bytes: Int
    /// The most bytes of entries in memory.
    var memoryBytes: Int
    /// Milliseconds; reads within this time of the last noted one are not noted.
    var accessGranularity: Int64 = 60_000

    /// After so many bytes written the size is looked at again.
    var measureInterval: Int { min(64 << 10, bytes / 16) }
    /// How far below the limit eviction goes, so that not every write evicts.
    var spare: Int { min(1 << 20, bytes / 8) }
}
