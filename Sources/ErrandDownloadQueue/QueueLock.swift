import ErrandHTTP
import ErrandSystem
import Synchronization

/// Locks the database of a queue against other queues, in this process and in others, by `flock`.
///
/// The lock is on a file of its own: closing any descriptor of the database would release the locks of SQLite. The
/// system releases it when the process ends. The file stays: another process may have opened it already.
final class QueueLock: Sendable {
    private struct State {
        /// The locked file; -1 if it is not locked.
        var descriptor: Int32 = -1
        /// The number of users of the lock.
        var users = 0

        mutating func unlock() {
            guard descriptor >= 0 else { return }
            // A process that is being started has a copy of the descriptor until its `exec`.
            _ = flock(descriptor, LOCK_UN)
            close(descriptor)
            descriptor = -1
        }
    }

    /// The path of the database.
    private let path: String
    private let state = Mutex(State())

    init(path: String) { self.path = path }

    deinit { state.withLock { $0.unlock() } }

    /// Locks the database, and counts a user of the lock.
    ///
    /// - Throws: ``RequestError/Code/storeFailed`` if another queue has locked it.
    func acquire() throws(RequestError) {
        try state.withLock { (state) throws(RequestError) -> Void in
            if state.users == 0 { state.descriptor = try lockedDescriptor() }
            state.users += 1
        }
    }

    /// Unlocks the database after its last user.
    func release() {
        state.withLock { state in
            state.users -= 1
            if state.users == 0 { state.unlock() }
        }
    }

    private func lockedDescriptor() throws(RequestError) -> Int32 {
        // With the permissions that the folder of a database gets.
        try? FileManager.default.createDirectory(
            atPath: FilePath.folder(of: path), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let file = path + "-lock"
        let descriptor: Int32
        do throws(FileAccess.Refusal) {
            descriptor = try FileAccess.ownOrNew(file, mode: 0o600)
        } catch {
            throw failure(
                "cannot be locked, because \(file) cannot be used: \(error.reason). "
                    + (error.advice ?? "Choose a path in a writable folder."))
        }
        // Any other failure means a file system without locks.
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK {
            close(descriptor)
            throw failure(
                "is used by another DownloadQueue, in this or another process. Close that one "
                    + "first, or choose another path.")
        }
        return descriptor
    }

    private func failure(_ message: String) -> RequestError {
        RequestError(.storeFailed, stage: .cache, "The download queue at \(path) \(message)")
    }
}
