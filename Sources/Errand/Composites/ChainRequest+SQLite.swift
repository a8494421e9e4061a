public import ErrandCore
import ErrandSQLite
public import Foundation

extension ChainRequest {
    /// Stores checkpoints in a SQLite database.
    ///
    ///     let store = ChainRequest.SQLiteCheckpointStore(path: folder + "/chains.sqlite")
    ///
    /// A checkpoint is on the disk before ``save(_:replacing:)`` returns, and also survives a loss of power. Outputs
    /// that have not changed since the previous checkpoint are not written again. Only the owner of the file can read
    /// it. A file that is damaged, belongs to another application or was written by a newer version is an error and is
    /// not changed. Several stores may use one file at the same time, also in different processes.
    nonisolated public final class SQLiteCheckpointStore: CheckpointStore {
        private let database: CheckpointDatabase

        /// Creates a store in a file that need not exist yet; nothing is opened before the first use.
        public init(path: String) { database = CheckpointDatabase(path: path) }

        /// The absolute path of the database file.
        public var path: String { database.path }

        /// The checkpoint of a chain; `nil` if there is none.
        ///
        /// - Throws: ``RequestError/Code/storeFailed``.
        public func checkpoint(of chain: String) async throws(RequestError) -> Checkpoint? {
            guard let row = try await database.checkpoint(of: chain) else { return nil }
            return Checkpoint(
                chain: row.chain, revision: row.revision, definition: row.definition,
                outputs: row.outputs)
        }

        /// Stores a checkpoint in place of the previous one of its chain, in one transaction.
        ///
        /// - Returns: `false`, without a change, if the store has another checkpoint than the previous one.
        /// - Throws: ``RequestError/Code/storeFailed``; the previous checkpoint is kept then.
        public func save(
            _ checkpoint: Checkpoint, replacing previous: UUID?
        ) async throws(RequestError) -> Bool {
            try await database.save(
                CheckpointDatabase.Row(
                    chain: checkpoint.chain, revision: checkpoint.revision,
                    definition: checkpoint.definition, outputs: checkpoint.outputs),
                replacing: previous)
        }

        /// Removes the checkpoint of a chain; does nothing if there is none.
        ///
        /// - Throws: ``RequestError/Code/storeFailed``.
        public func removeCheckpoint(of chain: String) async throws(RequestError) {
            try await database.remove(chain)
        }

        /// The names of the chains that have a checkpoint, in any order.
        ///
        /// - Throws: ``RequestError/Code/storeFailed``.
        public func unfinishedChains() async throws(RequestError) -> [String] {
            try await database.chains()
        }
    }
}
