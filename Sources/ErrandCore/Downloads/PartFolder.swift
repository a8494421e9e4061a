package import ErrandHTTP
package import ErrandSystem

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

    /// The maximum number of reads of a journal that changes meanwhile.
    private static let maximumReads = 8

    private static func isPart(_ name: String) -> Bool {
        name.starts(withBytes: ".") && name.ends(withBytes: partSuffix)
    }

    private static func part(_ name: String, in folder: URL) -> DownloadPlan.Part? {
        let file = folder.appendingPathComponent(name, isDirectory: false)
        let journal = folder.appendingPathComponent(
            name.dropLast(partSuffix.count) + journalSuffix, isDirectory: false)
        var status = stat()
        var record = DownloadJournal(of: journal)
        var bytes: Int64 = 0
        // A running download changes the journal before the file has a gap, and the table after the file. So the size
        // is read after the table, and counts only if the journal has not changed meanwhile.
        for _ in 0..<maximumReads {
            let recorded = PartFile.recorded(record, journal.path)
            // Not through a symbolic link.
            guard lstat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                return nil
            }
            bytes = Int64(status.st_size)
            if let recorded, recorded.end <= bytes { bytes = recorded.count }
            let latest = DownloadJournal(of: journal)
            if latest == record { break }
            record = latest
        }
        let time = status.modificationTime
        let seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        return DownloadPlan.Part(
            file: file, url: record?.url, bytes: bytes, total: record?.total,
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
