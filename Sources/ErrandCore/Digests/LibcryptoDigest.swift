#if os(Linux)
    package import ErrandHTTP

    /// A digest of OpenSSL's libcrypto, which is looked up at run time: no header and no link is needed.
    // @unchecked: libcrypto's context is used only by the value's one owner, which a lock protects.
    package final class LibcryptoDigest: StreamingDigest, @unchecked Sendable {
        private static let functions: Functions? = {
            // Only a library that the process has loaded already, as libcurl's TLS does: a second version beside it
            // would cost memory and could contradict its configuration.
            let library =
                SharedLibrary(alreadyLoaded: "libcrypto.so.3")
                ?? SharedLibrary(alreadyLoaded: "libcrypto.so.1.1")
            return library.flatMap(Functions.init)
        }()

        private let functions: Functions
        private let context: OpaquePointer
        private let byteCount: Int

        /// `nil` if libcrypto is not loaded, or refuses the algorithm, as its FIPS provider refuses MD5.
        package init?(_ algorithm: DownloadedFile.Digest.Algorithm) {
            guard let functions = Self.functions, let type = functions.type(of: algorithm),
                let context = functions.new()
            else { return nil }
            guard functions.begin(context, type, nil) == 1 else {
                functions.free(context)
                return nil
            }
            self.functions = functions
            self.context = context
            byteCount = algorithm.byteCount
        }

        deinit { functions.free(context) }

        package func update(_ bytes: UnsafeRawBufferPointer) {
            guard !bytes.isEmpty else { return }
            _ = functions.update(context, bytes.baseAddress, bytes.count)
        }

        package func finalize() -> [UInt8] {
            // EVP_MAX_MD_SIZE is 64.
            var bytes = [UInt8](repeating: 0, count: 64)
            var count: UInt32 = 0
            guard functions.end(context, &bytes, &count) == 1 else { return [] }
            return Array(bytes.prefix(min(byteCount, Int(count))))
        }

        /// The functions of `openssl/evp.h`.
        private struct Functions: Sendable {
            typealias New = @convention(c) @Sendable () -> OpaquePointer?
            typealias Free = @convention(c) @Sendable (OpaquePointer?) -> Void
            typealias Begin =
                @convention(c) @Sendable (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Int32
            typealias Update =
                @convention(c) @Sendable (OpaquePointer?, UnsafeRawPointer?, Int) -> Int32
            typealias End =
                @convention(c) @Sendable (
                    OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>?
                ) -> Int32

            let new: New
            let free: Free
            let begin: Begin
            let update: Update
            let end: End
            private let types: [DownloadedFile.Digest.Algorithm: New]

            init?(_ library: SharedLibrary) {
                guard let new: New = library.function("EVP_MD_CTX_new"),
                    let free: Free = library.function("EVP_MD_CTX_free"),
                    let begin: Begin = library.function("EVP_DigestInit_ex"),
                    let update: Update = library.function("EVP_DigestUpdate"),
                    let end: End = library.function("EVP_DigestFinal_ex")
                else { return nil }
                (self.new, self.free, self.begin) = (new, free, begin)
                (self.update, self.end) = (update, end)
                var types: [DownloadedFile.Digest.Algorithm: New] = [:]
                for algorithm in DownloadedFile.Digest.Algorithm.allCases {
                    types[algorithm] = library.function(Self.name(of: algorithm))
                }
                self.types = types
            }

            func type(of algorithm: DownloadedFile.Digest.Algorithm) -> OpaquePointer? {
                types[algorithm]?()
            }

            private static func name(of algorithm: DownloadedFile.Digest.Algorithm) -> String {
                switch algorithm {
                case .sha256: "EVP_sha256"
                case .sha512: "EVP_sha512"
                case .sha1: "EVP_sha1"
                case .md5: "EVP_md5"
                }
            }
        }
    }
#endif
