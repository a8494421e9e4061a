import Dispatch

/// Moves the write-ahead log into the database.
///
/// On a thread of its own and over a connection of its own, because this is the one thing that
/// waits for the disk. Readers and writers go on meanwhile.
struct Checkpointer: Sendable {
    private let queue = DispatchQueue(label: "errand.store.checkpoint", qos: .utility)

    func run(path: String) {
        queue.async {
            // When it fails, the log grows until the next time.
            let connection = try? SQLiteConnection(path: path, busyMilliseconds: 1000)
            try? connection?.execute("PRAGMA wal_checkpoint(PASSIVE)")
        }
    }
}
