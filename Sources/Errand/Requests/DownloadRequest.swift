import ErrandCore
public import Foundation

/// The short form of a ``FileOutput`` for endpoints without a base class of their own.
///
///     final class Photo: DownloadRequest {
///         override var url: EndpointURL { "/photo.jpg" }
///         override var destination: URL { URL(fileURLWithPath: "/tmp/photo.jpg") }
///     }
///     let file = try await Photo().value()  // file.url, file.bytes
nonisolated open class DownloadRequest: Request<DownloadedFile>, FileOutput {
    /// Creates a request.
    public override init() { super.init() }

    /// The finished file, or an existing folder: then the response names the file, see <doc:Downloads>.
    ///
    /// No default: without a destination the request fails with ``RequestError/Code/fileFailed``, before anything is
    /// sent.
    open var destination: URL { DownloadPlan.noDestination }

    /// Any bytes: the body of a download is not parsed.
    open override var responseSerializer: ResponseSerializer { .data }

    /// Returns the finished file.
    open override var decoder: ResponseDecoder<DownloadedFile> { .file }
}
