import ErrandCore
public import Foundation

/// An endpoint whose response body is written to a file; its output is the finished file.
///
///     final class Photo: DownloadRequest {
///         override var url: String { "/photo.jpg" }
///         override var destination: URL { URL(fileURLWithPath: "/tmp/photo.jpg") }
///     }
///     let file = try await Photo().value()
///
/// The destination is not touched before the file is complete. If the run fails, is cancelled, or the process is
/// killed, a part file stays next to the destination; the next start resumes it if the server gave a strong
/// validator and the file has not changed. The body of an error response is never written to a file; it is in
/// ``RequestError/response``. See <doc:Downloads>.
nonisolated open class DownloadRequest: Request<URL> {
    /// Creates a request.
    public override init() { super.init() }

    /// The finished file, or an existing directory: then the file gets the last path component of the URL.
    ///
    /// No default: without a destination the request fails with ``RequestError/Code/fileFailed``.
    open var destination: URL { DownloadPlan.noDestination }
    /// What happens if the destination exists: replace it, send nothing and fail, or find a free name.
    ///
    /// Default ``DownloadPlan/ExistingFile/overwrite``: a complete file replaces it in one step. Errors:
    /// ``RequestError/Code/fileFailed`` with ``DownloadPlan/ExistingFile/fail``.
    open var existingFile: DownloadPlan.ExistingFile { .overwrite }
    /// Whether the part file of an earlier run is continued, if the server confirms that the file is the same.
    ///
    /// Default true. It uses `Range` and `If-Range` (RFC 9110 §13.1.5, §14.2).
    open var resumesDownload: Bool { true }
    /// The expected SHA-256 of the finished file, 64 hexadecimal digits; another file is deleted.
    ///
    /// Default `nil`: not checked. Errors: ``RequestError/Code/digestMismatch``;
    /// ``RequestError/Code/invalidConfiguration`` for text that is not a digest.
    open var sha256: String? { nil }

    /// Any bytes: the body of a download is not parsed.
    open override var responseSerializer: ResponseSerializer { .data }

    /// Returns the finished file.
    open override var decoder: ResponseDecoder<URL> {
        ResponseDecoder { response in
            guard let file = response.file else {
                throw RequestError(
                    .fileFailed, stage: .decode,
                    "The download has no file: a processor or errorRecovery replaced its response. "
                        + "Return a response with the file.",
                    response: response)
            }
            return file
        }
    }

    package override func makeDescription() -> RequestDescription {
        var it = super.makeDescription()
        it.download = DownloadPlan(
            destination: destination, existingFile: existingFile, resumes: resumesDownload,
            sha256: sha256)
        return it
    }
}
