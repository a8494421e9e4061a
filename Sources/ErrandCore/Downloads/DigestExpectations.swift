package import ErrandHTTP

/// The digests of a download: those to compute, and those to compare; pure.
package struct DigestExpectations: Sendable, Hashable {
    /// The expected digests.
    package let expected: [DownloadedFile.Digest]
    /// The algorithms to compute.
    package let algorithms: Set<DownloadedFile.Digest.Algorithm>

    /// - Parameter server: The digests in the fields of the response, at most one for each algorithm. All of them are
    ///   compared: a file with another value of any of them is not the one that the server describes.
    package init(_ plan: DownloadPlan, server: [DownloadedFile.Digest] = []) {
        var expected = plan.allExpectedDigests
        if expected.isEmpty, plan.verifiesServerDigests { expected = server }
        self.expected = expected
        algorithms = plan.computedDigests.union(expected.map(\.algorithm))
    }

    /// The first expected digest that differs from the computed one; `nil` if there is none.
    package func mismatch(
        in found: [DownloadedFile.Digest.Algorithm: DownloadedFile.Digest]
    ) -> RequestError? {
        for digest in expected {
            guard let found = found[digest.algorithm], found != digest else { continue }
            return RequestError(
                .digestMismatch, stage: .validate,
                "The downloaded file has \(found), expected \(digest.hex). It was deleted. "
                    + "Check the expected digest, and whether the file on the server has changed.",
                underlying: DownloadedFile.DigestMismatch(expected: digest, found: found))
        }
        return nil
    }
}
