import ErrandCore
import ErrandHTTP
import ErrandSystem

/// The identity of a part file in its file system.
///
/// A complete part file is renamed to the destination, and keeps its number. A file at the destination with this
/// number and the expected size is therefore the complete download.
struct PartIdentity: Sendable, Hashable, Codable {
    private var device: UInt64
    private var number: UInt64
    /// The size of the finished file; `nil` if it was unknown.
    private var total: Int64?

    /// `nil` if there is no such file, or it is not a regular one.
    init?(_ url: URL, total: Int64?) {
        guard let status = Self.status(url) else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
        self.total = total
    }

    /// The finished file of a destination; `nil` if the part file was not moved to it, or was replaced since.
    func finishedFile(
        of destination: DownloadDestination, _ policy: DownloadPlan.ExistingFile
    ) -> URL? {
        // A process that is killed while it moves the part file to a free name leaves both names. Without a known size a
        // part file may be incomplete.
        guard total != nil || Self.status(destination.part).map(isSame) != true else { return nil }
        guard destination.isFolder || policy == .rename else {
            return matches(destination.file) ? destination.file : nil
        }
        // The response has named the file, or the name was taken.
        let (folder, part) = (destination.folder, destination.part.lastPathComponent)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.lazy.filter { $0 != part }.map {
            folder.appendingPathComponent($0, isDirectory: false)
        }
        .first(where: matches)
    }

    private func matches(_ url: URL) -> Bool {
        guard let status = Self.status(url) else { return false }
        return isSame(status) && (total ?? Int64(status.st_size)) == Int64(status.st_size)
    }

    private func isSame(_ status: stat) -> Bool {
        UInt64(truncatingIfNeeded: status.st_dev) == device
            && UInt64(truncatingIfNeeded: status.st_ino) == number
    }

    private static func status(_ url: URL) -> stat? {
        var status = stat()
        // Not through a symbolic link.
        guard lstat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return status
    }
}
