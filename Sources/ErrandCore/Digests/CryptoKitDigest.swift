#if canImport(CryptoKit)
    // The hash functions of ErrandHTTP have the same names: CryptoKit's are written with their module.
    import CryptoKit
    import ErrandHTTP

    /// A digest of CryptoKit.
    private struct CryptoKitDigest<Function: CryptoKit.HashFunction & Sendable>: StreamingDigest {
        private var function = Function()

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            function.update(bufferPointer: bytes)
        }

        func finalize() -> [UInt8] { Array(function.finalize()) }
    }

    func cryptoKitDigest(
        _ algorithm: DownloadedFile.Digest.Algorithm
    ) -> any StreamingDigest {
        switch algorithm {
        case .sha256: CryptoKitDigest<CryptoKit.SHA256>()
        case .sha512: CryptoKitDigest<CryptoKit.SHA512>()
        case .sha1: CryptoKitDigest<CryptoKit.Insecure.SHA1>()
        case .md5: CryptoKitDigest<CryptoKit.Insecure.MD5>()
        }
    }
#endif
