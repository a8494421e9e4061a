import ErrandCore
import ErrandSystem

/// The state that the store's lock protects: the connection, the entries cached in memory, and the
/// access times that are not written yet.
struct StoreState {
    struct CachedEntry: Sendable {
        var key: CacheKey
        var entry: StoredResponse
        var accessed: Int64
    }

    /// A file that cannot be opened; memory is used until it can be.
    struct Unavailability {
        var failure: SQLiteFailure
        var retriesAt: ContinuousClock.Instant
    }

    let path: String
    let limits: StoreLimits
    var database: OpenDatabase?
    private(set) var unavailability: Unavailability?
    /// The removals to perform when the file can be opened.
    private var delayedRemovals = DelayedRemovals()
    /// Entries by row number, which hashes faster than the key's text.
    var memoryCache: LRUTable<Int64, CachedEntry>
    /// The data version of the database to which ``memoryCache`` corresponds.
    private var memoryCacheVersion: Int64 = 0
    /// Access times by row number that are not in the database yet.
    var pendingAccessTimes: [Int64: Int64] = [:]
    /// Whether writes may still extend the log.
    var logGate: LogGate
    /// Whether ``problems`` contains the current block of the log.
    var isBlockedLogReported = false
    /// Whether the size of the file was checked since it was opened.
    var isFileChecked = false
    /// Whether ``problems`` contains that the file belongs to another application.
    private var isForeignReported = false
    /// When the log is copied into the database in the background.
    var checkpointDemand = CheckpointDemand()

    /// Whether writing is suspended after a failure of the disk.
    var diskGate: DiskGate
    /// The number of entries that were removed to hold the limits.
    var evictions = 0
    private var reportedEvictions = 0
    /// The time of the next maintenance, in milliseconds since 1970.
    var nextMaintenance: Int64 = .min

    /// Problems with the file, the latest last.
    private(set) var problems: [RequestError] = []
    /// The problems that no event has reported yet.
    private var newProblems: [RequestError] = []
    /// The number of reads that were served from memory.
    private(set) var memoryHits = 0

    init(path: String, limits: StoreLimits) {
        self.path = path
        self.limits = limits
        memoryCache = LRUTable(limit: limits.memoryBytes)
        logGate = LogGate(limits)
        diskGate = DiskGate(limits)
    }

    // MARK: - Opening and replacing

    /// Runs a closure with the database and opens it first if necessary.
    ///
    /// If the file is unusable, it is renamed and replaced by a new one, and the closure runs once
    /// more. If the file cannot be opened, the other closure runs.
    mutating func withDatabase<T>(
        _ body: (inout StoreState, OpenDatabase) throws(SQLiteFailure) -> T,
        orInMemory memory: (inout StoreState) throws(SQLiteFailure) -> T
    ) throws(SQLiteFailure) -> T {
        do throws(SQLiteFailure) {
            guard let database = try opened() else { return try memory(&self) }
            return try body(&self, database)
        } catch  where error.isUnusableFile {
            replaceUnusableFile(error)
            guard let database = try opened() else { return try memory(&self) }
            return try body(&self, database)
        }
    }

