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
        /// Remove all entries and shrink the file, outside the transaction.
        case shrink
    }

    private let cost: RowCost
    private let fileLimit: Int
    private let databaseLimit: Int
    private let spare: Int
    private let batch: Int
    private var checksFile: Bool
    private var canEvict = true
    /// Eviction that has started goes below the limit.
    private var isEvicting = false

    /// - Parameters:
    ///   - cost: The size of the row.
    ///   - checksFile: Whether a file that is too large is shrunk.
    init(_ cost: RowCost, limits: StoreLimits, checksFile: Bool) {
        self.cost = cost
        self.checksFile = checksFile
        fileLimit = limits.fileBytes
        databaseLimit = limits.databaseBytes
        spare = limits.spare
        batch = limits.batchBytes
    }

    /// The next step for these sizes.
    mutating func next(_ sizes: StoreMeasure, gate: LogGate, now: LogGate.Instant) -> Step {
        if checksFile, sizes.file > fileLimit {
            checksFile = false
            return .shrink
        }
        let target = databaseLimit - (isEvicting ? spare : 0)
        let mustEvict = canEvict && sizes.used + cost.database > target
        let adding = mustEvict ? max(batch, cost.log) : cost.log
        switch gate.decide(log: sizes.log, adding: adding, now: now) {
        case .checkpoint: return .checkpoint
        case .refuse: return .refuse
        case .extend: break
        }
        guard mustEvict else { return .write }
        isEvicting = true
        return .evict(bytes: sizes.used + cost.database - (databaseLimit - spare))
    }

    /// Records an eviction; if it removed nothing, the row is written without further ones.
    mutating func evicted(count: Int) {
        if count == 0 { canEvict = false }
    }
}
