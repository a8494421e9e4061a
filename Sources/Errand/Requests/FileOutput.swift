public import ErrandCore

/// An endpoint whose response body is written to a file; its output is the finished file.
///
///     final class Photo: HubRequest, FileOutput {
///         override var url: EndpointURL { "/photo.jpg" }
///         var download: DownloadPlan { .to(URL(fileURLWithPath: "/tmp/photo.jpg")) }
///     }
///     let file = try await Photo().value()  // file.url, file.bytes
///
/// The body is not parsed, so that a format has no effect. In a base class whose subclasses replace the plan, declare
/// ``download`` in that base class: a subclass can override only what its superclass declares. The destination
/// is not touched before the file is complete. If the run fails, is cancelled, or the process is killed, a part file
/// stays next to the destination; the next start resumes it if the server gave a strong validator and the file has
/// not changed. The body of an error response is never written to a file; it is in ``RequestError/response``. See
/// <doc:Downloads>.
nonisolated public protocol FileOutput: TypedRequest where Output == DownloadedFile {
    /// The destination of the file, and its rules: `.to(file)`, `.to(folder) { $0.sha256 = digest }`.
    ///
    /// Read before ``BaseRequest/configure(_:)``, which may change ``RequestDescription/download``.
    var download: DownloadPlan { get }
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
