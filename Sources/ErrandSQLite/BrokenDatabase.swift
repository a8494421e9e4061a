import CSQLite
import Foundation

/// A database file that cannot be used: moves it out of the way, under a lock that all processes
/// respect.
struct BrokenDatabase {
    let path: String

    enum Outcome {
        /// Another process has replaced it already.
        case mendedMeanwhile
        case movedTo(String)
        case failed(String)
    }

    func setAside() -> Outcome {
        let lock = open(path + ".repair", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        // Without the lock two processes could move each other's new file away: nothing but entries
        // lost.
        if lock >= 0 { _ = flock(lock, LOCK_EX) }
        defer {
            if lock >= 0 { close(lock) }
        }
        if isUsable { return .mendedMeanwhile }
        let target = freeName
        // The database first: should the process end here, SQLite drops a log without database by
        // itself.
        guard rename(path, target) == 0 else {
            return .failed(String(cString: strerror(errno)))
        }
        if rename(path + "-wal", target + "-wal") != 0 { unlink(path + "-wal") }
        unlink(path + "-shm")
        return .movedTo(target)
    }

    private var isUsable: Bool {
        guard let database = try? OpenDatabase(path: path),
            let check = try? database.connection.prepare("PRAGMA quick_check(1)"),
            (try? check.step()) == true
        else { return false }
        return check.text(0) == "ok"
    }

    /// At most three are kept: a disk that fails again and again must not be filled up with them.
    private var freeName: String {
        for number in 1..<3 {
            let name = "\(path).broken-\(number)"
            if access(name, F_OK) != 0 { return name }
        }
        return "\(path).broken-3"
    }
}
