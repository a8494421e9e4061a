package import ErrandHTTP
package import ErrandSystem

/// Renames a complete part file to its destination atomically, by the policy for existing files.
package enum FilePlacement {
    /// The finished file.
    package struct Placed: Sendable, Hashable {
        package var file: URL
        /// Whether it is the downloaded file; false if an existing file was kept.
        package var isNew = true
    }

    /// - Parameter part: The descriptor of the part file.
    package static func place(
        _ part: Int32, _ destination: DownloadDestination, _ policy: DownloadPlan.ExistingFile,
        _ attributes: FileAttributes = FileAttributes()
    ) throws(RequestError) -> Placed {
        do {
            try attributes.apply(to: part, named: destination.part)
            do {
                return try place(destination.part, destination, policy)
            } catch {
                // It is a part file still, which no other user may write and a later start opens.
                fchmod(part, FileLock.mode)
                throw error
            }
        } catch is OtherFileSystem {
            // Copied below.
        } catch let error as RequestError {
            throw error
        } catch {
            throw failure(destination.file, EIO)
        }
        let copy = try copy(part, destination, attributes)
        defer { unlink(copy.path) }
        do {
            let placed = try place(copy, destination, policy)
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
        guard let descriptor = try? FileAccess.folder(folder.path) else { return }
        _ = PartFile.flush(descriptor)
        close(descriptor)
    }

    /// Copies the part file to the file system of the destination, beside it; the copy has its attributes.
    private static func copy(
        _ part: Int32, _ destination: DownloadDestination, _ attributes: FileAttributes
    ) throws(RequestError) -> URL {
        var path: String?
        do {
            let copy = try FileAccess.temporary(
                beside: destination.file.path, reusing: destination.copy.path)
            path = copy.path
            defer { close(copy.descriptor) }
            try copyBytes(of: part, to: copy.descriptor)
            let url = URL(fileURLWithPath: copy.path, isDirectory: false)
            try attributes.apply(to: copy.descriptor, named: url)
            guard PartFile.flush(copy.descriptor) else { throw POSIXError(.EIO) }
            return url
        } catch {
            if let path { unlink(path) }
            throw .file(
                "The finished download could not be copied to \(destination.folder.path). "
                    + "Free some space there, or choose a writable destination.", underlying: error)
        }
    }

    private static func copyBytes(of part: Int32, to copy: Int32) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var offset: off_t = 0
        while true {
            let count = pread(part, buffer.baseAddress, buffer.count, offset)
            if count == 0 { return }
            if count < 0 {
                if errno == EINTR { continue }
                throw POSIXError.last
            }
            try OutputFile.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: copy)
            offset += off_t(count)
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
            underlying: POSIXError(number: code))
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
    package init(_ plan: DownloadPlan, lastModified: String?) {
        mode = plan.fileMode
        modified = plan.setsModificationTime ? lastModified.flatMap { HTTPDate.parse($0) } : nil
    }

    /// Sets the attributes before the file gets its name, so that it never has others.
    ///
    /// Only its owner can write a part file; the finished file gets the permissions that the umask allows.
    func apply(to descriptor: Int32, named file: URL) throws(RequestError) {
        let folder = file.deletingLastPathComponent().path
        let mode = mode.map { mode_t($0) } ?? FileAccess.defaultMode(in: folder)
        if let modified {
            let seconds = modified.timeIntervalSince1970.rounded(.down)
            let time = timespec(tv_sec: Int(seconds), tv_nsec: 0)
            guard futimens(descriptor, [time, time]) == 0 else { throw failure(file, errno) }
        }
        guard let mode, fchmod(descriptor, mode) != 0 else { return }
        // A file system without permissions refuses the default as well.
        if self.mode != nil { throw failure(file, errno) }
    }

    private func failure(_ file: URL, _ code: Int32) -> RequestError {
        .file(
            "Mode and modification time of \(file.path) could not be set: \(String(cString: strerror(code))). "
                + "Choose another file system, or leave fileMode and setsModificationTime unset.",
            underlying: POSIXError(number: code))
    }
}
