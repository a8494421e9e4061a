package import ErrandHTTP

/// One digest that is computed while bytes arrive.
package protocol StreamingDigest: Sendable {
    mutating func update(_ bytes: UnsafeRawBufferPointer)
    /// The digest; no bytes follow.
    mutating func finalize() -> [UInt8]
}

extension BlockHash: StreamingDigest {}
extension SHA256: StreamingDigest {}

/// The implementations of hash functions, the fastest first.
package enum DigestImplementation: Sendable, CaseIterable {
    /// OpenSSL's libcrypto, if the process has loaded it, as libcurl does on Linux.
    case libcrypto
    /// Apple's CryptoKit.
    case cryptoKit
    /// The package's own code.
    case own

    /// A new digest of the fastest implementation that is available.
    package static func fastest(
        _ algorithm: DownloadedFile.Digest.Algorithm
    ) -> (any StreamingDigest)? {
        allCases.lazy.compactMap { $0.make(algorithm) }.first
    }

    /// A new digest; `nil` if this implementation is not available.
    package func make(
        _ algorithm: DownloadedFile.Digest.Algorithm
    ) -> (any StreamingDigest)? {
        switch self {
        case .libcrypto:
            #if os(Linux)
                LibcryptoDigest(algorithm)
            #else
                nil
            #endif
        case .cryptoKit:
            #if canImport(CryptoKit)
                cryptoKitDigest(algorithm)
            #else
                nil
            #endif
        case .own:
            switch algorithm {
            case .sha256: SHA256()
            case .sha512: SHA512()
            case .sha1: SHA1()
            case .md5: MD5()
            }
        }
    }
}

/// Several digests of the same bytes.
package struct StreamingDigests: Sendable {
    private struct Entry: Sendable {
        let algorithm: DownloadedFile.Digest.Algorithm
        var digest: any StreamingDigest
    }

    /// An array, whose elements are changed in place.
    private var entries: [Entry] = []
    /// The number of bytes so far.
    package private(set) var count: Int64 = 0

    package init(_ algorithms: Set<DownloadedFile.Digest.Algorithm>) {
        for algorithm in algorithms {
            if let digest = DigestImplementation.fastest(algorithm) {
                entries.append(Entry(algorithm: algorithm, digest: digest))
            }
        }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count += Int64(bytes.count)
        for index in entries.indices { entries[index].digest.update(bytes) }
    }

    /// The digests; no bytes follow.
    package mutating func finalize() -> [DownloadedFile.Digest.Algorithm: DownloadedFile.Digest] {
        var values: [DownloadedFile.Digest.Algorithm: DownloadedFile.Digest] = [:]
        for index in entries.indices {
            let algorithm = entries[index].algorithm
            values[algorithm] = DownloadedFile.Digest(
                algorithm, bytes: entries[index].digest.finalize())
        }
        return values
    }
}
