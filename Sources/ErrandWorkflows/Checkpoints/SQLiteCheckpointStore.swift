public import ErrandCore
import ErrandSQLite
public import ErrandSystem

/// Stores checkpoints in a SQLite database.
///
///     let store = SQLiteCheckpointStore(path: folder + "/chains.sqlite")
///
/// A checkpoint is on the disk before ``save(_:replacing:)`` returns, and also survives a loss of power. Outputs
/// that have not changed since the previous checkpoint are not written again. Only the owner of the file can read
/// it. A file that is damaged, belongs to another application or was written by a newer version is an error and is
/// not changed. Several stores may use one file at the same time, also in different processes.
public final class SQLiteCheckpointStore: CheckpointStore {
    private let database: SharedDatabase

    /// Creates a store in a file that need not exist yet; nothing is opened before the first use.
    public init(path: String) {
        database = SharedDatabase(path: path, format: CheckpointFormat())
    }

    /// The absolute path of the database file.
    public var path: String { database.path }

    /// The checkpoint of a chain; `nil` if there is none.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func checkpoint(of chain: String) async throws(RequestError) -> Checkpoint? {
        try await perform { (table) throws(SQLiteFailure) in try table.checkpoint(of: chain) }
    }

    /// Stores a checkpoint in place of the previous one of its chain, in one transaction.
    ///
    /// - Returns: `false`, without a change, if the store has another checkpoint than the previous one.
    /// - Throws: ``RequestError/Code/storeFailed``; the previous checkpoint is kept then.
    public func save(
        _ checkpoint: Checkpoint, replacing previous: UUID?
    ) async throws(RequestError) -> Bool {
        try await perform { (table) throws(SQLiteFailure) in
            try table.save(checkpoint, replacing: previous)
        }
    }

    /// Removes the checkpoint of a chain; does nothing if there is none.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func removeCheckpoint(of chain: String) async throws(RequestError) {
        try await perform { (table) throws(SQLiteFailure) in try table.remove(chain) }
    }

    /// The names of the chains that have a checkpoint, in any order.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func unfinishedChains() async throws(RequestError) -> [String] {
        try await perform { (table) throws(SQLiteFailure) in try table.chains() }
    }

    private func perform<T: Sendable>(
        _ work: (CheckpointTable) throws(SQLiteFailure) -> T
    ) async throws(RequestError) -> T {
        do throws(SQLiteFailure) {
            return try await database.perform { (connection) throws(SQLiteFailure) in
                try work(CheckpointTable(connection))
            }
        } catch {
            throw RequestError(
                .storeFailed, stage: .cache,
                "The checkpoint store at \(path) failed: \(error.message). \(advice(error))",
                underlying: error)
        }
    }

    private func advice(_ failure: SQLiteFailure) -> String {
        if failure.isUnusableFile, failure.hint == nil {
            return
                "Give the store another path, or remove the file; the chains in it then start at their first step."
        }
        return failure.advice
    }
}
