import ErrandCore
import ErrandSystem
import Synchronization

/// A database file whose entries must not be lost: one connection under a lock, opened at the first use.
///
/// A change is on the disk before ``perform(_:)`` returns. Other stores and other processes may use the file at the
/// same time.
package final class SharedDatabase: Sendable {
    /// The absolute path of the file.
    package let path: String

    private struct State {
        var connection: SQLiteConnection?
    }

    private let state = Mutex(State())
    private let format: any DatabaseFormat

    /// - Parameters:
    ///   - path: The path of the file, which need not exist yet.
    ///   - format: The marks of the file, and its tables.
    package init(path: String, format: any DatabaseFormat) {
        self.path = URL(fileURLWithPath: path).path
        self.format = format
    }

    /// Runs a closure under the lock, and retries for 3 seconds while another process holds the database.
    package func perform<T: Sendable>(
        _ work: (SQLiteConnection) throws(SQLiteFailure) -> T
    ) async throws(SQLiteFailure) -> T {
        var attempt = 0
        while true {
            do throws(SQLiteFailure) {
                return try state.withLock { (state) throws(SQLiteFailure) in
                    try work(opened(&state))
                }
            } catch {
                guard error.isBusy, attempt < 100,
                    (try? await Task.sleep(for: .milliseconds(30))) != nil
                else { throw error }
                attempt += 1
            }
        }
    }

    private func opened(_ state: inout State) throws(SQLiteFailure) -> SQLiteConnection {
        if let connection = state.connection { return connection }
        try? FileManager.default.createDirectory(
            atPath: FilePath.folder(of: path), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let connection = try SQLiteConnection(path: path, busyMilliseconds: 20)
        try format.check(connection)
        chmod(path, 0o600)
        // FULL: a change also survives a loss of power.
        try connection.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            PRAGMA mmap_size = 0;
            PRAGMA trusted_schema = OFF;
            PRAGMA secure_delete = ON;
            """)
        try format.prepare(connection)
        state.connection = connection
        return connection
    }
}
