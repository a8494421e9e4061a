public import ErrandHTTP
public import ErrandSystem

/// The destination of a download, and the rules for its file.
///
///     .to(folder) { $0.sha256 = digest }
public struct DownloadPlan: Sendable {
    /// The finished file, or an existing folder: then the response names the file, see <doc:Downloads>.
    ///
    /// Errors: ``RequestError/Code/fileFailed`` for a URL that is not a file URL.
    public var destination: URL
    /// What happens if the destination exists: replace it, fail, keep it, or find a free name.
    ///
    /// Default ``ExistingFile/overwrite``: a complete file replaces it in one step. Errors:
    /// ``RequestError/Code/fileFailed`` with ``ExistingFile/fail``.
    public var existingFile = ExistingFile.overwrite
    /// Whether the part file of an earlier run is continued, if the server confirms that the file is the same.
    ///
    /// Default true; uses `Range` and `If-Range` (RFC 9110 §13.1.5, §14.2). No effect on other methods than GET, and if
    /// status 206 is not acceptable.
    public var resumes = true
    /// The expected SHA-256 of the file, 64 hexadecimal digits; another file is deleted.
    ///
    /// Default `nil`: not checked. Errors: ``RequestError/Code/digestMismatch``; ``RequestError/Code/invalidConfiguration``
    /// for text that is not a digest.
    public var sha256: String?
    /// The expected digests of the finished file, of any algorithms; another file is deleted (default none).
    ///
    /// Errors: ``RequestError/Code/digestMismatch``; ``RequestError/Code/invalidConfiguration`` for a digest with a
    /// wrong number of digits, before anything is sent.
    public var expectedDigests: [DownloadedFile.Digest] = []
    /// The algorithms whose digests are computed in any case, for ``DownloadedFile/digests`` (default none).
    public var computedDigests: Set<DownloadedFile.Digest.Algorithm> = []
    /// Whether the file is compared with the digests in the fields of the response (default true).
    ///
    /// `Repr-Digest` and `Content-Digest` (RFC 9530), `Digest` (RFC 3230), `x-goog-hash` and `Content-MD5`, in this
    /// order if fields contradict each other. All supported algorithms are compared: SHA-256, SHA-512, SHA-1 and
    /// MD5. The fields of a response to a range (206) count, too: `Content-Digest` and `Content-MD5` for the bytes of
    /// the range, of which another value starts the download again; the others for the whole file. No effect if
    /// the endpoint expects digests itself. Errors: ``RequestError/Code/digestMismatch``.
    public var verifiesServerDigests = true

    /// The folder of the part file and its journal; `nil`, the default, is the folder of the finished file.
    ///
    /// It can be on another file system: the complete file is then copied to the destination's before it gets its
    /// name. Errors: ``RequestError/Code/fileFailed`` for a URL that is not a file URL.
    public var partFolder: URL?
    /// Whether the part file of a cancelled download is kept for the next start (default true).
    ///
    /// A download that fails always keeps it. Downloads that share a transfer are cancelled with the last one.
    public var keepsPartWhenCancelled = true
    /// Whether the finished file gets the time of `Last-Modified` (default false: the time of the download).
    public var setsModificationTime = false
    /// The permissions of the finished file, such as `0o640` (default `nil`: `0o666` without the process' umask).
    ///
    /// Errors: ``RequestError/Code/invalidConfiguration`` for a number above `0o777`.
    public var fileMode: UInt16?

