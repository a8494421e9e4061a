import CSQLite
import Foundation

/// A connection; closed when it goes.
///
/// Not Sendable: it lives inside one lock.
final class SQLiteConnection {
    fileprivate let handle: OpaquePointer

    /// Opens a database, which need not exist yet.
    ///
    /// - Parameter busyMilliseconds: How long a statement blocks its thread for the lock of another
    ///   connection; who can wait without a thread waits longer.
    init(path: String, busyMilliseconds: Int32) throws(SQLiteFailure) {
        var handle: OpaquePointer?
        // No mutex of SQLite's own: the store's lock is one already.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let failure = SQLiteFailure(code: code, message: String(cString: sqlite3_errstr(code)))
            sqlite3_close_v2(handle)
            throw failure
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, busyMilliseconds)
    }

    deinit { sqlite3_close_v2(handle) }

    /// How many rows the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Runs statements that return nothing of interest.
    func execute(_ sql: String) throws(SQLiteFailure) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Runs a statement that returns one number.
    func integer(_ sql: String) throws(SQLiteFailure) -> Int64 {
        try prepare(sql).readInteger()
    }

    func prepare(_ sql: String) throws(SQLiteFailure) -> SQLiteStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(
            handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(code) }
        return SQLiteStatement(statement, of: self)
    }

    /// Everything or nothing.
    func transaction<T>(
        _ body: () throws(SQLiteFailure) -> T
    ) throws(SQLiteFailure) -> T {
        try execute("BEGIN IMMEDIATE")
        do throws(SQLiteFailure) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // It may be over already: SQLite rolls back by itself after some failures.
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

/// A prepared statement; parameters count from 1, columns from 0, as SQLite has it.
final class SQLiteStatement {
    private let handle: OpaquePointer
    private let connection: SQLiteConnection

    fileprivate init(_ handle: OpaquePointer, of connection: SQLiteConnection) {
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    /// - Returns: Whether there is a row to look at.
    func step() throws(SQLiteFailure) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw connection.failure(code)
    }

    /// Runs a statement that returns no rows and makes it ready for the next time.
    func run() throws(SQLiteFailure) {
        defer { reset() }
        _ = try step()
    }

    /// The first column of the first row, 0 without one.
    func readInteger() throws(SQLiteFailure) -> Int64 {
        defer { reset() }
        return try step() ? integer(0) : 0
    }

    /// Runs a statement that returns no rows, with bytes that are not copied; `nil` is NULL.
    func run(binding data: Data?, at index: Int32) throws(SQLiteFailure) {
        _ = try readInteger(binding: data, at: index)
    }

    /// The first column of the first row, 0 without one, with bytes that are not copied; `nil` is NULL.
    func readInteger(binding data: Data?, at index: Int32) throws(SQLiteFailure) -> Int64 {
        defer {
            reset()
            clearBindings()
        }
        let result = (data ?? Data()).withUnsafeBytes { bytes -> Result<Int64, SQLiteFailure> in
            if data != nil { bindUnowned(bytes, at: index) }
            do throws(SQLiteFailure) {
                guard try step() else { return .success(0) }
                let number = integer(0)
                // To its end: only then is it committed.
                while try step() {}
                return .success(number)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Ends the statement's transaction; without it other connections wait.
    func reset() { sqlite3_reset(handle) }

    func bind(_ value: Int64, at index: Int32) { sqlite3_bind_int64(handle, index, value) }

    func bind(_ value: Double, at index: Int32) { sqlite3_bind_double(handle, index, value) }

    func bind(_ value: String?, at index: Int32) {
        guard var value else {
            sqlite3_bind_null(handle, index)
            return
        }
        value.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { text in
                // An empty string may have no address, and no address means NULL to SQLite.
                guard let start = text.baseAddress else {
                    sqlite3_bind_text(handle, index, "", 0, errand_sqlite_transient())
                    return
                }
                _ = sqlite3_bind_text64(
                    handle, index, start, UInt64(text.count), errand_sqlite_transient(),
                    UInt8(SQLITE_UTF8))
            }
        }
    }

    /// Binds bytes without a copy: they must stay where they are until the statement was run.
    func bindUnowned(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            sqlite3_bind_zeroblob(handle, index, 0)
            return
        }
        sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), nil)
    }

    func clearBindings() { sqlite3_clear_bindings(handle) }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    /// A column's bytes, valid until the next step; `nil` for NULL.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer? {
        // This order is the one SQLite asks for: first the pointer, then the count.
        let start = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        if let start { return UnsafeRawBufferPointer(start: start, count: count) }
        let isNull = sqlite3_column_type(handle, column) == SQLITE_NULL
        return isNull ? nil : UnsafeRawBufferPointer(start: nil, count: 0)
    }

    func text(_ column: Int32) -> String? {
        bytes(column).map { String(decoding: $0, as: UTF8.self) }
    }
}
