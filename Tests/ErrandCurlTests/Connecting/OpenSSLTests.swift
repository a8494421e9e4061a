#if os(Linux)
    import ErrandHTTP
    import ErrandOpenSSL
    import Testing

    @testable import ErrandCurl

    @Suite struct OpenSSLTests {
        // Loads libcurl, and OpenSSL with it.
        init() { _ = CurlLibrary.linked }

        /// Every function of the table is in the OpenSSL of this machine.
        @Test func groupsAreComplete() throws {
            let library = try #require(OpenSSL.installed())
            _ = try library.functions(OpenSSL.Contexts.self)
            _ = try library.functions(OpenSSL.Connections.self)
            _ = try library.functions(OpenSSL.Transfers.self)
            _ = try library.functions(OpenSSL.Streams.self)
            _ = try library.functions(OpenSSL.Certificates.self)
            _ = try library.functions(OpenSSL.Verifications.self)
            _ = try library.functions(OpenSSL.Authorities.self)
            _ = try library.functions(OpenSSL.Errors.self)
            _ = try library.functions(OpenSSL.Process.self)
            let crypto = try #require(OpenSSL.loadedCrypto())
            #expect(try crypto.functions(OpenSSL.Digests.self).EVP_md5 != nil)
        }

        /// A library without the functions, and libcrypto, which has none of libssl.
        @Test func missingFunctionIsNamed() throws {
            let other = OpenSSL(try #require(SharedLibrary(alreadyLoaded: "libc.so.6")))
            #expect(throws: MissingFunction(name: "TLS_client_method")) {
                _ = try other.functions(OpenSSL.Contexts.self)
            }
            #expect(throws: MissingFunction(name: "BIO_new")) {
                _ = try other.functions(OpenSSL.Streams.self)
            }
            other.skipCleanup()
            let crypto = try #require(OpenSSL.loadedCrypto())
            #expect(throws: MissingFunction(name: "SSL_new")) {
                _ = try crypto.functions(OpenSSL.Connections.self)
            }
        }

        @Test func libcurlIsObservedWithItsOwnLibrary() {
            #expect(LibcurlOpenSSL.library != nil && OpenSSL.loaded.count == 1)
            #expect(TLSLibrary.loaded != nil && CloseNotify.loaded != nil)
        }
    }
#endif
