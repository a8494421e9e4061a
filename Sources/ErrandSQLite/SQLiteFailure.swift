import CSQLite
import ErrandCore

/// What SQLite answered instead of OK.
struct SQLiteFailure: Error, CustomStringConvertible {
    /// The extended result code.
    let code: Int32
    /// SQLite's words; never a bound value, so never a URL or a body.
    let message: String

    var description: String { "\(message) (SQLite \(code))" }

    private var primaryCode: Int32 { code & 0xff }

    /// Another connection holds the lock; trying again helps.
    var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

    /// The file is no database, is damaged, or is somebody else's; trying again does not help.
    var isDamage: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

    /// A file that is a database, but not ours.
    static func foreign(_ message: String) -> SQLiteFailure {
        SQLiteFailure(code: SQLITE_NOTADB, message: message)
    }

    /// What the request, or its listener, gets to read.
    func requestError(path: String) -> RequestError {
        return RequestError(
            .storeFailed, stage: .cache,
            "The response store at \(path) failed: \(message). \(advice)", underlying: self)
    }

    private var advice: String {
        if isBusy {
            return "Another process keeps it locked; try again, or give each process its own file."
        }
        return switch primaryCode {
        case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            "Make its directory writable, or give the store another path."
        case SQLITE_FULL: "Free some space on the disk, or lower the store's `maximumBytes`."
        case SQLITE_TOOBIG: "The answer is too large for a row; do not cache this endpoint."
        default: "Give the store another path, or remove the file."
        }
    }
}
