import CSQLite
import Foundation

/// A database file that cannot be used.
///
/// Renames it, under a lock that all processes respect.
struct BrokenDatabase {
    let path: String
    var vfs: String?

    enum Outcome {
        /// Another process has already replaced the file.
        case alreadyReplaced
        case movedTo(String)
        case failed(String)
    }

    func moveAway() -> Outcome {
        let lock = open(path + ".repair", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        // If the lock cannot be taken, two processes may rename each other's new file. That loses
        // cached entries and nothing else.
        if lock >= 0 { _ = flock(lock, LOCK_EX) }
        defer {
            if lock >= 0 { close(lock) }
        }
        if isUsable { return .alreadyReplaced }
        let target = unusedName
        // Rename the database before its log: if the process ends in between, SQLite discards a
        // log that has no database.
        guard rename(path, target) == 0 else {
            return .failed(String(cString: strerror(errno)))
        }
        if rename(path + "-wal", target + "-wal") != 0 { unlink(path + "-wal") }
        unlink(path + "-shm")
        return .movedTo(target)
    }

    private var isUsable: Bool {
        guard let database = try? OpenDatabase(path: path, vfs: vfs),
            let check = try? database.connection.prepare("PRAGMA quick_check(1)"),
            (try? check.step()) == true
        else { return false }
        return check.text(0) == "ok"
    }

    /// The new name.
    ///
    /// At most three damaged files are kept, so that repeated damage cannot fill the disk.
    private var unusedName: String {
        for number in 1..<3 {
            let name = "\(path).broken-\(number)"
            if access(name, F_OK) != 0 { return name }
        }
        return "\(path).broken-3"
    }
}
