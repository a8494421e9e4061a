package import ErrandHTTP

/// The digests of the content of one response with a part of the file, computed while its bytes arrive.
package struct ContentDigests: Sendable {
    private let expected: [DownloadedFile.Digest]
    private let length: Int64
    private var digests: StreamingDigests

    /// - Parameters:
    ///   - expected: The digests of the whole content.
    ///   - length: Its number of bytes.
    package init(_ expected: [DownloadedFile.Digest], length: Int64) {
        self.expected = expected
        self.length = length
        digests = StreamingDigests(Set(expected.map(\.algorithm)))
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { digests.update(bytes) }

    /// The error for content with another digest; `nil` if the content matches or is not complete.
    package mutating func mismatch() -> RequestError? {
        guard digests.count == length else { return nil }
        let found = digests.finalize()
        for digest in expected {
            guard let found = found[digest.algorithm], found != digest else { continue }
            return RequestError(
                .digestMismatch, stage: .validate,
                "A part of the file has \(found), but its Content-Digest is \(digest.hex). The received bytes were "
                    + "deleted. If the server sends wrong digests, set verifiesServerDigests to false.",
                underlying: DownloadedFile.DigestMismatch(expected: digest, found: found))
        }
        return nil
    }
}
