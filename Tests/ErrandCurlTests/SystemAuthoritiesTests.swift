#if os(Linux)
    import CLibcurl
    import ErrandHTTP
    import Foundation
    import Testing

    @testable import ErrandCurl

    @Suite struct SystemAuthoritiesTests {
        private let library = OpenSSL()

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
            let library = try #require(TLSLibrary.file)
            return try #require(
                SystemAuthorities(bundle: bundle.path, directory: nil, library))
        }

        @Test func contextsWithThePlaceholderShareOneStore() throws {
            let bundle = try Bundle(SystemAuthorities.placeholderText)
            let authorities = try authorities(bundle)
            let first = try Context(library, SystemAuthorities.placeholder)
            let second = try Context(library, SystemAuthorities.placeholder)
            let before = first.store
            #expect(authorities.install(in: first.object))
            #expect(authorities.install(in: second.object))
            #expect(first.store != before && first.store == second.store)
        }

        @Test func contextWithOwnAuthoritiesIsUnchanged() throws {
            let bundle = try Bundle(SystemAuthorities.placeholderText)
            let authorities = try authorities(bundle)
            for certificates in [[], [try Context.otherCertificate()]] as [[Data]] {
                let context = try Context(library, certificates)
                let before = context.store
                #expect(authorities.install(in: context.object))
                #expect(context.store == before)
            }
            let both = try Context(
                library, [SystemAuthorities.placeholder, try Context.otherCertificate()])
            let before = both.store
            #expect(authorities.install(in: both.object))
            #expect(both.store == before)
        }

        @Test func changedBundleIsReadAgain() throws {
            let bundle = try Bundle(SystemAuthorities.placeholderText)
            let authorities = try authorities(bundle)
            let first = try Context(library, SystemAuthorities.placeholder)
            #expect(authorities.install(in: first.object))
            try bundle.replace(
                with: SystemAuthorities.placeholderText + SystemAuthorities.placeholderText)
            let second = try Context(library, SystemAuthorities.placeholder)
            #expect(authorities.install(in: second.object))
            #expect(first.store != second.store)
            // An unusable bundle does not remove the authorities that are known.
            try bundle.replace(with: Data("no certificate".utf8))
            let third = try Context(library, SystemAuthorities.placeholder)
            #expect(authorities.install(in: third.object))
            #expect(third.store == second.store)
        }

        @Test func unusableBundleIsAnError() throws {
            let bundle = try Bundle(Data("no certificate".utf8))
            let authorities = try authorities(bundle)
            #expect(authorities.isReadable)
            let context = try Context(library, SystemAuthorities.placeholder)
            let before = context.store
            #expect(!authorities.install(in: context.object))
            #expect(context.store == before)
            let library = try #require(TLSLibrary.file)
            let missing = SystemAuthorities(
                bundle: bundle.path + "-missing", directory: nil, library)
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

    /// The functions of OpenSSL that create what libcurl passes before a handshake.
    private struct OpenSSL {
        let method: errand_tls_make?
        let make: (@convention(c) (UnsafeRawPointer?) -> UnsafeMutableRawPointer?)?
        let free: errand_tls_free?
        let store: errand_tls_get?
        let read: errand_tls_read?
        let add: errand_tls_add?
        let freeCertificate: errand_tls_free?

        init() {
            let library = TLSLibrary.file
            method = library?.function("TLS_client_method")
            make = library?.function("SSL_CTX_new")
            free = library?.function("SSL_CTX_free")
            store = library?.function("SSL_CTX_get_cert_store")
            read = library?.function("d2i_X509")
            add = library?.function("X509_STORE_add_cert")
            freeCertificate = library?.function("X509_free")
        }
    }

    /// An `SSL_CTX` that trusts some certificates (DER).
    private final class Context {
        let object: UnsafeMutableRawPointer
        private let library: OpenSSL

        var store: UnsafeMutableRawPointer? { library.store?(object) }

        convenience init(_ library: OpenSSL, _ certificate: Data) throws {
            try self.init(library, [certificate])
        }

        init(_ library: OpenSSL, _ certificates: [Data]) throws {
            self.library = library
            object = try #require(library.make?(library.method?()))
            for certificate in certificates {
                let parsed = certificate.withUnsafeBytes { bytes in
                    var start = bytes.bindMemory(to: UInt8.self).baseAddress
                    return library.read?(nil, &start, bytes.count)
                }
                let read = try #require(parsed ?? nil)
                #expect(library.add?(store, read) == 1)
                library.freeCertificate?(read)
            }
        }

        deinit { library.free?(object) }

        /// A certificate of the same length that differs from the placeholder.
        static func otherCertificate() throws -> Data {
            var other = SystemAuthorities.placeholder
            let name = try #require(other.range(of: Data("Placeholder".utf8)))
            other.replaceSubrange(name, with: Data("Placeholdes".utf8))
            return other
        }
    }
#endif
