public import ErrandCore
public import ErrandSystem
import Synchronization

/// Stores responses in a SQLite database with a write-ahead log, and caches some of them in memory.
///
/// Several stores, in one process or in several, may share a file; each sees the writes of the
/// others. Writes are atomic and survive a crash of the process. Bodies above 1 MiB are stored and
/// read in parts of up to 256 KiB (``open(_:)``). Entries are found by key, URL prefix, tag,
/// identity and age with indexes.
///
/// A file that is damaged or is not a database is renamed to `….broken-1` and replaced by a new
/// one. The database of another application is not changed: every operation throws
/// ``RequestError/Code/storeFailed``, and requests go to the network. While a file cannot be opened, because its path is a
/// directory or cannot be written, or was written by a newer version, entries are kept in memory
/// only. After a write to a full or failing disk, storing fails for a pause of 1 s, and after each
/// further failure for twice as long, up to 60 s; reads and removals continue. ``problems``
/// contains the reasons, and the event `storeProblem` reports each of them once.
///
/// Nothing is opened before the first use. The store creates the directory and the file, readable
/// for their owner only. For example:
///
///     let store = SQLiteResponseStore(url: SQLiteResponseStore.defaultURL(named: "airline"))
///     let agent = RequestAgent(configuration: configuration, store: store)
public final class SQLiteResponseStore: ResponseStore, EvictionReporting {
    /// The absolute path of the database file.
    public let path: String
    /// The maximum size of the database file and its write-ahead log together, in bytes.
    ///
    /// It holds at every moment and for all connections of all processes, plus the size of the
    /// largest entry, of which at most 1 MiB counts, and 128 KiB. Unfinished bodies count. The least
    /// recently read entries are removed first. A file that was written with a higher limit is
    /// emptied by the first write. The log's file keeps its size, up to a quarter of the limit and
    /// 16 MiB, until the store is closed or many entries are removed. If another connection never
    /// ends a read transaction, the log cannot be emptied: once it is full, storing fails until
    /// that transaction has ended. Removals are performed even then.
    public let maximumBytes: Int

    /// The maximum number of entries; `nil` if only the size is limited.
    public var maximumEntries: Int? { limits.maximumEntries }

    /// The largest body that is written and read in parts: half of ``maximumBytes``.
    public var maximumBytesInParts: Int? { maximumBytes / 2 }

    let limits: StoreLimits
    private let state: Mutex<StoreState>
    private let checkpointer = Checkpointer()
    private let now: @Sendable () -> Date
    private let locked = Atomic(0)

    /// Creates a store in a file that need not exist yet.
    ///
    /// Nothing is read or written before the first use.
    ///
    /// - Parameters:
    ///   - path: The path of the database file.
    ///   - maximumBytes: The maximum size of the database and its log, at least 64 KiB. Default 256
    ///     MiB. One entry may use half of it. All stores of a file should have the same limit.
    ///   - maximumMemoryBytes: The maximum size of the entries cached in memory, also while the
    ///     file cannot be opened; 0 caches none. Default 8 MiB.
    ///   - maximumEntries: The maximum number of entries, at least 1. The least recently read
    ///     entries are removed first. Default `nil`, no limit.
    ///   - keepsExpired: How long an entry is kept after its ``StoredResponse/expiresAt``, for
    ///     revalidation and for use without a network. Later writes remove it in small steps, up to
    ///     a day later. Default 7 days; `nil` keeps entries until the limits remove them.
    public convenience init(
        path: String, maximumBytes: Int = 256 << 20, maximumMemoryBytes: Int = 8 << 20,
        maximumEntries: Int? = nil, keepsExpired: Duration? = .seconds(7 * 86_400)
    ) {
        var limits = StoreLimits(
            bytes: max(maximumBytes, 64 << 10), memoryBytes: max(0, maximumMemoryBytes))
        limits.maximumEntries = maximumEntries.map { max(1, $0) }
        limits.keepsExpired = keepsExpired.map { Double($0.components.seconds) }
        self.init(path: path, limits: limits, now: { Date() })
    }

    /// Creates a store like
    /// ``init(path:maximumBytes:maximumMemoryBytes:maximumEntries:keepsExpired:)``, from a file URL.
    public convenience init(
        url: URL, maximumBytes: Int = 256 << 20, maximumMemoryBytes: Int = 8 << 20,
        maximumEntries: Int? = nil, keepsExpired: Duration? = .seconds(7 * 86_400)
    ) {
        self.init(
            path: url.path, maximumBytes: maximumBytes, maximumMemoryBytes: maximumMemoryBytes,
            maximumEntries: maximumEntries, keepsExpired: keepsExpired)
    }

    init(path: String, limits: StoreLimits, now: @escaping @Sendable () -> Date) {
        // An absolute path is independent of the working directory, and has no special meaning to
        // SQLite as ":memory:" has.
        self.path = URL(fileURLWithPath: path).path
        self.now = now
        self.limits = limits
        maximumBytes = limits.bytes
        state = Mutex(StoreState(path: self.path, limits: limits))
    }

