import CSQLite
import ErrandCore
import ErrandSystem

/// An open database whose schema was checked and whose statements are prepared.
final class OpenDatabase {
    let connection: SQLiteConnection
    /// A bound of the sizes after the latest write of this connection.
    private var sizeBound = SizeBound()
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
    private let update: SQLiteStatement
    private var fieldNames = FieldNames()
    /// Statements that are not needed for each request, by their text.
    private var statements: [String: SQLiteStatement] = [:]

    /// - Parameter logLimit: The size, in bytes, to which SQLite truncates the log when it starts
    ///   again at its beginning.
    init(
        path: String, logLimit: Int = 16 << 20, vfs: String? = nil
    ) throws(SQLiteFailure) {
        logPath = path + "-wal"
        connection = try SQLiteConnection(path: path, busyMilliseconds: 20, vfs: vfs)
        // SQLite opens a file for reading if it cannot write it.
        if connection.isReadOnly {
            throw SQLiteFailure(code: SQLITE_READONLY, message: "the file is read-only")
        }
        try Schema.check(connection)
        // Set before anything is written, because SQLite creates log and index with this mode.
        chmod(path, 0o600)
        try Self.configure(connection, logLimit: logLimit)
        connection.countLog()
        try Schema.prepare(connection)
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
            update = try connection.prepare(EntryRow.update)
            deleteKey = try connection.prepare("DELETE FROM entries WHERE id = ? AND key = ?")
            deleteRow = try connection.prepare("DELETE FROM entries WHERE id = ?")
            touch = try connection.prepare("UPDATE entries SET accessed = ? WHERE id = ?")
        } catch  where error.code == SQLITE_ERROR {
            throw .damagedSchema("its table does not have the columns of this version")
        }
    }

    private static func configure(
        _ connection: SQLiteConnection, logLimit: Int
    ) throws(SQLiteFailure) {
        // No memory map: if another process truncates the file, reading it would raise SIGBUS. No
        // automatic checkpoints: they would wait for the disk during a request, see `Checkpointer`.
        // On a file with tables, this pragma writes, and would wait for other writers.
        if try connection.integer("PRAGMA page_count") == 0 {
            try connection.execute(
                "PRAGMA page_size = \(RowCost.pageBytes); PRAGMA auto_vacuum = INCREMENTAL")
        }
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

    /// The statement with this text, prepared at its first use.
    func statement(_ sql: String) throws(SQLiteFailure) -> SQLiteStatement {
        if let statement = statements[sql] { return statement }
        let statement = try connection.prepare(sql)
        statements[sql] = statement
        return statement
    }

    /// A number that changes with every commit of another connection, in any process.
    func dataVersion() throws(SQLiteFailure) -> Int64 { try version.readInteger() }

    func entry(for key: CacheKey, id: Int64) throws(SQLiteFailure) -> EntryRow.Reading? {
        select.bind(id, at: 1)
        defer { select.reset() }
        guard try select.step() else { return nil }
        return EntryRow.read(for: key, from: select, &fieldNames)
    }

    /// Writes an entry whose body is in its row.
    func store(
        _ entry: StoredResponse, for key: CacheKey, id: Int64, accessed: Int64
    ) throws(SQLiteFailure) {
        try EntryRow.write(
            entry, bodyID: nil, size: entry.size, for: key, id: id, accessed: accessed,
            update: update, upsert: upsert)
    }

    /// Writes an entry whose body is stored in parts.
    func store(
        _ entry: StoredResponse, body: BodyParts, for key: CacheKey, id: Int64, accessed: Int64
    ) throws(SQLiteFailure) {
        var entry = entry
        entry.body = Data()
        try EntryRow.write(
            entry, bodyID: body.id, size: entry.size + body.count, for: key, id: id,
            accessed: accessed, update: update, upsert: upsert)
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
        try connection.transaction { () throws(SQLiteFailure) in
            try Schema.recreate(in: connection)
        }
        // A file of version 1 begins to shrink by itself.
        try connection.execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
    }

    /// Runs a closure in a write transaction, like ``SQLiteConnection/transaction(_:)`` but with
    /// prepared statements, because each write needs one.
    func write<T>(_ body: () throws(SQLiteFailure) -> T) throws(SQLiteFailure) -> T {
        try begin.run()
        connection.pagesInLog = 0
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

    /// Runs a closure in a read transaction: it does not see later writes of other connections.
    func snapshot<T>(_ body: () throws(SQLiteFailure) -> T) throws(SQLiteFailure) -> T {
        try statement("BEGIN").run()
        defer { try? commit.run() }
        return try body()
    }

    /// The sizes of the database; in a write transaction no other connection can change them.
    func measure() throws(SQLiteFailure) -> StoreMeasure {
        let pages = try pageCount.readInteger()
        let free = try freePageCount.readInteger()
        return StoreMeasure(
            used: max(0, Int((pages - free - Schema.pages) * pageSize)),
            file: Int(pages * pageSize), log: logBytes)
    }

    /// The number of free pages, which ``vacuum(pages:)`` can remove.
    func freePages() throws(SQLiteFailure) -> Int { Int(try freePageCount.readInteger()) }

    /// The size of the log's file, in bytes.
    var logBytes: Int {
        var status = stat()
        return stat(logPath, &status) == 0 ? Int(status.st_size) : 0
    }

    /// A number that SQLite changes when it starts the log again at its beginning: the salts in the
    /// log's header; `nil` if it cannot be read.
    var logGeneration: UInt64? {
        guard let file = try? FileAccess.reading(logPath) else { return nil }
        defer { close(file) }
        var salts: UInt64 = 0
        return pread(file, &salts, 8, 16) == 8 ? salts : nil
    }

    /// The used bytes of the log after the last transaction of this connection; `nil` if it wrote
    /// nothing to the log.
    var usedLogBytes: Int? {
        let pages = connection.pagesInLog
        return pages > 0 ? 32 + pages * RowCost.frameBytes : nil
    }

    /// The bound of the sizes, in a transaction.
    var boundOfSizes: StoreMeasure? { sizeBound.sizes(at: connection.seenVersion) }

    /// Records the sizes after the transaction that has just ended.
    func committed(_ sizes: StoreMeasure) {
        sizeBound.committed(sizes, log: usedLogBytes, version: connection.seenVersion)
    }

    /// Copies the log into the database, so that it starts again at its beginning.
    ///
    /// It waits for other connections as long as any statement does.
    ///
    /// - Parameter truncating: Whether the file is truncated. If not, the next writes overwrite it,
    ///   which costs the file system less than extending it.
    /// - Returns: False if another connection prevented it.
    func emptyLog(truncating: Bool = true) throws(SQLiteFailure) -> Bool {
        do throws(SQLiteFailure) {
            let mode = truncating ? "TRUNCATE" : "RESTART"
            guard try connection.integer("PRAGMA wal_checkpoint(\(mode))") == 0 else {
                return false
            }
            connection.pagesInLog = 0
            sizeBound.logRestarts()
            return true
        } catch {
            if error.isBusy { return false }
            throw error
        }
    }
}