    /// The open database; `nil` if it cannot be opened.
    private mutating func opened() throws(SQLiteFailure) -> OpenDatabase? {
        if let database { return database }
        if let unavailability, ContinuousClock.now < unavailability.retriesAt { return nil }
        try? FileManager.default.createDirectory(
            atPath: FilePath.folder(of: path), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let database: OpenDatabase
        do throws(SQLiteFailure) {
            database = try OpenDatabase(
                path: path, logLimit: limits.logBytes, vfs: limits.vfs)
            try delayedRemovals.perform(in: database)
            memoryCacheVersion = try database.dataVersion()
        } catch {
            if error.isForeign { reportForeign(error) }
            if error.isUnusableFile || error.isForeign || error.isBusy && unavailability == nil {
                throw error
            }
            useMemory(after: error)
            return nil
        }
        delayedRemovals = DelayedRemovals()
        if unavailability != nil { memoryCache.removeAll() }
        unavailability = nil
        isFileChecked = false
        nextMaintenance = .min
        // A process that was killed may have left a large log.
        let logBytes = database.logBytes
        checkpointDemand = CheckpointDemand(log: logBytes)
        if logBytes > limits.logBytes { emptyLog(of: database) }
        self.database = database
        return database
    }

    /// Removes all entries from memory, and from the file when it can be opened.
    mutating func removeAllWithoutFile() {
        delayedRemovals.addAll()
        memoryCache.removeAll()
    }

    /// Removes an entry from memory, and from the file when it can be opened.
    mutating func removeWithoutFile(_ key: CacheKey) {
        delayedRemovals.add(key)
        let id = EntryRow.id(of: key)
        if memoryCache.value(for: id)?.key == key { memoryCache.remove(id) }
    }

    /// If the file cannot be opened, removes the entries that match the predicate when it can be.
    mutating func removeLater(
        where predicate: @escaping @Sendable (StoredEntryInfo) -> Bool
    ) throws(SQLiteFailure) {
        try withDatabase { _, _ in
        } orInMemory: { state in
            state.delayedRemovals.add(predicate)
        }
    }

    /// Uses memory instead of the file if another connection prevents for too long that it is
    /// opened; returns false if the file is open.
    mutating func giveUpOpening(_ failure: SQLiteFailure) -> Bool {
        guard database == nil else { return false }
        useMemory(after: failure)
        return true
    }

    private mutating func useMemory(after failure: SQLiteFailure) {
        if unavailability == nil {
            memoryCache.removeAll()
            report(
                "The response store at \(path) cannot be opened: \(failure.message). Until it can "
                    + "be opened, responses are kept in memory only, up to "
                    + "\(limits.memoryBytes) bytes. \(failure.advice)", failure)
        }
        unavailability = Unavailability(
            failure: failure, retriesAt: .now + limits.reopenPause)
    }

    /// Records that the path is that of another application, once.
    private mutating func reportForeign(_ failure: SQLiteFailure) {
        if isForeignReported { return }
        isForeignReported = true
        report(
            "The response store at \(path) cannot be used: \(failure.message). \(failure.advice)",
            failure)
    }

    private mutating func replaceUnusableFile(_ failure: SQLiteFailure) {
        database = nil
        memoryCache.removeAll()
        pendingAccessTimes.removeAll()
        let outcome = BrokenDatabase(path: path, vfs: limits.vfs).moveAway()
        switch outcome {
        case .alreadyReplaced: return
        case .movedTo(let newPath):
            report(
                "The response store at \(path) is unusable: \(failure.message). It was renamed to "
                    + "\(newPath) and replaced by a new one. Delete the renamed file when it is no "
                    + "longer needed.", failure)
        case .failed(let reason):
            useMemory(
                after: SQLiteFailure(
                    code: failure.code,
                    message: "\(failure.message), and it cannot be renamed: \(reason)"))
        }
    }

    /// Records a problem of the file.
    mutating func report(_ message: String, _ failure: SQLiteFailure) {
        let error = RequestError(.storeFailed, stage: .cache, message, underlying: failure)
        problems = problems.suffix(15) + [error]
        newProblems = newProblems.suffix(15) + [error]
    }

    /// The problems that were recorded since the last call.
    mutating func takeNewProblems() -> [RequestError] {
        defer { newProblems = [] }
        return newProblems
    }

    /// The number of evictions since the last call.
    mutating func takeNewEvictions() -> Int {
        defer { reportedEvictions = evictions }
        return evictions - reportedEvictions
    }

    /// Writes what is pending and empties a large log, before the connection is closed.
    mutating func close() {
        writeBackAccesses()
        // If this is the last connection to the file, SQLite empties the log itself.
        if let database, database.logBytes > limits.backgroundBytes { emptyLog(of: database) }
        database = nil
    }

    // MARK: - Reading

    enum Reading: Sendable {
        case entry(StoredResponse)
        /// The body is read in parts; the row number identifies the entry.
        case parts(StoredResponse, BodyParts, id: Int64)
        case none
        /// The entry was damaged and has been deleted.
        case damaged
    }

    /// Reads an entry.
    ///
    /// - Parameter wantsParts: Whether a body in parts is not read.
    mutating func read(
        _ key: CacheKey, wantsParts: Bool = false, now: Int64
    ) throws(SQLiteFailure) -> Reading {
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
            case .parts(let entry, let bodyID, let count, let accessed):
                _ = state.recordAccess(id, last: accessed, now: now)
                if !wantsParts { return try state.readWhole(key, id: id, from: database) }
                guard let body = try database.body(id: bodyID), body.count == count, body.isValid
                else { return try state.removeDamaged(id, from: database) }
                return .parts(entry, body, id: id)
            case .damaged: return try state.removeDamaged(id, from: database)
            case .otherKey, nil: return .none
            }
        } orInMemory: { (state) throws(SQLiteFailure) in
            state.readWithoutFile(key).map { .entry($0) } ?? .none
        }
    }

    mutating func removeDamaged(
        _ id: Int64, from database: OpenDatabase
    ) throws(SQLiteFailure) -> Reading {
        hasRoomForBatch(in: database)
        try database.delete(id: id)
        return .damaged
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

    mutating func cacheInMemory(
        _ entry: StoredResponse, for key: CacheKey, id: Int64, accessed: Int64
    ) {
        guard limits.memoryBytes > 0 else { return }
        let size = entry.size
        // A large entry would evict most others; it is read from the disk instead.
        guard size <= limits.memoryBytes / 4 else {
            memoryCache.remove(id)
            return
        }
        let cached = CachedEntry(key: key, entry: entry, accessed: accessed)
        memoryCache.insert(cached, for: id, cost: Self.memoryCost(ofSize: size))
    }

    private mutating func recordAccess(_ id: Int64, last: Int64, now: Int64) -> Bool {
        // Access times are written rarely and in one transaction: one write for each read would
        // cost more than the read.
        guard now &- last >= limits.accessGranularity else { return false }
        pendingAccessTimes[id] = now
        if pendingAccessTimes.count >= 4096 { writeBackAccesses() }
        return true
    }
}
