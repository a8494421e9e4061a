import CSQLite
import ErrandCore
package import ErrandSystem

/// A connection to a database; closed when deallocated.
///
/// Not Sendable: the owner protects it with a lock.
package final class SQLiteConnection {
    fileprivate let handle: OpaquePointer
    /// The number of pages in the log after the last transaction of this connection that wrote.
    private let frames: UnsafeMutablePointer<Int32>

    /// Opens a database, and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - busyMilliseconds: How long a statement waits, and blocks its thread, while another
    ///     connection holds the lock. Then it fails, and callers that can suspend try again.
    ///   - vfs: The name of the SQLite file system layer; `nil` for the default one.
    package init(
        path: String, busyMilliseconds: Int32, vfs: String? = nil
    ) throws(SQLiteFailure) {
        // A log or journal beside the database is applied when it is opened.
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        for file in [path, target + "-wal", target + "-journal", target + "-shm"] {
            try Self.check(file)
        }
        var handle: OpaquePointer?
        // SQLite's own mutex is not needed: the store's lock serialises all calls.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &handle, flags, vfs)
        guard code == SQLITE_OK, let handle else {
            let failure = SQLiteFailure(code: code, message: String(cString: sqlite3_errstr(code)))
            sqlite3_close_v2(handle)
            throw failure
        }
        do throws(SQLiteFailure) {
            // It exists now: another user may have created it since the first check.
            try Self.check(path)
        } catch {
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        frames = .allocate(capacity: 1)
        frames.initialize(to: 0)
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, busyMilliseconds)
    }

    private static func check(_ file: String) throws(SQLiteFailure) {
        do throws(FileAccess.Refusal) {
            try FileAccess.checkUnopened(file)
        } catch {
            throw SQLiteFailure(
                code: SQLITE_CANTOPEN, message: "\(file) cannot be used: \(error.reason)",
                hint: error.advice)
        }
    }

    deinit {
        // Statements keep this object alive: none is left, and the handle is closed at once.
        sqlite3_close_v2(handle)
        frames.deallocate()
    }

    /// Sets ``pagesInLog`` from now on, in place of automatic checkpoints.
    func countLog() {
        _ = sqlite3_wal_hook(
            handle,
            { frames, _, _, count in
                frames?.assumingMemoryBound(to: Int32.self).pointee = count
                return SQLITE_OK
            }, frames)
    }

    /// The number of pages in the log after the last transaction of this connection that wrote.
    var pagesInLog: Int {
        get { Int(frames.pointee) }
        set { frames.pointee = Int32(clamping: newValue) }
    }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Whether the file was opened for reading only, because it cannot be written.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// A number that changes with every transaction that changes the database, of this connection or
    /// of another one; `nil` if the library does not have it.
    ///
    /// It costs no statement and no system call: it is the version that the latest transaction of
    /// this connection has seen. Other connections can change the database afterwards, except
    /// during a write transaction.
    var seenVersion: UInt32? {
        var version: UInt32 = 0
        let code = sqlite3_file_control(handle, nil, SQLITE_FCNTL_DATA_VERSION, &version)
        return code == SQLITE_OK ? version : nil
    }

    /// Leaves the log unchanged when the last connection to the file is closed.
    package func keepLogAtClose() { _ = errand_sqlite_keep_log_at_close(handle) }

    /// Runs statements and ignores the rows that they return.
    package func execute(_ sql: String) throws(SQLiteFailure) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Runs a statement and returns its first column, or 0 without a row.
    package func integer(_ sql: String) throws(SQLiteFailure) -> Int64 {
        try prepare(sql).readInteger()
    }

    package func prepare(_ sql: String) throws(SQLiteFailure) -> SQLiteStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(
            handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code) }
        return SQLiteStatement(statement, of: self)
    }

    /// Runs a closure in a transaction: commits if it returns, rolls back if it throws.
    package func transaction<T>(
        _ body: () throws(SQLiteFailure) -> T
    ) throws(SQLiteFailure) -> T {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteFailure) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // The result is ignored: after some errors SQLite has rolled back by itself.
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            throw error
        }
    }

    func failure(_ code: Int32) -> SQLiteFailure {
        SQLiteFailure(
            code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle))
        )
    }
}

