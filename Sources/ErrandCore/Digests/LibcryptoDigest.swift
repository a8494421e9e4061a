#if os(Linux)
    package import ErrandHTTP
    import ErrandOpenSSL
    import Synchronization

    /// A digest of OpenSSL's libcrypto, which is looked up at run time: no header and no link is needed.
    // @unchecked: libcrypto's context is used only by the value's one owner, which a lock protects.
    package final class LibcryptoDigest: StreamingDigest, @unchecked Sendable {
        /// Those of a library that the process has loaded already, as libcurl's TLS does: a second version beside it would
        /// cost memory and could contradict its configuration.
        private static let found = Mutex<OpenSSL.Digests?>(nil)

        /// Searched again while the process has none: libcurl is loaded by the first request.
        private static var functions: OpenSSL.Digests? {
            found.withLock { found in
                if found == nil { found = OpenSSL.loadedCrypto().flatMap { try? $0.functions() } }
                return found
            }
        }

        private let functions: OpenSSL.Digests
        private let context: OpenSSL.Object
        private let byteCount: Int

        /// `nil` if libcrypto is not loaded, or refuses the algorithm, as its FIPS provider refuses MD5.
        package init?(_ algorithm: DownloadedFile.Digest.Algorithm) {
            guard let functions = Self.functions, let type = functions.type(of: algorithm),
                let context = functions.EVP_MD_CTX_new()
            else { return nil }
            guard functions.EVP_DigestInit_ex(context, type, nil) == 1 else {
                functions.EVP_MD_CTX_free(context)
                return nil
            }
            self.functions = functions
            self.context = context
            byteCount = algorithm.byteCount
        }

        deinit { functions.EVP_MD_CTX_free(context) }

        package func update(_ bytes: UnsafeRawBufferPointer) {
            guard !bytes.isEmpty else { return }
            _ = functions.EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        }

        package func finalize() -> [UInt8] {
            // EVP_MAX_MD_SIZE is 64.
            var bytes = [UInt8](repeating: 0, count: 64)
            var count: UInt32 = 0
            guard functions.EVP_DigestFinal_ex(context, &bytes, &count) == 1 else { return [] }
            return Array(bytes.prefix(min(byteCount, Int(count))))
        }
    }

    extension OpenSSL.Digests {
        fileprivate func type(of algorithm: DownloadedFile.Digest.Algorithm) -> OpenSSL.Object? {
            switch algorithm {
            case .sha256: EVP_sha256()
            case .sha512: EVP_sha512()
            case .sha1: EVP_sha1()
            case .md5: EVP_md5?()
            }
        }
    }
#endif
