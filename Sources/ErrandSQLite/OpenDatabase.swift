import CSQLite
import ErrandCaching
import Foundation

/// An open database whose schema was checked and whose statements are prepared.
final class OpenDatabase {
    /// "ERRD": marks a file as an Errand response store, also for `file(1)`.
    static let applicationID: Int64 = 0x4552_5244
    /// Increases with every change of the table.
    ///
    /// A file with another version is renamed and replaced.
    static let schemaVersion: Int64 = 1

    let connection: SQLiteConnection
    private let logPath: String
    private let begin: SQLiteStatement
    private let commit: SQLiteStatement
    private let rollback: SQLiteStatement
    private let pageSize: Int64
    private let pageCount: SQLiteStatement
    private let freePageCount: SQLiteStatement
    private let version: SQLiteStatement
    private let select: SQLiteStatement
    private let upsert: SQLiteStatement
    private let deleteKey: SQLiteStatement
    private let deleteRow: SQLiteStatement
    private let touch: SQLiteStatement

    /// - Parameter logLimit: The size, in bytes, to which SQLite truncates the log when it starts
    ///   again at its beginning.
    init(path: String, logLimit: Int = 16 << 20) throws(SQLiteFailure) {
        logPath = path + "-wal"
        connection = try SQLiteConnection(path: path, busyMilliseconds: 20)
        // SQLite opens a file for reading if it cannot write it.
        if connection.isReadOnly {
            throw SQLiteFailure(code: SQLITE_READONLY, message: "the file is read-only")
        }
        // Set before anything is written, because SQLite creates log and index with this mode.
        chmod(path, 0o600)
        try Self.configure(connection, logLimit: logLimit)
        try Self.checkOwnership(of: connection)
        do throws(SQLiteFailure) {
            begin = try connection.prepare("BEGIN IMMEDIATE")
            commit = try connection.prepare("COMMIT")
            rollback = try connection.prepare("ROLLBACK")
            pageSize = try connection.integer("PRAGMA page_size")
            pageCount = try connection.prepare("PRAGMA page_count")
            freePageCount = try connection.prepare("PRAGMA freelist_count")
            version = try connection.prepare("PRAGMA data_version")
            select = try connection.prepare(
                "SELECT \(EntryRow.columns) FROM entries WHERE id = ?")
            upsert = try connection.prepare(EntryRow.upsert)
            deleteKey = try connection.prepare("DELETE FROM entries WHERE id = ? AND key = ?")
            deleteRow = try connection.prepare("DELETE FROM entries WHERE id = ?")
            touch = try connection.prepare("UPDATE entries SET accessed = ? WHERE id = ?")
        } catch  where error.code == SQLITE_ERROR {
            throw .foreign("its table does not have the columns of this version")
        }
    }

    private static func configure(
        _ connection: SQLiteConnection, logLimit: Int
    ) throws(SQLiteFailure) {
        // No memory map: if another process truncates the file, reading it would raise SIGBUS. No
        // automatic checkpoints: they would wait for the disk during a request, see `Checkpointer`.
        try connection.execute(
            """
            PRAGMA page_size = \(RowCost.pageBytes);
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = NORMAL;
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA journal_size_limit = \(logLimit);
            PRAGMA cache_size = -16384;
            PRAGMA temp_store = MEMORY;
            PRAGMA mmap_size = 0;
            PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON;
            """)
    }

    private static func checkOwnership(of connection: SQLiteConnection) throws(SQLiteFailure) {
        if try hasExpectedSchema(connection) { return }
        try connection.transaction { () throws(SQLiteFailure) in
            // Another process may have created the table since the first check.
            if try hasExpectedSchema(connection) { return }
            guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else {
                throw .foreign("it is the database of another application")
            }
            try connection.execute(
                """
                CREATE TABLE entries (
                    id INTEGER PRIMARY KEY, size INTEGER NOT NULL, accessed INTEGER NOT NULL,
                    stored_at REAL NOT NULL, cache_version INTEGER NOT NULL,
                    status INTEGER NOT NULL, tag INTEGER NOT NULL, checksum INTEGER NOT NULL,
                    key TEXT NOT NULL, url TEXT NOT NULL, app_version TEXT, identity TEXT,
                    headers BLOB NOT NULL, body BLOB NOT NULL
                );
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(schemaVersion);
                """)
        }
    }

    private static func hasExpectedSchema(_ connection: SQLiteConnection) throws(SQLiteFailure)
        -> Bool
    {
        let id = try connection.integer("PRAGMA application_id")
        let version = try connection.integer("PRAGMA user_version")
        if id == applicationID && version == schemaVersion { return true }
        guard id == 0 && version == 0 else {
            throw .foreign("it has application_id \(id) and user_version \(version)")
        }
        return false
    }

    /// A number that changes with every commit of another connection, in any process.
    func dataVersion() throws(SQLiteFailure) -> Int64 { try version.readInteger() }

