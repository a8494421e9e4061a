package import ErrandHTTP
package import Foundation

/// The paths of a download: the finished file, the part file, and the journal.
package struct DownloadDestination: Sendable, Hashable {
    /// The finished file, unless the policy for existing files chooses another name.
    package let file: URL
    /// The part file, with the bytes received so far.
    package let part: URL
    /// The journal, which describes the part file.
    package let journal: URL

    /// - Parameter url: The requested URL: names the file if the destination is a directory.
    package init(_ plan: DownloadPlan, url: URI) throws(RequestError) {
        var file = plan.destination.standardizedFileURL
        if Self.isDirectory(file) {
            file.appendPathComponent(FileName.last(of: url), isDirectory: false)
            guard !Self.isDirectory(file) else {
                throw .file("\(file.path) is a directory. Name the file itself as the destination.")
            }
        }
        self.file = file
        let directory = file.deletingLastPathComponent()
        let stem = Self.stem(of: file.lastPathComponent)
        part = directory.appendingPathComponent("." + stem + ".errand-part", isDirectory: false)
        journal = directory.appendingPathComponent(
            "." + stem + ".errand-journal", isDirectory: false)
    }

    /// Whether the destination exists.
    package var isTaken: Bool { FileManager.default.fileExists(atPath: file.path) }

    /// The candidate names if an existing file must not be replaced.
    ///
    /// For example `a.txt`, `a 2.txt`, `a 3.txt`.
    package func candidate(_ number: Int) -> URL {
        guard number > 1 else { return file }
        let name = file.lastPathComponent
        let directory = file.deletingLastPathComponent()
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            return directory.appendingPathComponent("\(name) \(number)", isDirectory: false)
        }
        return directory.appendingPathComponent(
            "\(name[..<dot]) \(number)\(name[dot...])", isDirectory: false)
    }

    /// The name itself; if it leaves no room for a suffix, its beginning and a digest.
    private static func stem(of name: String) -> String {
        guard name.utf8.count > 220 else { return name }
        return String(name.prefix(40)) + "-" + SHA256.hex(Data(name.utf8)).prefix(32)
    }

    private static func isDirectory(_ url: URL) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory)
            && isDirectory.boolValue
    }
}

extension RequestError {
    /// A file system failure; the message says what to do.
    package static func file(_ message: String, underlying: (any Error)? = nil) -> RequestError {
        RequestError(.fileFailed, stage: .transport, message, underlying: underlying)
    }
}

/// Renames a complete part file to its destination atomically, by the policy for existing files.
package enum FilePlacement {
    package static func place(
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

    package static func exists(_ file: URL) -> RequestError {
        .file(
            "\(file.path) already exists. Remove it, or choose .overwrite or .rename for existing files."
        )
    }

    /// Syncs the directory, which holds the name, to disk.
    static func syncDirectory(of file: URL) {
        let descriptor = open(
            file.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// Takes a name without a race between check and rename.
    ///
    /// - Returns: False if the name is taken.
    private static func takeName(_ file: URL, for part: URL) throws(RequestError) -> Bool {
        if link(part.path, file.path) == 0 {
            unlink(part.path)
            return true
        }
        switch errno {
        case EEXIST: return false
        case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
            // The file system has no hard links: check, then rename.
            if access(file.path, F_OK) == 0 { return false }
            guard rename(part.path, file.path) == 0 else { throw failure(file, errno) }
            return true
        default: throw failure(file, errno)
        }
    }

    private static func failure(_ file: URL, _ code: Int32) -> RequestError {
        .file(
            "The finished download could not be moved to \(file.path): "
                + "\(String(cString: strerror(code))). Choose a writable destination.",
            underlying: POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO))
    }
}
