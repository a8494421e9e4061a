import ErrandCore
import Foundation
import Synchronization

/// A database file whose entries must not be lost: one connection under a lock, opened at the first use.
///
/// A change is on the disk before ``perform(_:)`` returns. Other stores and other processes may use the file at the
/// same time.
final class SharedDatabase: Sendable {
    /// The absolute path of the file.
    let path: String

    private struct State {
        var connection: SQLiteConnection?
    }

    private let state = Mutex(State())
    private let check: @Sendable (SQLiteConnection) throws(SQLiteFailure) -> Void
    private let prepare: @Sendable (SQLiteConnection) throws(SQLiteFailure) -> Void

    /// - Parameters:
    ///   - path: The path of the file, which need not exist yet.
    ///   - check: Refuses a file, before it is changed. Default: accepts every file.
    ///   - prepare: Creates or migrates the tables.
    init(
        path: String,
        check: @escaping @Sendable (SQLiteConnection) throws(SQLiteFailure) -> Void = { _ in },
        prepare: @escaping @Sendable (SQLiteConnection) throws(SQLiteFailure) -> Void
    ) {
        self.path = URL(fileURLWithPath: path).path
        self.check = check
        self.prepare = prepare
    }

    /// Runs a closure under the lock, and retries for 3 seconds while another process holds the database.
    func perform<T: Sendable>(
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
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let connection = try SQLiteConnection(path: path, busyMilliseconds: 20)
        try check(connection)
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
        try prepare(connection)
        state.connection = connection
        return connection
    }
}
