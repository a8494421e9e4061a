import ErrandCore
public import Foundation

/// An endpoint whose answer is a file.
///
/// Its output is the finished file.
///
///     final class Photo: DownloadRequest {
///         override var url: String { "/photo.jpg" }
///         override var destination: URL { URL(fileURLWithPath: "/tmp/photo.jpg") }
///     }
///     let file = try await Photo().value()
///
/// What has come is kept beside the destination when the request is cancelled or fails, or the process is killed;
/// the next start goes on there, if the server has a strong validator and the file is still the same. The destination
/// is untouched until the file is whole. An error's body never gets there; it is in the error's response.
nonisolated open class DownloadRequest: Request<URL> {
    /// Makes a request.
    public override init() { super.init() }

    /// The finished file, or a directory that exists: then the URL's last path component is
    /// appended.
    ///
    /// No default: a download without one fails with ``RequestError/Code/fileFailed``.
    open var destination: URL { DownloadPlan.noDestination }
    /// What happens when the destination is there.
    ///
    /// Default ``DownloadPlan/ExistingFile/overwrite``.
    open var existingFile: DownloadPlan.ExistingFile { .overwrite }
    /// Whether a part file of an earlier run is continued (default true).
    open var resumesDownload: Bool { true }
    /// The expected SHA-256 of the finished file in hex (default `nil`: not checked).
    open var sha256: String? { nil }

    /// Any bytes.
    ///
    /// A download's body is not parsed.
    open override var responseSerializer: ResponseSerializer { .data }

    /// The finished file.
    open override var decoder: ResponseDecoder<URL> {
        ResponseDecoder { response in
            guard let file = response.file else {
                throw RequestError(
                    .fileFailed, stage: .decode, "The download ended without a file.",
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
