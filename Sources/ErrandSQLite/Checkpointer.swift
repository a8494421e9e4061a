import ErrandSystem

/// Copies the write-ahead log into the database.
///
/// It uses its own queue and its own connection, because a checkpoint waits for the disk. Readers
/// and writers are not blocked meanwhile. If it copies everything, the next write starts the log
/// again. Under steady writes the log has grown meanwhile; a write that no longer fits then copies
/// the rest itself (``LogGate``).
struct Checkpointer: Sendable {
    private let queue = DispatchQueue(label: "errand.store.checkpoint", qos: .utility)

    func run(path: String, vfs: String?) {
        queue.async {
            // If it fails, the write that fills the log reports it.
            let connection = try? SQLiteConnection(path: path, busyMilliseconds: 1000, vfs: vfs)
            try? connection?.execute("PRAGMA wal_checkpoint(PASSIVE)")
        }
    }

    /// Waits for the checkpoints that have begun.
    func waitUntilIdle() { queue.sync {} }
}