    deinit {
        // The connection of a running checkpoint would keep `close()` from emptying the log.
        checkpointer.waitUntilIdle()
        state.withLock { $0.close() }
    }

    /// The last 16 problems with the file itself; the latest last.
    ///
    /// A file was replaced, cannot be opened, or has a log that cannot be emptied. The event
    /// `storeProblem` reports each of them once.
    public var problems: [RequestError] { state.withLock { $0.problems } }

    /// The problems since the last call; ``problems`` keeps them.
    public func takeProblems() -> [RequestError] { state.withLock { $0.takeNewProblems() } }

    package func takeEvictions() -> Int { state.withLock { $0.takeNewEvictions() } }

    /// The number of reads that were served from memory.
    var memoryHits: Int { state.withLock { $0.memoryHits } }

    /// The number of attempts that failed because another connection held the lock.
    var lockedAttempts: Int { locked.load(ordering: .relaxed) }

    /// The entry of a key, whatever its age; `nil` if there is none.
    ///
    /// A body in parts is read into memory; ``open(_:)`` does not.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``; ``RequestError/Code/cacheMiss`` with
    ///   ``RequestError/CacheMissReason/invalidData`` for a damaged entry, which has been deleted.
    public func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? {
        let now = milliseconds
        let reading = try await perform { (state) throws(SQLiteFailure) in
            try state.read(key, now: now)
        }
        switch reading {
        case .entry(let entry), .parts(let entry, _, _): return entry
        case .none: return nil
        case .damaged: throw Self.damaged
        }
    }

    static var damaged: RequestError {
        .cacheMiss(.invalidData, "The stored response was damaged and was deleted. Load it again.")
    }

