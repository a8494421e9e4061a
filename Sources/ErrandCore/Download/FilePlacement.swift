import Foundation

/// Gives a whole part file its name, in one step and by the policy for files that are there (row
/// DL-3).
enum FilePlacement {
    static func place(
        _ destination: DownloadDestination, _ policy: DownloadPlan.ExistingFile
    ) throws(RequestError) -> URL {
        switch policy {
        case .overwrite:
            guard rename(destination.part.path, destination.file.path) == 0 else {
                throw failure(destination.file, errno)
            }
            return destination.file
        case .fail:
            guard try takeName(destination.file, for: destination.part) else {
                throw exists(destination.file)
            }
            return destination.file
        case .rename:
            for number in 1...10_000 {
                let candidate = destination.candidate(number)
                if try takeName(candidate, for: destination.part) { return candidate }
            }
            throw exists(destination.file)
        }
    }

    static func exists(_ file: URL) -> RequestError {
        .file(
            "\(file.path) exists already. Remove it, or choose .overwrite or .rename for existing files."
        )
    }

    /// A name lives in its directory: that must reach the disk, too.
    static func syncDirectory(of file: URL) {
        let descriptor = open(
            file.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// - Returns: False when the name is taken; unlike a look followed by a rename this leaves no gap.
    private static func takeName(_ file: URL, for part: URL) throws(RequestError) -> Bool {
        if link(part.path, file.path) == 0 {
            unlink(part.path)
            return true
        }
        switch errno {
        case EEXIST: return false
        case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
            // No hard links here: what is left is the look before the rename.
            if access(file.path, F_OK) == 0 { return false }
            guard rename(part.path, file.path) == 0 else { throw failure(file, errno) }
            return true
        default: throw failure(file, errno)
        }
    }

    private static func failure(_ file: URL, _ code: Int32) -> RequestError {
        .file(
            "The finished download could not be moved to \(file.path): "
                + "\(String(cString: strerror(code))). Choose a destination that can be written.",
            underlying: POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO))
    }
}
