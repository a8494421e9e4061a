package import ErrandCore
package import Foundation

/// The entries of a download queue in a SQLite database: one row for each.
///
/// The public queue is in the target ErrandDownloadQueue, which defines the entries; this target stores their bytes.
package final class DownloadQueueDatabase: Sendable {
    /// One entry.
    package struct Row: Sendable, Hashable {
        package var id: UUID
        /// The position in the order in which entries were added.
        package var sequence: Int64
        package var entry: Data

        package init(id: UUID, sequence: Int64, entry: Data) {
            (self.id, self.sequence, self.entry) = (id, sequence, entry)
        }
    }

    /// "ERRD": marks a file as a download queue.
    private static let applicationID: Int64 = 0x4552_5244
    /// Increases with every change of the table.
    private static let version: Int64 = 1

    private let database: SharedDatabase

    /// Nothing is opened before the first use.
    package init(path: String) {
        database = SharedDatabase(path: path) { connection throws(SQLiteFailure) in
            try Self.check(connection)
        } prepare: { connection throws(SQLiteFailure) in
            try Self.prepare(connection)
        }
    }

    /// The absolute path of the file.
    package var path: String { database.path }

    /// All rows in the order of their sequence.
    package func rows() async throws(RequestError) -> [Row] {
        try await perform { (connection) throws(SQLiteFailure) in
            let select = try connection.prepare(
                "SELECT id, sequence, entry FROM downloads ORDER BY sequence")
            defer { select.reset() }
            var rows: [Row] = []
            while try select.step() {
                guard let id = select.text(0).flatMap(UUID.init(uuidString:)) else { continue }
                rows.append(
                    Row(
                        // Room for the sequences after a damaged one.
                        id: id, sequence: max(-1 << 62, min(select.integer(1), 1 << 62)),
                        entry: select.bytes(2).map { Data($0) } ?? Data()))
            }
            return rows
        }
    }

    /// Adds or replaces rows in one transaction.
    package func save(_ rows: [Row]) async throws(RequestError) {
        try await perform { (connection) throws(SQLiteFailure) in
            try connection.transaction { () throws(SQLiteFailure) in
                let replace = try connection.prepare(
                    "REPLACE INTO downloads (id, sequence, entry) VALUES (?, ?, ?)")
                for row in rows {
                    replace.bind(row.id.uuidString, at: 1)
                    replace.bind(row.sequence, at: 2)
                    try replace.run(binding: row.entry, at: 3)
                }
            }
        }
    }

    /// Removes a row; does nothing if there is none.
    package func remove(_ id: UUID) async throws(RequestError) {
        try await perform { (connection) throws(SQLiteFailure) in
            let delete = try connection.prepare("DELETE FROM downloads WHERE id = ?")
            delete.bind(id.uuidString, at: 1)
            try delete.run()
        }
    }

    /// Refuses the file of a newer version or of another application, before anything is written.
    private static func check(_ connection: SQLiteConnection) throws(SQLiteFailure) {
        // Read first: another process commits its tables together with the numbers.
        let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
        let id = try connection.integer("PRAGMA application_id")
        let found = try connection.integer("PRAGMA user_version")
        if id == applicationID {
            if found == version { return }
            // The last connection to a file copies its log into it, unless the file is not to be changed.
            connection.keepLogAtClose()
            throw .newerSchema(found, upTo: version)
        }
        guard id == 0, found == 0, tables == 0 else {
            connection.keepLogAtClose()
            throw .foreign("download queue")
        }
    }

    private static func prepare(_ connection: SQLiteConnection) throws(SQLiteFailure) {
        try connection.transaction { () throws(SQLiteFailure) in
            // Another process may have created the table since the first check.
            try check(connection)
            guard try connection.integer("PRAGMA application_id") == 0 else { return }
            try connection.execute(
                """
                CREATE TABLE downloads (
                    id TEXT NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL, entry BLOB NOT NULL
                );
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(version);
                """)
        }
    }

    private func perform<T: Sendable>(
        _ work: (SQLiteConnection) throws(SQLiteFailure) -> T
    ) async throws(RequestError) -> T {
        do throws(SQLiteFailure) {
            return try await database.perform(work)
        } catch {
            throw RequestError(
                .storeFailed, stage: .cache,
                "The download queue at \(path) failed: \(error.message). \(error.advice)",
                underlying: error)
        }
    }
}