    /// The greatest number of requests that receive the file in parallel, 1 to 32 (default 1).
    ///
    /// More than one needs a server that supports ranges, a known length and a strong validator; otherwise the file
    /// comes in one request. Errors: ``RequestError/Code/invalidConfiguration`` for a number outside 1...32.
    public var segments = 1
    /// The smallest range that is requested separately, in bytes (default 1 MiB).
    ///
    /// A file of less than twice this size comes in one request. Errors:
    /// ``RequestError/Code/invalidConfiguration`` for a size below 1.
    public var minimumSegmentSize: Int64 = 1 << 20
    /// The URLs under which the part file of an earlier start is resumed (default ``URLRule/identical``).
    ///
    /// With another URL than the recorded one, the server must repeat the same validator and the same total length;
    /// otherwise the download starts again.
    public var resumableURL = URLRule.identical
    /// Returns the next absolute URL of the same file if a URL has expired; `nil` ends the download with the error.
    ///
    ///     $0.urlRefresh = { error in try await signedURL() }
    ///
    /// Default `nil`: a refused URL fails the request. Called after the status codes of ``urlRefreshStatuses``, on any
    /// thread, without a lock. It may suspend, for example to send another request; cancelling the download cancels its
    /// Swift task.
    public var urlRefresh: (@Sendable (_ error: RequestError) async throws -> String?)?
    /// The status codes after which ``urlRefresh`` is called (default 401, 403, 404, 410).
    ///
    /// A 401 first lets an authenticator renew its credentials.
    public var urlRefreshStatuses: Set<Int> = [401, 403, 404, 410]
    /// The number of new URLs that may follow each other without a byte from any of them.
    package static let maximumURLsWithoutBytes = 5
    /// The number of bytes that are requested again, and compared, to resume without a strong validator (default 0:
    /// such a file starts again).
    ///
    /// A weak `ETag`, or a `Last-Modified`, must then be equal, too. Versions that share them and these bytes are
    /// not distinguished; compare a digest if that matters. At most 16 MiB. Errors:
    /// ``RequestError/Code/invalidConfiguration`` for a number outside 0...16,777,216.
    public var weakValidatorOverlap: Int64 = 0
    /// Whether a file is resumed although its responses have neither `ETag` nor `Last-Modified` (default false: it
    /// starts again).
    ///
    /// Only the total length is compared, and the bytes of ``weakValidatorOverlap`` if that is set. Risk: if the file
    /// on the server is replaced by another one of the same length, the result is a mixture of both, and no error
    /// is reported. Set it only for files that never change, or together with ``expectedDigests``. The length must
    /// be known. A response with a validator starts the download again.
    public var resumesWithoutValidator = false

    /// Creates a plan; the closure changes its rules.
    public init(to destination: URL, _ change: (inout DownloadPlan) -> Void = { _ in }) {
        self.destination = destination
        change(&self)
    }

    /// A plan for a file, or for a file in an existing folder; the closure changes its rules.
    public static func to(
        _ destination: URL, _ change: (inout DownloadPlan) -> Void = { _ in }
    ) -> DownloadPlan {
        DownloadPlan(to: destination, change)
    }

    /// All digests that the author of the endpoint expects.
    package var allExpectedDigests: [DownloadedFile.Digest] {
        (sha256.map { [.sha256($0)] } ?? []) + expectedDigests
    }

    /// The text that distinguishes plans: requests share a file only if it is the file that each of them asks for.
    package var sharingKey: String {
        let computed = computedDigests.map(\.rawValue).sorted()
        let mode = fileMode.map { String($0) } ?? ""
        return "\(destination.absoluteString)\n\(existingFile) \(resumes) \(allExpectedDigests) "
            + "\(computed) \(verifiesServerDigests) \(partFolder?.absoluteString ?? "") "
            + "\(keepsPartWhenCancelled) \(setsModificationTime) \(mode) "
            + "\(segments) \(minimumSegmentSize) \(resumableURL) \(weakValidatorOverlap) "
            + "\(resumesWithoutValidator) "
            + "\(urlRefresh == nil ? [] : urlRefreshStatuses.sorted())"
    }

    /// Refuses a plan that cannot be carried out, before anything is sent.
    ///
    /// - Throws: ``RequestError/Code/fileFailed``, ``RequestError/Code/invalidConfiguration``.
    package func check() throws(RequestError) {
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
        if let partFolder, !partFolder.isFileURL {
            throw RequestError(
                .fileFailed, stage: .build,
                "The partFolder of a download is not a file URL; create it with URL(fileURLWithPath:)."
            )
        }
        if let fileMode, fileMode > 0o777 {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "The fileMode of a download must be at most 0o777.")
        }
        guard (1...32).contains(segments), minimumSegmentSize > 0 else {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "The segments of a download must be 1 to 32, with a minimumSegmentSize of at least 1 byte."
            )
        }
        guard (0...16 << 20).contains(weakValidatorOverlap) else {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "The weakValidatorOverlap of a download must be 0 to 16,777,216 bytes.")
        }
        if let digest = expectedDigests.first(where: { !$0.isValid }) {
            throw RequestError(
                .invalidConfiguration, stage: .build,
                "An expected \(digest.algorithm.rawValue) of a download must have "
                    + "\(2 * digest.algorithm.byteCount) hexadecimal digits.")
        }
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
