/// Decides when the log is copied into the database in the background.
///
/// A checkpoint synchronises the files and opens a connection, so that too many of them cost more
/// than the writes. One is due each time the log has grown by a number of bytes since it was
/// started again, or since the last checkpoint that could not copy all of it.
struct CheckpointDemand: Sendable, Equatable {
    private var start = 0
    private var end: Int

    /// - Parameter log: The bytes in the log.
    init(log: Int = 0) { end = log }

    /// Records the bytes in the log after a transaction of any connection.
    mutating func observe(log: Int) {
        // SQLite starts the log again at its beginning after all of it was copied.
        if log < end { start = 0 }
        end = log
    }

    /// Whether the log has grown by more than this number of bytes; counts from here if so.
    mutating func take(above bytes: Int) -> Bool {
        guard end - start > bytes else { return false }
        start = end
        return true
    }
}
