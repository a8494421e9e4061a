import Foundation
import Synchronization

/// One download at a time for one part file: in this process by name, among processes by `flock`.
enum FileLock {
    private static let taken = Mutex<Set<String>>([])

    /// Opens a file, made where there is none, that nobody else has open this way.
    static func openLocked(_ url: URL) throws(RequestError) -> Int32 {
        let directory = url.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true)
        } catch {
            throw .file(
                "The directory \(directory.path) cannot be made. Choose another destination.",
                underlying: error)
        }
        let path = url.path
        guard taken.withLock({ $0.insert(path).inserted }) else { throw busy(url) }
        do throws(RequestError) {
            return try openUntilCurrent(url)
        } catch {
            taken.withLock { _ = $0.remove(path) }
            throw error
        }
    }

    static func close(_ descriptor: Int32, _ url: URL) {
        guard descriptor >= 0 else { return }
        Foundation.close(descriptor)
        taken.withLock { _ = $0.remove(url.path) }
    }

    private static func openUntilCurrent(_ url: URL) throws(RequestError) -> Int32 {
        // Between opening and locking another process may have finished and renamed the file: then
        // the lock is on its destination, and only a file that still has its name will do.
        for _ in 0..<100 {
            // Not through a link: whoever may write to the directory must not choose what is
            // overwritten.
            let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
            let descriptor = open(url.path, flags, 0o666)
            guard descriptor >= 0 else {
                throw .file(
                    "\(url.path) cannot be opened: \(String(cString: strerror(errno))). Choose a "
                        + "destination that can be written.")
            }
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK {
                Foundation.close(descriptor)
                throw busy(url)
            }
            switch identity(descriptor, url.path) {
            case .current: return descriptor
            case .sharedWithAnotherName:
                // A finished file that lost its process before this name was taken from it.
                unlink(url.path)
            case .gone: break
            }
            Foundation.close(descriptor)
        }
        throw busy(url)
    }

    private enum Identity {
        case current, sharedWithAnotherName, gone
    }

    private static func identity(_ descriptor: Int32, _ path: String) -> Identity {
        var opened = stat()
        var named = stat()
        guard fstat(descriptor, &opened) == 0, lstat(path, &named) == 0,
            opened.st_ino == named.st_ino, opened.st_dev == named.st_dev
        else { return .gone }
        return opened.st_nlink > 1 ? .sharedWithAnotherName : .current
    }

    private static func busy(_ url: URL) -> RequestError {
        .file(
            "Another download writes to the same destination (\(url.path)). Wait for it, cancel it, or "
                + "choose another destination.")
    }
}
