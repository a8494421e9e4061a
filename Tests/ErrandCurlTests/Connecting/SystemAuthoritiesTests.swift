#if os(Linux)
    import ErrandOpenSSL
    import Foundation
    import Testing

    @testable import ErrandCurl

    @Suite struct SystemAuthoritiesTests {
        /// A file with one certificate, deleted with the instance.
        private final class Bundle {
            let path: String

            init(_ text: Data) throws {
                path =
                    FileManager.default.temporaryDirectory
                    .appendingPathComponent("errand-bundle-\(UUID())").path
                try replace(with: text)
            }

            func replace(with text: Data) throws {
                try text.write(to: URL(fileURLWithPath: path), options: .atomic)
            }

            deinit { try? FileManager.default.removeItem(atPath: path) }
        }

        private func authorities(_ bundle: Bundle) throws -> SystemAuthorities {
            try #require(SystemAuthorities(bundle: bundle.path, directory: nil))
        }

        @Test func contextsWithThePlaceholderShareOneStore() throws {
            let bundle = try Bundle(SystemAuthorities.placeholderText)
            let authorities = try authorities(bundle)
            let first = try Context(SystemAuthorities.placeholder)
            let second = try Context(SystemAuthorities.placeholder)
            let before = first.store
            #expect(authorities.install(in: first.object))
            #expect(authorities.install(in: second.object))
            #expect(first.store != before && first.store == second.store)
        }

        @Test func contextWithOwnAuthoritiesIsUnchanged() throws {
            let bundle = try Bundle(SystemAuthorities.placeholderText)
            let authorities = try authorities(bundle)
            for certificates in [[], [try Context.otherCertificate()]] as [[Data]] {
                let context = try Context(certificates)
                let before = context.store
                #expect(authorities.install(in: context.object))
                #expect(context.store == before)
            }
            let both = try Context([SystemAuthorities.placeholder, try Context.otherCertificate()])
            let before = both.store
            #expect(authorities.install(in: both.object))
            #expect(both.store == before)
        }

        @Test func changedBundleIsReadAgain() throws {
            let bundle = try Bundle(SystemAuthorities.placeholderText)
            let authorities = try authorities(bundle)
            let first = try Context(SystemAuthorities.placeholder)
            #expect(authorities.install(in: first.object))
            try bundle.replace(
                with: SystemAuthorities.placeholderText + SystemAuthorities.placeholderText)
            let second = try Context(SystemAuthorities.placeholder)
            #expect(authorities.install(in: second.object))
            #expect(first.store != second.store)
            // An unusable bundle does not remove the authorities that are known.
            try bundle.replace(with: Data("no certificate".utf8))
            let third = try Context(SystemAuthorities.placeholder)
            #expect(authorities.install(in: third.object))
            #expect(third.store == second.store)
        }

        @Test func unusableBundleIsAnError() throws {
            let bundle = try Bundle(Data("no certificate".utf8))
            let authorities = try authorities(bundle)
            #expect(authorities.isReadable)
            let context = try Context(SystemAuthorities.placeholder)
            let before = context.store
            #expect(!authorities.install(in: context.object))
            #expect(context.store == before)
            let missing = SystemAuthorities(bundle: bundle.path + "-missing", directory: nil)
            #expect(missing?.isReadable == false)
            #expect(missing?.install(in: context.object) == false)
        }

        @Test func directoryIsKeptFromVersion8Point17() {
            let bundle = "/etc/ssl/certs/ca-certificates.crt"
            func keeps(_ directory: String?, _ bundle: String?, _ version: UInt32) -> Bool {
                CurlLibrary.keepsDirectory(directory, bundle: bundle, version: version)
            }
            #expect(!keeps("/etc/ssl/certs", bundle, 0x07_58_01))
            #expect(!keeps("/etc/ssl/certs", bundle, 0x08_10_00))
            #expect(keeps("/etc/ssl/certs", bundle, 0x08_11_00))
            #expect(!keeps(nil, bundle, 0x08_11_00))
            // Without a bundle the directory's option is not cleared.
            #expect(keeps("/etc/ssl/certs", nil, 0x07_58_01))
        }
    }

    /// An `SSL_CTX` that trusts some certificates (DER).
    private final class Context {
        let object: OpenSSL.Object
        private let contexts: OpenSSL.Contexts

        var store: OpenSSL.Object? { contexts.SSL_CTX_get_cert_store(object) }

        convenience init(_ certificate: Data) throws { try self.init([certificate]) }

        init(_ list: [Data]) throws {
            contexts = try #require(LibcurlOpenSSL.contexts)
            let certificates = try #require(LibcurlOpenSSL.certificates)
            let verifications = try #require(LibcurlOpenSSL.verifications)
            object = try #require(contexts.SSL_CTX_new(contexts.TLS_client_method()))
            for certificate in list {
                let parsed = certificate.withUnsafeBytes { bytes in
                    var start = bytes.bindMemory(to: UInt8.self).baseAddress
                    return certificates.d2i_X509(nil, &start, bytes.count)
                }
                let read = try #require(parsed)
                #expect(verifications.X509_STORE_add_cert(store, read) == 1)
                certificates.X509_free(read)
            }
        }

        deinit { contexts.SSL_CTX_free(object) }

        /// A certificate of the same length that differs from the placeholder.
        static func otherCertificate() throws -> Data {
            var other = SystemAuthorities.placeholder
            let name = try #require(other.range(of: Data("Placeholder".utf8)))
            other.replaceSubrange(name, with: Data("Placeholdes".utf8))
            return other
        }
    }
#endif
