public import ErrandCore
public import Foundation
import Synchronization

/// Answers in one SQLite database (write-ahead log), with a bounded memory in front of it.
///
/// Several stores, in one process or in several, may share a file; each sees what the others write.
/// An entry is written whole or not at all and survives the death of the process. A file that is no
/// database, belongs to something else or is damaged is renamed to `….broken-1` and made anew;
/// ``problems`` tells.
///
/// Nothing is opened before the first use, and making the directory and the file, readable for
/// their owner only, is left to the store. For example:
///
///     let store = SQLiteResponseStore(url: SQLiteResponseStore.defaultURL(named: "airline"))
///     let agent = RequestAgent(configuration: configuration, store: store)
public final class SQLiteResponseStore: ResponseStore {
    /// Where the database is.
    public let path: String
    /// The most bytes the database uses; the entries not read for the longest go first.
    public let maximumBytes: Int

    private let state: Mutex<StoreState>
    private let checkpointer = Checkpointer()
    private let now: @Sendable () -> Date

    /// Makes a store in a file that need not exist yet.
    ///
    /// Nothing is read or written before the first use.
    ///
    /// - Parameters:
    ///   - maximumBytes: The most bytes the database uses, at least 64 KiB. Default 256 MiB. An entry may
    ///     take half of it.
    ///   - maximumMemoryBytes: The most bytes kept in memory besides; 0 keeps none. Default 8 MiB.
    public convenience init(
        path: String, maximumBytes: Int = 256 << 20, maximumMemoryBytes: Int = 8 << 20
    ) {
        let limits = StoreLimits(
            bytes: max(maximumBytes, 64 << 10), memoryBytes: max(0, maximumMemoryBytes))
        self.init(path: path, limits: limits, now: { Date() })
    }

    /// Makes a store in a file that need not exist yet, as
    /// ``init(path:maximumBytes:maximumMemoryBytes:)``.
    public convenience init(
        url: URL, maximumBytes: Int = 256 << 20, maximumMemoryBytes: Int = 8 << 20
    ) {
        self.init(
            path: url.path, maximumBytes: maximumBytes, maximumMemoryBytes: maximumMemoryBytes)
    }

    init(path: String, limits: StoreLimits, now: @escaping @Sendable () -> Date) {
        // Absolute, so that a later change of directory changes nothing, and so that no name has a
        // special meaning to SQLite.
        self.path = URL(fileURLWithPath: path).path
        self.now = now
        maximumBytes = limits.bytes
        state = Mutex(StoreState(path: self.path, limits: limits))
    }

    deinit { state.withLock { $0.writeBackAccesses() } }

    /// What went wrong with the file itself and was mended or not, the latest last; at most 16.
    public var problems: [RequestError] { state.withLock { $0.problems } }

    /// How many reads were answered from memory.
    var memoryHits: Int { state.withLock { $0.memoryHits } }

    /// The entry of a key, whatever its age; `nil` when there is none.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``; ``RequestError/Code/cacheMiss`` with
    ///   ``CacheMissReason/invalidData`` for a damaged entry, which is gone by then.
    public func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? {
        let now = milliseconds
        let reading = try await perform { (state) throws(SQLiteFailure) in
            try state.read(key, now: now)
        }
        switch reading {
        case .entry(let entry): return entry
        case .none: return nil
        case .damaged:
            throw .cacheMiss(
                .invalidData, "The stored answer was damaged and is gone. Load it again.")
        }
    }

    /// Writes an entry, whole or not at all; it is there for everybody when this returns.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
        guard entry.size <= maximumBytes / 2 else {
            try await remove(key)
            throw .entryTooLarge(entry.size, limit: maximumBytes / 2)
        }
        let now = milliseconds
        let wantsCheckpoint = try await perform { (state) throws(SQLiteFailure) in
            try state.write(entry, for: key, now: now)
            return state.takeCheckpointWish()
        }
        if wantsCheckpoint { checkpointer.run(path: path) }
    }

    /// Removes an entry; nothing happens where there is none.
    public func remove(_ key: CacheKey) async throws(RequestError) {
        try await perform { (state) throws(SQLiteFailure) in try state.remove([key]) }
    }

    /// Removes the entries for which the predicate holds; `nil` removes all, and their bytes from
    /// the disk.
    public func removeAll(
        where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
    ) async throws(RequestError) {
        guard let predicate else {
            return try await perform { (state) throws(SQLiteFailure) in try state.removeAll() }
        }
        try await forEachPage { page throws(RequestError) in
            let doomed = page.filter(predicate).map(\.key)
            guard !doomed.isEmpty else { return }
            try await self.perform { (state) throws(SQLiteFailure) in try state.remove(doomed) }
        }
    }

    /// What is stored, without the bodies, in no particular order.
    public func entries() async throws(RequestError) -> [StoredEntryInfo] {
        var all: [StoredEntryInfo] = []
        try await forEachPage { page throws(RequestError) in all += page }
        return all
    }

    /// How many bytes the database uses.
    public func totalBytes() async throws(RequestError) -> Int {
        try await perform { (state) throws(SQLiteFailure) in try state.usedBytes() }
    }

    private var milliseconds: Int64 {
        let time = now().timeIntervalSince1970 * 1000
        return Int64(exactly: time.rounded()) ?? 0
    }

    /// In pages, so that no reader waits until all is listed.
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

    /// Runs something under the lock, and again while another process holds the database.
    ///
    /// The thread is held for some microseconds: a hop to a queue and back would cost more than the
    /// work itself. For another process it is given back, for up to five seconds in all.
    private func perform<T: Sendable>(
        _ work: (inout StoreState) throws(SQLiteFailure) -> T
    ) async throws(RequestError) -> T {
        var attempt = 0
        while true {
            do throws(SQLiteFailure) {
                return try state.withLock { (state) throws(SQLiteFailure) in try work(&state) }
            } catch {
                guard error.isBusy, attempt < 100, await pause() else {
                    throw error.requestError(path: path)
                }
                attempt += 1
            }
        }
    }

    /// - Returns: False when nobody waits any more.
    private func pause() async -> Bool {
        do {
            try await Task.sleep(for: .milliseconds(30))
            return true
        } catch { return false }
    }
}
