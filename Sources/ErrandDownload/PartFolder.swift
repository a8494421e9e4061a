package import ErrandHTTP
package import Foundation

/// The part files of a folder.
package enum PartFolder {
    static let partSuffix = ".errand-part"
    static let journalSuffix = ".errand-journal"
    static let copySuffix = ".errand-copy"

    package static func parts(in folder: URL) throws(RequestError) -> [DownloadPlan.Part] {
        try names(in: folder).filter(isPart).sorted().compactMap { part($0, in: folder) }
    }

    package static func removeParts(
        in folder: URL, unchangedSince date: Date
    ) throws(RequestError) -> [DownloadPlan.Part] {
        var removed: [DownloadPlan.Part] = []
        for part in try parts(in: folder) where part.modified < date {
            let stem = String(part.file.lastPathComponent.dropLast(partSuffix.count))
            let isRemoved = remove(
                part.file, journal: folder.appendingPathComponent(stem + journalSuffix),
                copy: folder.appendingPathComponent(stem + copySuffix))
            if isRemoved { removed.append(part) }
        }
        return removed
    }

    /// Removes the part file and the journal of a destination, unless a download in any process uses them.
    package static func removePart(of destination: DownloadDestination) {
        var status = stat()
        // Locking would create the part file and its folder.
        guard
            [destination.part, destination.journal].contains(where: { lstat($0.path, &status) == 0 }
            )
        else { return }
        _ = remove(
            destination.part, journal: destination.journal, copy: destination.copy)
    }

    private static func remove(_ part: URL, journal: URL, copy: URL) -> Bool {
        // A running download holds the lock.
        guard let descriptor = try? FileLock.openLocked(part) else { return false }
        for suffix in PartFile.journalSuffixes { unlink(journal.path + suffix) }
        unlink(copy.path)
        unlink(part.path)
        FileLock.close(descriptor, part)
        return true
    }

    private static func isPart(_ name: String) -> Bool {
        name.hasPrefix(".") && name.hasSuffix(partSuffix)
    }

    private static func part(_ name: String, in folder: URL) -> DownloadPlan.Part? {
        let file = folder.appendingPathComponent(name, isDirectory: false)
        var status = stat()
        // Not through a symbolic link.
        guard lstat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let journal = folder.appendingPathComponent(
            name.dropLast(partSuffix.count) + journalSuffix, isDirectory: false)
        let record = DownloadJournal(of: journal)
        let time = status.modificationTime
        let seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        return DownloadPlan.Part(
            file: file, url: record?.url,
            bytes: PartFile.present(record, size: Int64(status.st_size), journal.path)?.count
                ?? Int64(status.st_size), total: record?.total,
            modified: Date(timeIntervalSince1970: seconds))
    }

    private static func names(in folder: URL) throws(RequestError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw .file(
                "The folder \(folder.path) could not be read. Name the folder of a destination.",
                underlying: error)
        }
    }
}

extension stat {
    /// The time of the last change of the contents.
    package var modificationTime: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }
}
