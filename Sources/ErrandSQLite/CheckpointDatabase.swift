package import ErrandCore
package import Foundation

/// The checkpoints of chains in a SQLite database.
///
/// The public store is in the target Errand, which declares chains; this target cannot name them.
package final class CheckpointDatabase: Sendable {
    /// The checkpoint of one chain.
    package struct Row: Sendable {
        package var chain: String
        package var revision: UUID
        package var definition: [String]
        package var outputs: [Data?]

        package init(chain: String, revision: UUID, definition: [String], outputs: [Data?]) {
            self.chain = chain
            self.revision = revision
            self.definition = definition
            self.outputs = outputs
        }
    }

    private let database: SharedDatabase

    /// Nothing is opened before the first use.
    package init(path: String) {
        database = SharedDatabase(path: path) { connection throws(SQLiteFailure) in
            try CheckpointTable(connection).check()
        } prepare: { connection throws(SQLiteFailure) in
            try CheckpointTable(connection).prepare()
        }
    }

    /// The absolute path of the file.
    package var path: String { database.path }

    package func checkpoint(of chain: String) async throws(RequestError) -> Row? {
        try await perform { (table) throws(SQLiteFailure) in try table.checkpoint(of: chain) }
    }

    /// Stores a checkpoint; returns `false` if the stored one has another revision than the previous one.
    package func save(_ row: Row, replacing previous: UUID?) async throws(RequestError) -> Bool {
        try await perform { (table) throws(SQLiteFailure) in
            try table.save(row, replacing: previous)
        }
    }

    package func remove(_ chain: String) async throws(RequestError) {
        try await perform { (table) throws(SQLiteFailure) in try table.remove(chain) }
    }

    package func chains() async throws(RequestError) -> [String] {
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
