extension DownloadPlan {
    /// Further rules of a download, beside ``BaseRequest/existingFile``, ``BaseRequest/resumesDownload`` and
    /// ``BaseRequest/sha256``.
    public struct Options: Sendable, Hashable {
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
        /// order. Of several algorithms the first of SHA-256, SHA-512, SHA-1 and MD5 is compared. No effect if the
        /// endpoint expects digests itself. Errors: ``RequestError/Code/digestMismatch``.
        public var verifiesServerDigests = true

        /// Creates the default rules.
        public init() {}

        /// Creates the default rules, except for those that the closure changes.
        public init(_ change: (inout Options) -> Void) {
            self.init()
            change(&self)
        }

        /// The text that distinguishes options; the expected digests are part of ``DownloadPlan/sharingKey``.
        var sharingKey: String {
            let computed = computedDigests.map(\.rawValue).sorted()
            return "\(computed) \(verifiesServerDigests)"
        }

        func check() throws(RequestError) {
            if let digest = expectedDigests.first(where: { !$0.isValid }) {
                throw RequestError(
                    .invalidConfiguration, stage: .build,
                    "An expected \(digest.algorithm.rawValue) of a download must have "
                        + "\(2 * digest.algorithm.byteCount) hexadecimal digits.")
            }
        }
    }
}
