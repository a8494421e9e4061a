package import ErrandHTTP
package import Foundation

/// Renames a complete part file to its destination atomically, by the policy for existing files.
package enum FilePlacement {
    /// The finished file.
    package struct Placed: Sendable, Hashable {
        package var file: URL
        /// Whether it is the downloaded file; false if an existing file was kept.
        package var isNew = true
    }

    package static func place(
        _ destination: DownloadDestination, _ policy: DownloadPlan.ExistingFile,
        _ attributes: FileAttributes = FileAttributes()
    ) throws(RequestError) -> Placed {
        do {
            try attributes.apply(to: destination.part)
            return try place(destination.part, destination, policy)
        } catch is OtherFileSystem {
            // Copied below.
        } catch let error as RequestError {
            throw error
        } catch {
            throw failure(destination.file, EIO)
        }
        try copy(destination)
        defer { unlink(destination.copy.path) }
        do {
            try attributes.apply(to: destination.copy)
            let placed = try place(destination.copy, destination, policy)
            unlink(destination.part.path)
            return placed
        } catch let error as RequestError {
            throw error
        } catch {
            throw failure(destination.file, EXDEV)
        }
    }

    /// A file cannot be renamed across file systems.
    private struct OtherFileSystem: Error {}

    private static func place(
        _ source: URL, _ destination: DownloadDestination, _ policy: DownloadPlan.ExistingFile
    ) throws -> Placed {
        switch policy {
        case .overwrite:
            guard rename(source.path, destination.file.path) == 0 else {
                throw code(errno, destination.file)
            }
            return Placed(file: destination.file)
        case .fail:
            guard try takeName(destination.file, for: source) else {
                throw exists(destination.file)
            }
            return Placed(file: destination.file)
        case .keep:
            let isNew = try takeName(destination.file, for: source)
            if !isNew { unlink(source.path) }
            return Placed(file: destination.file, isNew: isNew)
        case .rename:
            for number in 1...10_000 {
                let candidate = destination.candidate(number)
                if try takeName(candidate, for: source) { return Placed(file: candidate) }
            }
            throw exists(destination.file)
        }
    }

    package static func exists(_ file: URL) -> RequestError {
        .file(
            "\(file.path) already exists. Remove it, or choose .overwrite, .keep or .rename for existing files."
        )
    }

    /// Syncs a directory, which holds the names of its files, to disk.
    package static func syncDirectory(_ folder: URL) {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = PartFile.flush(descriptor)
        close(descriptor)
    }

    /// Copies the part file to the file system of the destination, beside it.
    private static func copy(_ destination: DownloadDestination) throws(RequestError) {
        let copy = destination.copy
        unlink(copy.path)
        do {
            try FileManager.default.copyItem(at: destination.part, to: copy)
            let descriptor = open(copy.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            defer { close(descriptor) }
            guard descriptor >= 0, PartFile.flush(descriptor) else { throw POSIXError(.EIO) }
        } catch {
            unlink(copy.path)
            throw .file(
                "The finished download could not be copied to \(copy.deletingLastPathComponent().path). "
                    + "Free some space there, or choose a writable destination.", underlying: error)
        }
    }

    /// Takes a name without a race between check and rename.
    ///
    /// - Returns: False if the name is taken.
    private static func takeName(_ file: URL, for source: URL) throws -> Bool {
        if link(source.path, file.path) == 0 {
            unlink(source.path)
            return true
        }
        switch errno {
        case EEXIST: return false
        case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
            // The file system has no hard links: check, then rename.
            if access(file.path, F_OK) == 0 { return false }
            guard rename(source.path, file.path) == 0 else { throw code(errno, file) }
            return true
        case let other: throw code(other, file)
        }
    }

    private static func code(_ code: Int32, _ file: URL) -> any Error {
        code == EXDEV ? OtherFileSystem() : failure(file, code)
    }

    private static func failure(_ file: URL, _ code: Int32) -> RequestError {
        .file(
            "The finished download could not be moved to \(file.path): "
                + "\(String(cString: strerror(code))). Choose a writable destination.",
            underlying: POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO))
    }
}

/// Mode and modification time of a finished file.
package struct FileAttributes: Sendable, Hashable {
    /// The permissions; `nil` leaves those that the process' umask allows.
    var mode: UInt16?
    /// The modification time; `nil` leaves the time of the download.
    var modified: Date?

    package init(mode: UInt16? = nil, modified: Date? = nil) {
        self.mode = mode
        self.modified = modified
    }

    /// The attributes of a download.
    package init(_ options: DownloadPlan.Options, lastModified: String?) {
        mode = options.fileMode
        modified = options.setsModificationTime ? lastModified.flatMap { HTTPDate.parse($0) } : nil
    }

    /// Sets the attributes before the file gets its name, so that it never has others.
    func apply(to file: URL) throws(RequestError) {
        guard mode != nil || modified != nil else { return }
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        defer { close(descriptor) }
        guard descriptor >= 0 else { throw failure(file, errno) }
        if let modified {
            let seconds = modified.timeIntervalSince1970.rounded(.down)
            let time = timespec(tv_sec: Int(seconds), tv_nsec: 0)
            guard futimens(descriptor, [time, time]) == 0 else { throw failure(file, errno) }
        }
        if let mode, fchmod(descriptor, mode_t(mode)) != 0 { throw failure(file, errno) }
    }

    private func failure(_ file: URL, _ code: Int32) -> RequestError {
        .file(
            "Mode and modification time of \(file.path) could not be set: \(String(cString: strerror(code))). "
                + "Choose another file system, or leave fileMode and setsModificationTime unset.",
            underlying: POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO))
    }
}
