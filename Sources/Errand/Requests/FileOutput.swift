public import Foundation

/// An endpoint whose response body is written to a file; its output is the finished file.
///
///     final class Photo: HubRequest, FileOutput {
///         override var url: EndpointURL { "/photo.jpg" }
///         var destination: URL { URL(fileURLWithPath: "/tmp/photo.jpg") }
///     }
///     let file = try await Photo().value()  // file.url, file.bytes
///
/// ``BaseRequest/existingFile``, ``BaseRequest/resumesDownload``, ``BaseRequest/sha256`` and
/// ``BaseRequest/downloadOptions`` apply. The body is not parsed: ``BaseRequest/responseSerializer`` is ``ResponseSerializer/data`` where it has its default. The destination
/// is not touched before the file is complete. If the run fails, is cancelled, or the process is killed, a part file
/// stays next to the destination; the next start resumes it if the server gave a strong validator and the file has
/// not changed. The body of an error response is never written to a file; it is in ``RequestError/response``. See
/// <doc:Downloads>.
nonisolated public protocol FileOutput: TypedRequest where Output == DownloadedFile {
    /// The finished file, or an existing folder: then the response names the file, see <doc:Downloads>.
    ///
    /// Errors: ``RequestError/Code/fileFailed`` for a URL that is not a file URL.
    var destination: URL { get }
}

extension FileOutput {
    /// Returns the finished file.
    ///
    /// A download cannot have another decoder. Errors: ``RequestError/Code/invalidCombination``, before anything is
    /// sent.
    nonisolated public var decoder: ResponseDecoder<DownloadedFile> { .file }
}

extension ResponseDecoder where Output == DownloadedFile {
    /// The file of a download.
    nonisolated static var file: Self {
        var decoder = ResponseDecoder { response in
            guard let file = response.downloadedFile else {
                throw RequestError(
                    .fileFailed, stage: .decode,
                    "The download has no file: a processor or errorRecovery replaced its response. "
                        + "Return a response with the file.",
                    response: response)
            }
            return file
        }
        decoder.origin = .file
        return decoder
    }
}
