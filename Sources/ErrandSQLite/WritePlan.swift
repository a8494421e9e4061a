/// The steps of one write: what must happen before the row fits into the limits of the store.
///
/// Each step is decided in a write transaction, from sizes that no other connection can change
/// meanwhile. The limits therefore hold for all connections together.
struct WritePlan: Sendable, Equatable {
    /// What to do next.
    enum Step: Sendable, Equatable {
        /// Write the row; the last step.
        case write
        /// Empty the log, outside the transaction.
        case checkpoint
        /// Fail: the log is blocked.
        case refuse
        /// Remove the least recently read entries of about this size.
        case evict(bytes: Int)
        /// Remove this number of the least recently read entries.
        case evictEntries(Int)
        /// Remove all entries and shrink the file, outside the transaction.
        case shrink
    }

    private let cost: RowCost
    private let fileLimit: Int
    private let databaseLimit: Int
    private let spare: Int
    private let batch: Int
    /// The maximum number of entries, if the row is a new entry and there is a maximum.
    private let maximumEntries: Int?
    private let spareEntries: Int
    private var checksFile: Bool
    private var canEvict = true
    /// Eviction that has started goes below the limit.
    private var isEvicting = false

    /// - Parameters:
    ///   - cost: The size of the row.
    ///   - checksFile: Whether a file that is too large is shrunk.
    ///   - isEntry: False for a part of a body, which does not count as an entry.
    init(_ cost: RowCost, limits: StoreLimits, checksFile: Bool, isEntry: Bool = true) {
        self.cost = cost
        self.checksFile = checksFile
        fileLimit = limits.fileBytes
        databaseLimit = limits.databaseBytes
        spare = limits.spare
        batch = limits.batchBytes
        maximumEntries = isEntry ? limits.maximumEntries : nil
        spareEntries = limits.spareEntries
    }

    /// The next step for these sizes.
    mutating func next(
        _ sizes: StoreMeasure, gate: LogGate, now: @autoclosure () -> LogGate.Instant
    ) -> Step {
        if checksFile, sizes.file > fileLimit {
            checksFile = false
            return .shrink
        }
        let target = databaseLimit - (isEvicting ? spare : 0)
        let mustEvictBytes = canEvict && sizes.used + cost.database > target
        let hasTooMany = maximumEntries.map { sizes.otherEntries >= $0 } ?? false
        let mustEvict = mustEvictBytes || canEvict && hasTooMany
        let adding = mustEvict ? max(batch, cost.log) : cost.log
        switch gate.decide(log: sizes.log, adding: adding, now: now()) {
        case .checkpoint: return .checkpoint
        case .refuse: return .refuse
        case .extend: break
        }
        guard mustEvict else { return .write }
        guard mustEvictBytes else {
            return .evictEntries(sizes.otherEntries + 1 - (maximumEntries ?? 0) + spareEntries)
        }
        isEvicting = true
        return .evict(bytes: sizes.used + cost.database - (databaseLimit - spare))
    }

    /// Records an eviction; if it removed nothing, the row is written without further ones.
    mutating func evicted(count: Int) {
        if count == 0 { canEvict = false }
    }
}
