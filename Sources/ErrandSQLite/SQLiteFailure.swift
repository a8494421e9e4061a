import CSQLite
import ErrandCore

/// An error that SQLite returned.
package struct SQLiteFailure: Error, CustomStringConvertible {
    /// The extended result code.
    let code: Int32
    /// SQLite's message.
    ///
    /// It contains no bound values, so no URL and no body.
    package let message: String
    /// What the user can do, if the code does not say it.
    package var hint: String?
    /// Whether the file is the database of another application, which is not changed.
    package var isForeign = false

    package var description: String { "\(message) (SQLite \(code))" }

    private var primaryCode: Int32 { code & 0xff }

    /// Whether another connection holds the lock, so that a retry can succeed.
    var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

    /// Whether the file is damaged or not a database.
    package var isUnusableFile: Bool {
        (primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB) && !isForeign
    }

    /// The error for a database of another application, which is not changed.
    ///
    /// - Parameter store: The name of the store in the advice.
    static func foreign(_ store: String) -> SQLiteFailure {
        SQLiteFailure(
            code: SQLITE_NOTADB, message: "it is the database of another application",
            hint: "Give the \(store) a path of its own.", isForeign: true)
    }

    /// The error for a file of this store whose tables were changed by other means.
    static func damagedSchema(_ message: String) -> SQLiteFailure {
        SQLiteFailure(code: SQLITE_NOTADB, message: message)
    }

    /// Whether the disk is full or fails; later writes probably fail as well.
    var isDiskFault: Bool {
        (primaryCode == SQLITE_FULL && hint == nil) || primaryCode == SQLITE_IOERR
    }

    /// The error for a store of a newer version, which is not changed.
    ///
    /// - Parameters:
    ///   - version: The version of the file.
    ///   - known: The newest version that this program reads.
    static func newerSchema(_ version: Int64, upTo known: Int64) -> SQLiteFailure {
        SQLiteFailure(
            code: SQLITE_CANTOPEN,
            message: "it was written by a newer version of Errand (schema \(version); this version "
                + "reads up to \(known))",
            hint: "Update this program, or give it a file of its own.")
    }

    /// The error of a write while writing is suspended.
    static func suspended(after cause: SQLiteFailure) -> SQLiteFailure {
        SQLiteFailure(
            code: cause.code, message: "writing is suspended after: \(cause.message)",
            hint: cause.advice)
    }

    /// The error of a body that another writer or process has removed.
    static var lostBody: SQLiteFailure {
        SQLiteFailure(
            code: SQLITE_ABORT, message: "the unfinished body was removed to make room",
            hint: "Raise the store's `maximumBytes`, or store fewer large bodies at once.")
    }

    /// The error of a write that must wait for other connections to leave the log.
    static var busyLog: SQLiteFailure {
        SQLiteFailure(code: SQLITE_BUSY, message: "its log is in use by other connections")
    }

    /// The error of a write that is refused because the log cannot be emptied.
    static func blockedLog(_ bytes: Int) -> SQLiteFailure {
        SQLiteFailure(
            code: SQLITE_FULL,
            message: "its log has \(bytes) bytes and cannot be emptied, because another connection "
                + "has a read transaction that does not end",
            hint: "End that transaction, for example in a database browser or a suspended process. "
                + "Responses are stored again afterwards.")
    }

    /// The error for the caller and for event listeners.
    func requestError(path: String) -> RequestError {
        return RequestError(
            .storeFailed, stage: .cache,
            "The response store at \(path) failed: \(message). \(advice)", underlying: self)
    }

    /// A sentence that says what the user can do.
    package var advice: String {
        if let hint { return hint }
        if isBusy {
            return "Another process holds its lock; try again, or give each process its own file."
        }
        return switch primaryCode {
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            "Make its directory writable, or give the store another path."
        case SQLITE_FULL: "Free some space on the disk, or lower the store's `maximumBytes`."
        case SQLITE_TOOBIG: "The response is too large for a row; do not cache this endpoint."
        default: "Give the store another path, or remove the file."
        }
    }
}
