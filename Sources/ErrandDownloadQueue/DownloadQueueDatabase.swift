import ErrandCore
import ErrandSQLite
import ErrandSystem

/// The entries of a download queue in a SQLite database: one row for each.
final class DownloadQueueDatabase: Sendable {
    /// One entry.
    struct Row: Sendable, Hashable {
        var id: UUID
        /// The position in the order in which entries were added.
        var sequence: Int64
        var entry: Data

        init(id: UUID, sequence: Int64, entry: Data) {
            (self.id, self.sequence, self.entry) = (id, sequence, entry)
        }
    }

    private let database: SharedDatabase

    /// Nothing is opened before the first use.
    init(path: String) {
        database = SharedDatabase(path: path, format: DownloadQueueFormat())
    }

    /// The absolute path of the file.
    var path: String { database.path }

    /// All rows in the order of their sequence.
    func rows() async throws(RequestError) -> [Row] {
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
    func save(_ rows: [Row]) async throws(RequestError) {
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
    func remove(_ id: UUID) async throws(RequestError) {
        try await perform { (connection) throws(SQLiteFailure) in
            let delete = try connection.prepare("DELETE FROM downloads WHERE id = ?")
            delete.bind(id.uuidString, at: 1)
            try delete.run()
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

/// The file of a download queue.
struct DownloadQueueFormat: DatabaseFormat {
    let store = "download queue"
    /// The letters "ERRQ".
    let applicationID: Int64 = 0x4552_5251
    let versions: ClosedRange<Int64> = 1...1

    func migrate(_ connection: SQLiteConnection, to version: Int64) throws(SQLiteFailure) {
        try connection.execute(
            """
            CREATE TABLE downloads (
                id TEXT NOT NULL PRIMARY KEY, sequence INTEGER NOT NULL, entry BLOB NOT NULL
            );
            """)
    }
}
