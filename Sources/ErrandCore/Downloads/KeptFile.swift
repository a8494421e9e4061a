package import ErrandHTTP
package import ErrandSystem

/// An existing file that is the result of a download, by the policy ``DownloadPlan/ExistingFile/keep``.
package enum KeptFile {
    /// The response with the file, whose size and expected digests are read from the disk.
    ///
    /// - Throws: ``RequestError/Code/digestMismatch``, ``RequestError/Code/fileFailed``.
    package static func response(
        _ file: URL, _ plan: DownloadPlan, _ head: Response
    ) async throws(RequestError) -> Response {
        var downloaded = try await DispatchQueue.global(qos: .utility).perform {
            () throws(RequestError) in try describe(file, plan)
        }
        downloaded.contentType = head.headers[.contentType]
        var response = head
        response.setDownloadedFile(downloaded)
        return response
    }

    private static func describe(
        _ file: URL, _ plan: DownloadPlan
    ) throws(RequestError) -> DownloadedFile {
        let expectations = DigestExpectations(plan)
        let descriptor: Int32
        do throws(FileAccess.Refusal) {
            descriptor = try FileAccess.reading(file.path)
        } catch {
            throw .file(
                "The existing file \(file.path) could not be read: \(error.reason). "
                    + "Remove it, or choose another policy for existing files.")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .file("The existing file \(file.path) could not be read. Remove it.")
        }
        var digests: [DownloadedFile.Digest.Algorithm: DownloadedFile.Digest] = [:]
        if !expectations.algorithms.isEmpty {
            var streaming = try PartFile.read(
                StreamingDigests(expectations.algorithms), from: descriptor,
                through: Int64(status.st_size))
            digests = streaming.finalize()
        }
        if var mismatch = expectations.mismatch(in: digests) {
            mismatch.message =
                "The existing file \(file.path) was kept, but has another digest: "
                + (mismatch.underlying.map { "\($0)" } ?? "") + ". Remove it to download it again."
            throw mismatch
        }
        return DownloadedFile(
            file: file, bytes: Int64(status.st_size),
            digests: DownloadedFile.Digest.Algorithm.allCases.compactMap { digests[$0] },
            wasKept: true)
    }
}