    /// Writes an entry atomically; all stores over the file see it when this returns.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``, also while the log cannot be emptied, and for
    ///   an entry larger than half of ``maximumBytes``; then the previous entry of the key has
    ///   been removed.
    public func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
        guard entry.size <= maximumBytes / 2 else {
            try await remove(key)
            throw .entryTooLarge(entry.size, limit: maximumBytes / 2)
        }
        guard entry.body.count <= limits.partsThreshold else {
            return try await store(entry, body: .init(entry.body), for: key)
        }
        let now = milliseconds
        try await perform { (state) throws(SQLiteFailure) in
            try state.write(entry, for: key, now: now)
        }
    }

    /// Removes an entry; does nothing if there is none.
    public func remove(_ key: CacheKey) async throws(RequestError) {
        let hasLeftParts = try await perform { (state) throws(SQLiteFailure) in
            try state.remove([key])
        }
        if hasLeftParts { await sweep() }
    }

    /// Removes the entries that match the predicate; `nil` removes all and shrinks the file.
    ///
    /// While the file cannot be opened, the entries in memory are removed at once, and those of the
    /// file as soon as it can be opened; the predicate is kept until then.
    public func removeAll(
        where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
    ) async throws(RequestError) {
        guard let predicate else {
            return try await perform { (state) throws(SQLiteFailure) in try state.removeAll() }
        }
        try await perform { (state) throws(SQLiteFailure) in
            try state.removeLater(where: predicate)
        }
        try await forEachPage { page throws(RequestError) in
            for batch in self.limits.removalBatches(of: page.filter(predicate)) {
                _ = try await self.perform { (state) throws(SQLiteFailure) in
                    try state.remove(batch)
                }
            }
        }
        await sweep()
        await shrink()
    }

    /// Releases the entries that are cached in memory; those in the file stay.
    ///
    /// While the file cannot be opened, the entries in memory are the only ones, and are removed.
    public func emptyMemory() { state.withLock { $0.memoryCache.removeAll() } }

    /// The metadata of all entries, in no particular order.
    public func entries() async throws(RequestError) -> [StoredEntryInfo] {
        var all: [StoredEntryInfo] = []
        try await forEachPage { page throws(RequestError) in all += page }
        return all
    }

    /// The metadata of the entries of a selection, in no particular order.
    ///
    /// Keys, URL prefix, tag other than 0, identity and both ages are found with an index.
    public func entries(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> [StoredEntryInfo] {
        if selection == .all { return try await entries() }
        var all: [StoredEntryInfo] = []
        try await forEachPage(of: selection) { page throws(RequestError) in all += page }
        return all
    }

    /// Removes the entries of a selection, found as by ``entries(matching:)``; returns how many
    /// there were.
    ///
    /// The file shrinks afterwards. While the file cannot be opened, the selection is kept as by
    /// ``removeAll(where:)``, and the entries in memory are counted.
    @discardableResult
    public func removeAll(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> Int {
        if selection == .all {
            let count = try await usage().entries
            try await removeAll(where: nil)
            return count
        }
        try await perform { (state) throws(SQLiteFailure) in
            try state.removeLater { selection.contains($0) }
        }
        var count = 0
        try await forEachPage(of: selection) { page throws(RequestError) in
            for batch in self.limits.removalBatches(of: page) {
                count += try await self.perform { (state) throws(SQLiteFailure) in
                    try state.remove(batch, matching: selection)
                }
            }
        }
        await sweep()
        await shrink()
        return count
    }

    /// The number of entries, the bytes of the pages in use, and the limits, in constant time.
    ///
    /// The bytes contain neither free pages nor the log; see ``totalBytes()``. While the file
    /// cannot be opened, they are those of the entries in memory.
    public func usage() async throws(RequestError) -> StoredEntryInfo.Usage {
        try await perform { (state) throws(SQLiteFailure) in try state.usage() }
    }

    /// The size of the database file and its log in bytes.
    public func totalBytes() async throws(RequestError) -> Int {
        try await perform { (state) throws(SQLiteFailure) in try state.totalBytes() }
    }

    /// The time of the store's clock, in milliseconds since 1970.
    var milliseconds: Int64 {
        let time = now().timeIntervalSince1970 * 1000
        return Int64(exactly: time.rounded()) ?? 0
    }

    /// Lists the entries in pages, so that other readers need not wait for the whole list.
    private func forEachPage(
        _ body: ([StoredEntryInfo]) async throws(RequestError) -> Void
    ) async throws(RequestError) {
        var last = Int64.min
        while true {
            let id = last
            let page = try await perform { (state) throws(SQLiteFailure) in
                try state.list(after: id, limit: 500)
            }
            guard let end = page.last?.0 else { return }
            last = end
            try await body(page.map(\.1))
            await Task.yield()
        }
    }

    /// Reads the entries of a selection in pages.
    private func forEachPage(
        of selection: StoredEntryInfo.Selection,
        _ body: ([StoredEntryInfo]) async throws(RequestError) -> Void
    ) async throws(RequestError) {
        let found = try await perform { (state) throws(SQLiteFailure) in
            try state.candidates(selection)
        }
        guard let found else {
            let infos = try await perform { (state) throws(SQLiteFailure) in
                state.infosWithoutFile(matching: selection)
            }
            return try await body(infos)
        }
        var rest = found[...]
        while !rest.isEmpty {
            let ids = rest.prefix(200)
            rest = rest.dropFirst(200)
            let page = try await perform { (state) throws(SQLiteFailure) in
                try state.infos(of: ids, matching: selection)
            }
            try await body(page)
            await Task.yield()
        }
    }

    /// Removes the parts that removed entries have left, in short transactions.
    ///
    /// Errors are ignored: the entries are removed, and later writes continue.
    func sweep() async {
        let now = milliseconds
        await repeatStep { (state) throws(SQLiteFailure) in try state.sweep(now: now) }
    }

    /// Shrinks the file, in short transactions.
    private func shrink() async {
        let spare = limits.spare
        await repeatStep { (state) throws(SQLiteFailure) in try state.shrink(keeping: spare) }
    }

    private func repeatStep(
        _ step: (inout StoreState) throws(SQLiteFailure) -> StoreState.Progress
    ) async {
        var busy = 0
        do throws(RequestError) {
            while true {
                switch try await perform(step) {
                case .done, .blocked: return
                case .more:
                    busy = 0
                    await Task.yield()
                case .busy:
                    // For example, the checkpointer copies the log.
                    busy += 1
                    guard busy <= limits.busyAttempts, await pause() else { return }
                }
            }
        } catch { return }
    }

    /// Runs a closure under the lock, and retries while another process holds the database.
    ///
    /// The work blocks its thread for some microseconds, because switching to a queue and back
    /// would cost more than the work. Between retries the task sleeps: 30 ms each, at most 100
    /// times. If the file could not be opened for so long, memory is used instead.
    func perform<T: Sendable>(
        _ work: (inout StoreState) throws(SQLiteFailure) -> T
    ) async throws(RequestError) -> T {
        var attempt = 0
        while true {
            do throws(SQLiteFailure) {
                let (result, wantsCheckpoint) = try state.withLock {
                    (state) throws(SQLiteFailure) in
                    (try work(&state), state.takeCheckpointRequest())
                }
                if wantsCheckpoint { checkpointer.run(path: path, vfs: limits.vfs) }
                return result
            } catch {
                guard error.isBusy else { throw error.requestError(path: path) }
                locked.add(1, ordering: .relaxed)
                if attempt < limits.busyAttempts {
                    guard await pause() else { throw error.requestError(path: path) }
                } else if !state.withLock({ $0.giveUpOpening(error) }) {
                    throw error.requestError(path: path)
                }
                attempt += 1
            }
        }
    }

    /// - Returns: False if the calling task was cancelled.
    private func pause() async -> Bool {
        do {
            try await Task.sleep(for: .milliseconds(30))
            return true
        } catch { return false }
    }
}
