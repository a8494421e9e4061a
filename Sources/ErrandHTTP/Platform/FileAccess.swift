package import ErrandSystem

/// Opens the files of the package: the only file that calls `open(2)`.
///
/// Other users may write a folder such as `/tmp`, and can create files there under every name that they can guess.
/// A new file is therefore created exclusively (`O_EXCL`), and an existing one is used only if it is a regular file
/// with one name that belongs to the current user and that no other user may write. No call follows a symbolic link
/// in the last component of a path (`O_NOFOLLOW`) or blocks on a named pipe (`O_NONBLOCK`), except that files which
/// the user has named for reading may be symbolic links.
package enum FileAccess {
    /// The reason why a file was not opened.
    package enum Refusal: Error, Sendable, Hashable {
        /// The error number of the system.
        case failed(Int32)
        case notRegular
        case otherOwner
        case writableByOthers
        case severalNames
    }

    /// An open file and its path.
    package struct Named: Sendable {
        package let descriptor: Int32
        package let path: String
    }

    private static let always = O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    /// Permissions that let other users change a file.
    private static let othersWrite: mode_t = 0o022

    // MARK: - Files that the user has named

    /// Opens a regular file for reading, also through a symbolic link.
    package static func reading(_ path: String) throws(Refusal) -> Int32 {
        let descriptor = try opened(path, O_RDONLY)
        guard let status = status(of: descriptor), isRegular(status) else {
            close(descriptor)
            throw .notRegular
        }
        return descriptor
    }

    /// The bytes of a regular file, also through a symbolic link; mapped into memory if that is safe.
    package static func contents(of url: URL) throws -> Data {
        // `Data` would block on a named pipe.
        _ = try SourceFile(url)
        return try Data(contentsOf: url, options: .mappedIfSafe)
    }

    /// Opens a folder, to sync it.
    package static func folder(_ path: String) throws(Refusal) -> Int32 {
        try opened(path, O_RDONLY | O_DIRECTORY)
    }

    // MARK: - Files of the package

    /// Opens a file that the package has written earlier.
    ///
    /// - Parameters:
    ///   - access: `O_RDONLY` or `O_RDWR`.
    ///   - mayHaveSecondName: Whether the caller handles a file with several hard links itself.
    package static func own(
        _ path: String, _ access: Int32 = O_RDONLY, mayHaveSecondName: Bool = false
    ) throws(Refusal) -> Int32 {
        let descriptor = try opened(path, access | O_NOFOLLOW)
        do throws(Refusal) {
            try check(descriptor, path, mayHaveSecondName: mayHaveSecondName)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Opens a file that the package has written earlier, or creates it.
    ///
    /// - Parameter mode: The permissions of a new file, which must not let other users write.
    package static func ownOrNew(
        _ path: String, mode: mode_t, mayHaveSecondName: Bool = false
    ) throws(Refusal) -> Int32 {
        var last = ENOENT
        // Another process may create or remove the file between the two calls.
        for _ in 0..<100 {
            do throws(Refusal) {
                return try own(path, O_RDWR, mayHaveSecondName: mayHaveSecondName)
            } catch  where error == .failed(ENOENT) {}
            do throws(Refusal) {
                return try new(path, mode: mode)
            } catch {
                guard case .failed(EEXIST) = error else { throw error }
                last = EEXIST
            }
        }
        throw .failed(last)
    }

    /// Refuses an existing file that ``own(_:_:mayHaveSecondName:)`` would refuse; a missing one is accepted.
    package static func checkOwn(_ path: String) throws(Refusal) {
        do throws(Refusal) {
            close(try own(path))
        } catch  where error == .failed(ENOENT) || error == .failed(ENOTDIR) {}
    }

    /// Refuses an existing file that another user can have written, without opening it; a missing one is accepted.
    ///
    /// For databases: closing a descriptor of its file releases the locks of SQLite. A symbolic link is accepted if the
    /// current user or root has created it.
    package static func checkUnopened(_ path: String) throws(Refusal) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFLNK {
            guard status.st_uid == geteuid() || status.st_uid == 0 else {
                throw .failed(ELOOP)
            }
            guard stat(path, &status) == 0 else { return }
            // The attributes are those of the target, whose file system may have no permissions.
            return try check(status, URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        }
        try check(status, path)
    }

    /// Creates a file that must not exist.
    package static func new(_ path: String, mode: mode_t) throws(Refusal) -> Int32 {
        try opened(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
    }

    /// Creates a temporary file in the folder of another one.
    ///
    /// - Parameters:
    ///   - path: The path of the other file.
    ///   - reusing: A fixed path that is replaced, so that killed processes leave one file at most; only for callers
    ///     that hold a lock. A random name is used if another user has taken it.
    package static func temporary(
        beside path: String, reusing fixed: String? = nil, mode: mode_t = 0o600
    ) throws(Refusal) -> Named {
        if let fixed {
            unlink(fixed)
            do throws(Refusal) {
                return Named(descriptor: try new(fixed, mode: mode), path: fixed)
            } catch  where error == .failed(EEXIST) || error == .failed(EISDIR) {}
        }
        let folder = FilePath.folder(of: path)
        // File systems allow 255 bytes.
        let stem = String(decoding: FilePath.name(of: path).utf8.prefix(200), as: UTF8.self)
        var refusal = Refusal.failed(EEXIST)
        for _ in 0..<100 {
            let name = ".\(stem).\(String(UInt64.random(in: 0 ... .max), radix: 36))"
            let candidate = FilePath.path(folder, name)
            do throws(Refusal) {
                return Named(descriptor: try new(candidate, mode: mode), path: candidate)
            } catch {
                guard error == .failed(EEXIST) else { throw error }
                refusal = error
            }
        }
        throw refusal
    }

    /// Creates a file without a name in a folder; the system removes it when it is closed.
    ///
    /// - Parameter name: The beginning of the name that it has at first.
    package static func unnamed(
        in folder: String, as name: String = "errand"
    ) throws(Refusal) -> Int32 {
        let file = try temporary(beside: FilePath.path(folder, name))
        unlink(file.path)
        return file.descriptor
    }

    /// The folder for temporary files of the current user.
    package static var temporaryFolder: String { FileManager.default.temporaryDirectory.path }

    /// The size of a file in bytes; `nil` if there is none.
    package static func size(of url: URL) -> Int64? {
        var status = stat()
        return stat(url.path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Whether a path is still the name of an open file.
    package static func isName(_ path: String, of descriptor: Int32) -> Bool {
        var named = stat()
        guard let opened = status(of: descriptor), lstat(path, &named) == 0 else { return false }
        return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
    }

    /// The permissions that a new file gets in a folder: `0o666` without the process' umask.
    ///
    /// Read from a new file, because no system call reads the umask without changing it for other threads.
    package static func defaultMode(in folder: String) -> mode_t? {
        probe(in: folder, mode: 0o666).map { $0.st_mode & 0o777 }
    }

    // MARK: - Checks

    private static func check(
        _ descriptor: Int32, _ path: String, mayHaveSecondName: Bool
    ) throws(Refusal) {
        guard let status = status(of: descriptor) else { throw .failed(errno) }
        try check(status, path, mayHaveSecondName: mayHaveSecondName)
    }

    private static func check(
        _ status: stat, _ path: String, mayHaveSecondName: Bool = false
    ) throws(Refusal) {
        guard isRegular(status) else { throw .notRegular }
        let isOurs = status.st_uid == geteuid()
        let others = status.st_mode & othersWrite
        if !isOurs || others != 0 {
            // Some file systems have no owners or permissions, such as FAT and shares of a network. A new file shows
            // what the file system gives to our own files.
            let usual = probe(in: FilePath.folder(of: path), mode: 0o600)
            guard isOurs || status.st_uid == usual?.st_uid else { throw .otherOwner }
            guard others & ~(usual?.st_mode ?? 0) == 0 else { throw .writableByOthers }
        }
        guard mayHaveSecondName || status.st_nlink <= 1 else { throw .severalNames }
    }

    /// The attributes of a new file in a folder, which is removed at once.
    private static func probe(in folder: String, mode: mode_t) -> stat? {
        #if os(Linux)
            // O_TMPFILE: a file without a name, which programs that watch the folder do not see.
            if let descriptor = try? opened(folder, 0o20_000_000 | O_DIRECTORY | O_RDWR, mode) {
                defer { close(descriptor) }
                return status(of: descriptor)
            }
        #endif
        let path = FilePath.path(folder, "errand-probe")
        guard let file = try? temporary(beside: path, mode: mode) else { return nil }
        defer { close(file.descriptor) }
        unlink(file.path)
        return status(of: file.descriptor)
    }

    private static func status(of descriptor: Int32) -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    private static func isRegular(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

    private static func opened(
        _ path: String, _ flags: Int32, _ mode: mode_t = 0
    ) throws(Refusal) -> Int32 {
        while true {
            let descriptor = open(path, flags | always, mode)
            if descriptor >= 0 { return descriptor }
            if errno != EINTR { throw .failed(errno) }
        }
    }
}

extension FileAccess.Refusal {
    /// The reason, which completes the sentence "The file was refused because …".
    package var reason: String {
        switch self {
        case .failed(ELOOP): "it is a symbolic link"
        case .failed(let code): String(cString: strerror(code))
        case .notRegular: "it is not a regular file"
        case .otherOwner: "it belongs to another user"
        case .writableByOthers: "other users may write it"
        case .severalNames: "it has a second name (a hard link)"
        }
    }

    /// The error number of the system; `EPERM` for a file that exists and is refused.
    package var code: Int32 { if case .failed(let code) = self { code } else { EPERM } }

    /// The advice for a file that exists and is refused; `nil` if the system has refused it.
    package var advice: String? {
        switch self {
        case .failed(let code) where code != ELOOP: nil
        default:
            "Remove it, or choose another path, in a folder that only the current user can write."
        }
    }
}
