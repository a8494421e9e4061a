public import Foundation

/// Where a download goes and how it is resumed.
public struct DownloadPlan: Sendable, Hashable {
    /// The finished file, or a directory that exists: then the URL's last path component is appended.
    public var destination: URL
    /// What happens when the destination is there (default ``ExistingFile/overwrite``).
    public var existingFile: ExistingFile
    /// Whether a part file of an earlier run is continued (default true).
    public var resumes: Bool
    /// The expected SHA-256 of the finished file in hex; `nil` checks nothing.
    public var sha256: String?

    /// Makes a plan.
    public init(
        destination: URL, existingFile: ExistingFile = .overwrite, resumes: Bool = true,
        sha256: String? = nil
    ) {
        self.destination = destination
        self.existingFile = existingFile
        self.resumes = resumes
        self.sha256 = sha256
    }

    /// The destination of a download that names none: no path that could be there.
    package static let noDestination = URL(fileURLWithPath: "/dev/null/destination")

    /// What happens when the destination is there (row DL-3).
    public enum ExistingFile: Sendable, Hashable {
        /// It is replaced, atomically and only by a complete file.
        case overwrite
        /// Nothing is sent; the request fails with ``RequestError/Code/fileFailed``.
        case fail
        /// The new file gets ` 2`, ` 3` … before its extension.
        case rename
    }
}
