package import ErrandHTTP
public import Foundation

/// The destination of a download and the rules for resuming it.
public struct DownloadPlan: Sendable, Hashable {
    /// The path of the finished file, or an existing directory: then the response names the file.
    public var destination: URL
    /// The handling of an existing file at the destination (default ``ExistingFile/overwrite``).
    public var existingFile: ExistingFile
    /// Whether the partial file of an earlier attempt is resumed (default true).
    public var resumes: Bool
    /// The expected SHA-256 digest of the finished file in hexadecimal; `nil`, the default, skips the check.
    public var sha256: String?
    /// Further rules (default: those of ``Options/init()``).
    public var options: Options

    /// Creates a plan.
    public init(
        destination: URL, existingFile: ExistingFile = .overwrite, resumes: Bool = true,
        sha256: String? = nil, options: Options = Options()
    ) {
        self.destination = destination
        self.existingFile = existingFile
        self.resumes = resumes
        self.sha256 = sha256
        self.options = options
    }

    /// The digests that the author of the endpoint expects.
    package var expectedDigests: [DownloadedFile.Digest] {
        (sha256.map { [.sha256($0)] } ?? []) + options.expectedDigests
    }

    /// The text that distinguishes plans: requests share a file only if it is the file that each of them asks for.
    package var sharingKey: String {
        "\(destination.absoluteString)\n\(existingFile) \(resumes) \(expectedDigests) \(options.sharingKey)"
    }

    /// The placeholder for a download without a destination; a path that cannot exist.
    package static let noDestination = URL(fileURLWithPath: "/dev/null/destination")

    /// Refuses a plan that cannot be carried out, before anything is sent.
    ///
    /// - Throws: ``RequestError/Code/fileFailed``, ``RequestError/Code/invalidConfiguration``.
    package func check() throws(RequestError) {
        guard destination != Self.noDestination else {
            throw RequestError(
                .fileFailed, stage: .build,
                "The download has no destination. Override destination with the URL of a file, "
                    + "or of an existing directory.")
        }
        guard destination.isFileURL else {
            throw RequestError(
                .fileFailed, stage: .build,
                "The destination is not a file URL; create it with URL(fileURLWithPath:).")
        }
        if let sha256, !DownloadedFile.Digest.sha256(sha256).isValid {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "The sha256 of a download must have 64 hexadecimal digits.")
        }
        try options.check()
    }

    /// The handling of an existing file at the destination.
    public enum ExistingFile: Sendable, Hashable {
        /// The file is replaced atomically, after the download is complete.
        case overwrite
        /// The request fails with ``RequestError/Code/fileFailed`` before anything is sent.
        case fail
        /// The new file gets a number before its extension: ` 2`, ` 3` and so on.
        case rename
        /// The existing file is the result of the download, and nothing is sent, or no body is received if only the
        /// response names the file.
        ///
        /// Expected digests are compared with it; a file with another digest stays and fails the request with
        /// ``RequestError/Code/digestMismatch``.
        case keep
    }
}