    func entry(for key: CacheKey, id: Int64) throws(SQLiteFailure) -> EntryRow.Reading? {
        select.bind(id, at: 1)
        defer { select.reset() }
        guard try select.step() else { return nil }
        return EntryRow.read(for: key, from: select)
    }

    func store(
        _ entry: StoredResponse, for key: CacheKey, id: Int64, accessed: Int64
    ) throws(SQLiteFailure) {
        try EntryRow.write(entry, for: key, id: id, accessed: accessed, with: upsert)
    }

    func delete(_ key: CacheKey) throws(SQLiteFailure) {
        deleteKey.bind(EntryRow.id(of: key), at: 1)
        deleteKey.bind(key.canonical, at: 2)
        try deleteKey.run()
    }

    func delete(id: Int64) throws(SQLiteFailure) {
        deleteRow.bind(id, at: 1)
        try deleteRow.run()
    }

    func setAccessed(_ time: Int64, id: Int64) throws(SQLiteFailure) {
        touch.bind(time, at: 1)
        touch.bind(id, at: 2)
        try touch.run()
    }

    /// Removes all entries and their bytes, and shrinks the file.
    func deleteAllAndVacuum() throws(SQLiteFailure) {
        // If SQLite is built to overwrite removed bytes, it would write every page to the log.
        // VACUUM removes the pages.
        let secureDelete = try connection.integer("PRAGMA secure_delete")
        try connection.execute("PRAGMA secure_delete = OFF")
        defer { try? connection.execute("PRAGMA secure_delete = \(secureDelete)") }
        try connection.execute("DELETE FROM entries")
        try connection.execute("VACUUM")
    }

    /// Runs a closure in a write transaction, like ``SQLiteConnection/transaction(_:)`` but with
    /// prepared statements, because each write needs one.
    func write<T>(_ body: () throws(SQLiteFailure) -> T) throws(SQLiteFailure) -> T {
        try begin.run()
        do throws(SQLiteFailure) {
            let result = try body()
            try commit.run()
            return result
        } catch {
            // The result is ignored: after some errors SQLite has rolled back by itself.
            try? rollback.run()
            throw error
        }
    }

    /// The sizes of the database; in a write transaction no other connection can change them.
    func measure() throws(SQLiteFailure) -> StoreMeasure {
        let pages = try pageCount.readInteger()
        let free = try freePageCount.readInteger()
        return StoreMeasure(
            used: Int((pages - free) * pageSize), file: Int(pages * pageSize), log: logBytes)
    }

    /// The size of the log's file, in bytes.
    var logBytes: Int {
        var status = stat()
        return stat(logPath, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Copies the log into the database and truncates it.
    ///
    /// It waits for other connections as long as any statement does.
    ///
    /// - Returns: False if another connection prevented it.
    func emptyLog() throws(SQLiteFailure) -> Bool {
        do throws(SQLiteFailure) {
            return try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0
        } catch {
            if error.isBusy { return false }
            throw error
        }
    }

    /// Up to `limit` entries with greater row numbers than `id`, ordered by row number.
    func list(after id: Int64, limit: Int) throws(SQLiteFailure) -> [(Int64, StoredEntryInfo)] {
        let statement = try connection.prepare(
            """
            SELECT id, size, stored_at, tag, key, url, identity FROM entries
            WHERE id > ? ORDER BY id LIMIT ?
            """)
        statement.bind(id, at: 1)
        statement.bind(Int64(limit), at: 2)
        var result: [(Int64, StoredEntryInfo)] = []
        while try statement.step() {
            let info = StoredEntryInfo(
                key: CacheKey(canonical: statement.text(4) ?? ""), url: statement.text(5) ?? "",
                storedAt: Date(timeIntervalSinceReferenceDate: statement.double(2)),
                size: Int(statement.integer(1)), tag: Int(statement.integer(3)),
                identity: statement.text(6))
            result.append((statement.integer(0), info))
        }
        return result
    }

    /// Access times and sizes of up to `count` entries, chosen at random.
    ///
    /// Row numbers are hashes, so consecutive rows after a random number are a random sample.
    func sample(_ count: Int) throws(SQLiteFailure) -> [(id: Int64, accessed: Int64, size: Int)] {
        let statement = try connection.prepare(
            """
            SELECT id, accessed, size FROM entries WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3
            """)
        let start = Int64.random(in: (.min + 1) ... .max)
        var result: [(id: Int64, accessed: Int64, size: Int)] = []
        for range in [(start, Int64.max), (Int64.min, start - 1)] where result.count < count {
            statement.bind(range.0, at: 1)
            statement.bind(range.1, at: 2)
            statement.bind(Int64(count - result.count), at: 3)
            while try statement.step() {
                result.append(
                    (statement.integer(0), statement.integer(1), Int(statement.integer(2))))
            }
            statement.reset()
        }
        return result
    }
}
