import Dispatch

/// Copies the write-ahead log into the database.
///
/// It uses its own queue and its own connection, because a checkpoint waits for the disk. Readers
/// and writers are not blocked meanwhile.
struct Checkpointer: Sendable {
    private let queue = DispatchQueue(label: "errand.store.checkpoint", qos: .utility)

    func run(path: String) {
        queue.async {
            // If the checkpoint fails, the log grows until the next one.
            let connection = try? SQLiteConnection(path: path, busyMilliseconds: 1000)
            try? connection?.execute("PRAGMA wal_checkpoint(PASSIVE)")
        }
    }
}