/// A prepared statement.
///
/// As in SQLite, parameters count from 1 and columns from 0.
package final class SQLiteStatement {
    private let handle: OpaquePointer
    private let connection: SQLiteConnection

    fileprivate init(_ handle: OpaquePointer, of connection: SQLiteConnection) {
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs the statement to its next row.
    ///
    /// - Returns: Whether there is a row.
    package func step() throws(SQLiteFailure) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw connection.failure(code)
    }

    /// Runs a statement that returns no rows, and resets it.
    package func run() throws(SQLiteFailure) {
        defer { reset() }
        _ = try step()
    }

    /// Runs a statement that returns no rows, resets it, and returns how many rows it changed.
    func runCountingChanges() throws(SQLiteFailure) -> Int {
        try run()
        return connection.changes
    }

    /// Runs the statement and returns the first column of its first row, or `missing` without a row.
    package func readInteger(orWithoutRow missing: Int64 = 0) throws(SQLiteFailure) -> Int64 {
        defer { reset() }
        return try step() ? integer(0) : missing
    }

    /// Runs a statement that returns no rows, with bytes that are not copied; `nil` binds NULL.
    package func run(binding data: Data?, at index: Int32) throws(SQLiteFailure) {
        _ = try readInteger(binding: data, at: index)
    }

    /// Returns the first column of the first row, or 0 without a row.
    ///
    /// - Parameter data: Bytes that are bound without a copy; `nil` binds NULL.
    package func readInteger(binding data: Data?, at index: Int32) throws(SQLiteFailure) -> Int64 {
        defer {
            reset()
            clearBindings()
        }
        let result = (data ?? Data()).withUnsafeBytes { bytes -> Result<Int64, SQLiteFailure> in
            if data != nil { bindUnowned(bytes, at: index) }
            do throws(SQLiteFailure) {
                guard try step() else { return .success(0) }
                let number = integer(0)
                // Run the statement to its end: it commits only there.
                while try step() {}
                return .success(number)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Ends the statement's transaction, which otherwise blocks other connections.
    package func reset() { sqlite3_reset(handle) }

    package func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }

    package func bind(_ value: Double, at index: Int32) {
        sqlite3_bind_double(handle, index, value)
    }

    package func bind(_ value: String?, at index: Int32) {
        guard var value else {
            sqlite3_bind_null(handle, index)
            return
        }
        value.withUTF8 { bind(text: $0, at: index, errand_sqlite_transient()) }
    }

    /// Binds a text without a copy.
    ///
    /// It must stay valid until the statement has run.
    func bindUnowned(text: UnsafeBufferPointer<UInt8>, at index: Int32) {
        bind(text: text, at: index, nil)
    }

    private func bind(
        text: UnsafeBufferPointer<UInt8>, at index: Int32, _ owner: sqlite3_destructor_type?
    ) {
        text.withMemoryRebound(to: CChar.self) { text in
            // An empty buffer may have no address, and SQLite binds NULL without an address.
            guard let start = text.baseAddress else {
                sqlite3_bind_text(handle, index, "", 0, errand_sqlite_transient())
                return
            }
            _ = sqlite3_bind_text64(
                handle, index, start, UInt64(text.count), owner, UInt8(SQLITE_UTF8))
        }
    }

    /// Binds the bytes of a text, which need not be valid UTF-8; they must not be empty.
    func bind(text: [UInt8], at index: Int32) {
        text.withUnsafeBytes { bytes in
            _ = sqlite3_bind_text64(
                handle, index, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                UInt64(bytes.count), errand_sqlite_transient(), UInt8(SQLITE_UTF8))
        }
    }

    /// Binds bytes without a copy.
    ///
    /// They must stay valid until the statement has run.
    func bindUnowned(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            sqlite3_bind_zeroblob(handle, index, 0)
            return
        }
        sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), nil)
    }

    /// Binds a number; `nil` binds NULL.
    func bind(_ value: Int64?, at index: Int32) {
        if let value { bind(value, at: index) } else { sqlite3_bind_null(handle, index) }
    }

    func clearBindings() { sqlite3_clear_bindings(handle) }

    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// A column that contains a size or a count; a damaged value is clamped to 0...2⁴⁰.
    ///
    /// Sums and products of such values with counts of rows and pages do not overflow.
    func size(_ column: Int32) -> Int { Int(max(0, min(integer(column), 1 << 40))) }

    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(handle, column) == SQLITE_NULL
    }

    package func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    /// A column's bytes, valid until the next step; `nil` for NULL.
    package func bytes(_ column: Int32) -> UnsafeRawBufferPointer? {
        // SQLite requires this order: first the pointer, then the count.
        let start = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        if let start { return UnsafeRawBufferPointer(start: start, count: count) }
        let isNull = sqlite3_column_type(handle, column) == SQLITE_NULL
        return isNull ? nil : UnsafeRawBufferPointer(start: nil, count: 0)
    }

    package func text(_ column: Int32) -> String? {
        bytes(column).map { String(decoding: $0, as: UTF8.self) }
    }
}
