import ErrandCore

/// A digest for `Upload-Checksum`, computed while a piece is read.
struct UploadChecksum: Sendable {
    /// The names of tus 1.0, in the order of preference.
    ///
    /// SHA-1, which servers with checksums must support, detects transfer errors; it is not used for security.
    static let supported = ["sha256", "sha1"]

    private var digest: any StreamingDigest

    /// The first supported algorithm that a server lists; `nil` if there is none.
    static func choose(from names: [String]) -> String? {
        supported.first { names.contains($0) }
    }

    init?(_ name: String) {
        let digest: (any StreamingDigest)? =
            switch name {
            case "sha256": DigestImplementation.fastest(.sha256)
            case "sha1": DigestImplementation.fastest(.sha1)
            default: nil
            }
        guard let digest else { return nil }
        self.digest = digest
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bytes) }

    /// The digest; no bytes follow.
    mutating func finalize() -> [UInt8] { digest.finalize() }
}
