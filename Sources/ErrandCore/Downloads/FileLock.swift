package import ErrandHTTP
package import ErrandSystem
import Synchronization

/// Locks a part file for one download: within this process by path, among processes by `flock`.
package enum FileLock {
    /// The permissions of part and lock files: another user who can open a file can also lock it.
    static let mode: mode_t = 0o600
    private static let lockedPaths = Mutex<Set<String>>([])

    /// Opens and locks a file, and creates it if necessary.
    ///
    /// - Throws: ``RequestError/Code/fileFailed``, also if another download has locked it.
    package static func openLocked(_ url: URL) throws(RequestError) -> Int32 {
        try createFolder(url.deletingLastPathComponent())
        let path = url.path
        guard lockedPaths.withLock({ $0.insert(path).inserted }) else { throw busy(url) }
        do throws(RequestError) {
            return try openUntilCurrent(url)
        } catch {
            lockedPaths.withLock { _ = $0.remove(path) }
            throw error
        }
    }

    /// Creates a folder, unless it exists.
    static func createFolder(_ directory: URL) throws(RequestError) {
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true)
        } catch {
            throw .file(
                "The directory \(directory.path) could not be created. Choose another destination.",
                underlying: error)
        }
    }

    package static func close(_ descriptor: Int32, _ url: URL) {
        guard descriptor >= 0 else { return }
        ErrandSystem.close(descriptor)
        lockedPaths.withLock { _ = $0.remove(url.path) }
    }

    private static func openUntilCurrent(_ url: URL) throws(RequestError) -> Int32 {
        // Between opening and locking, another process may have finished and renamed the file. The
        // lock is then on its destination, so only a file that still has its name is accepted.
        for _ in 0..<100 {
            let descriptor: Int32
            do throws(FileAccess.Refusal) {
                // A second name is handled under the lock.
                descriptor = try FileAccess.ownOrNew(
                    url.path, mode: mode, mayHaveSecondName: true)
            } catch {
                throw error.error(url.path, advice: "Choose a writable destination.")
            }
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK {
                ErrandSystem.close(descriptor)
                throw busy(url)
            }
            switch identity(descriptor, url.path) {
            case .current:
                // Others could read the files of earlier versions. A file system without permissions refuses this.
                fchmod(descriptor, mode)
                return descriptor
            case .sharedWithAnotherName:
                // The process ended after it linked the finished file and before it removed this
                // name.
                unlink(url.path)
            case .replaced: break
            }
            ErrandSystem.close(descriptor)
        }
        throw busy(url)
    }

    private enum Identity {
        case current, sharedWithAnotherName, replaced
    }

    private static func identity(_ descriptor: Int32, _ path: String) -> Identity {
        var opened = stat()
        guard FileAccess.isName(path, of: descriptor), fstat(descriptor, &opened) == 0 else {
            return .replaced
        }
        return opened.st_nlink > 1 ? .sharedWithAnotherName : .current
    }

    private static func busy(_ url: URL) -> RequestError {
        .file(
            "Another download or upload uses \(url.path). Wait for it, cancel it, or choose another "
                + "file.", underlying: POSIXError(.EWOULDBLOCK))
    }
}

extension RequestError {
    /// Whether the error is that of a file which another download has locked.
    package var isFileInUse: Bool { (underlying as? POSIXError)?.code == .EWOULDBLOCK }
}
