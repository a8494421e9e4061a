import CSQLite
import ErrandCore
import ErrandSystem

/// A database file of a response store that cannot be used.
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
        // If the lock cannot be taken, two processes may rename each other's new file. That loses
        // cached entries and nothing else.
        let lock = lockFile()
        defer {
            if lock >= 0 {
                // Under the lock, so that no process keeps the lock of a file that has been removed.
                unlink(lockPath)
                close(lock)
            }
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

    private var lockPath: String { path + ".repair" }

    /// Creates the lock file and locks it; -1 if that is impossible.
    private func lockFile() -> Int32 {
        for _ in 0..<100 {
            guard let lock = try? FileAccess.ownOrNew(lockPath, mode: 0o600) else { return -1 }
            _ = flock(lock, LOCK_EX)
            if FileAccess.isName(lockPath, of: lock) { return lock }
            // The previous holder has removed it, and another process may lock a new one.
            close(lock)
        }
        return -1
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
