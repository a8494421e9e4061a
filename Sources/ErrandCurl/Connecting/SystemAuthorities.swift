#if os(Linux)
    import ErrandOpenSSL
    import ErrandSystem
    import Synchronization

    /// The certificate authorities of the system, in one OpenSSL store that all connections share.
    ///
    /// libcurl parses its certificate bundle for each new TLS connection, unless no certificate
    /// directory is set. From 8.17 on, a directory that was compiled in cannot be removed. With
    /// these versions libcurl loads only a ``placeholder``, and the store replaces it before the
    /// handshake.
    ///
    /// The store trusts what libcurl would trust: the bundle and the directory.
    final class SystemAuthorities: Sendable {
        /// `nil` if libcurl itself keeps the parsed bundle, or if its TLS library is unknown.
        static let shared: SystemAuthorities? = {
            let curl = CurlLibrary.linked
            // Without the functions of ``TLSLibrary``, handshakes are not observed.
            guard TLSLibrary.loaded != nil, curl.keepsDirectory, let bundle = curl.bundle else {
                return nil
            }
            return SystemAuthorities(bundle: bundle, directory: curl.directory)
        }()

        /// `X509_V_FLAG_TRUSTED_FIRST` and `X509_V_FLAG_PARTIAL_CHAIN`, as libcurl sets them.
        private static let flags: UInt = 0x8000 | 0x80000

        /// What distinguishes two versions of the bundle.
        private struct Version: Equatable {
            let inode: UInt64
            let size: Int64
            let seconds: Int
            let nanoseconds: Int
        }

        /// The store and the version of the bundle from which it was made.
        // @unchecked: OpenSSL's stores are thread-safe.
        private struct Store: @unchecked Sendable {
            let object: UnsafeMutableRawPointer
            let version: Version
        }

        private let bundle: String
        private let directory: String?
        private let store = Mutex<Store?>(nil)
        private let functions: Functions

        /// - Parameters:
        ///   - bundle: The file of certificates in PEM form.
        ///   - directory: The directory in which OpenSSL looks for further authorities.
        init?(bundle: String, directory: String?) {
            guard let functions = Functions() else { return nil }
            self.bundle = bundle
            self.directory = directory
            self.functions = functions
        }

        deinit { store.withLock { if let store = $0 { functions.free(store.object) } } }

        /// Whether the bundle can be read.
        ///
        /// If not, libcurl loads it and reports the error.
        var isReadable: Bool { access(bundle, R_OK) == 0 }

        /// Replaces the ``placeholder`` in an `SSL_CTX` before its handshake.
        ///
        /// If the context trusts anything else, it belongs to a connection with its own
        /// authorities, and nothing changes. Returns false if the bundle cannot be parsed; the
        /// context then trusts no authority.
        func install(in context: UnsafeMutableRawPointer) -> Bool {
            guard let present = functions.contexts.SSL_CTX_get_cert_store(context),
                functions.isPlaceholder(present)
            else { return true }
            return store.withLock { store in
                if let version = version(), version != store?.version,
                    let object = functions.load(bundle, directory, flags: Self.flags)
                {
                    // The connections that use the former store hold their own references.
                    if let former = store { functions.free(former.object) }
                    store = Store(object: object, version: version)
                }
                // If a new bundle cannot be read, the authorities of the former one remain.
                guard let object = store?.object else { return false }
                functions.authorities.SSL_CTX_set1_cert_store(context, object)
                return true
            }
        }

        private func version() -> Version? {
            var facts = stat()
            guard stat(bundle, &facts) == 0 else { return nil }
            return Version(
                inode: UInt64(facts.st_ino), size: Int64(facts.st_size),
                seconds: facts.st_mtim.tv_sec, nanoseconds: facts.st_mtim.tv_nsec)
        }
    }

    /// The functions of OpenSSL for stores of certificates.
    private struct Functions: Sendable {
        let contexts: OpenSSL.Contexts
        let certificates: OpenSSL.Certificates
        let verifications: OpenSSL.Verifications
        let authorities: OpenSSL.Authorities

        init?() {
            guard let contexts = LibcurlOpenSSL.contexts,
                let certificates = LibcurlOpenSSL.certificates,
                let verifications = LibcurlOpenSSL.verifications,
                let authorities = LibcurlOpenSSL.authorities
            else { return nil }
            self.contexts = contexts
            self.certificates = certificates
            self.verifications = verifications
            self.authorities = authorities
        }

        func free(_ store: UnsafeMutableRawPointer) { verifications.X509_STORE_free(store) }

        /// Makes a store; `nil` if the bundle cannot be parsed.
        func load(
            _ bundle: String, _ directory: String?, flags: UInt
        ) -> UnsafeMutableRawPointer? {
            guard let store = verifications.X509_STORE_new() else { return nil }
            guard authorities.X509_STORE_load_file(store, bundle) == 1 else {
                free(store)
                return nil
            }
            // OpenSSL reads the directory when it looks for an authority that it has not found.
            if let directory { _ = authorities.X509_STORE_load_path(store, directory) }
            _ = authorities.X509_STORE_set_flags(store, flags)
            return store
        }

        /// Whether a store contains the placeholder and nothing else.
        func isPlaceholder(_ store: UnsafeMutableRawPointer) -> Bool {
            guard let objects = authorities.X509_STORE_get0_objects(store),
                certificates.OPENSSL_sk_num(objects) == 1,
                let object = certificates.OPENSSL_sk_value(objects, 0),
                let certificate = authorities.X509_OBJECT_get0_X509(object)
            else { return false }
            let expected = SystemAuthorities.placeholder
            guard Int(certificates.i2d_X509(certificate, nil)) == expected.count else {
                return false
            }
            var encoded = Data(count: expected.count)
            encoded.withUnsafeMutableBytes { bytes in
                var start = bytes.bindMemory(to: UInt8.self).baseAddress
                _ = certificates.i2d_X509(certificate, &start)
            }
            return encoded == expected
        }
    }

    extension SystemAuthorities {
        /// The placeholder in PEM form.
        static let placeholderText = Data(
            """
            -----BEGIN CERTIFICATE-----
            \(placeholderBase64)
            -----END CERTIFICATE-----

            """.utf8)

        /// A certificate (DER) that verifies nothing: it is expired and no authority, and its key
        /// was deleted.
        static let placeholder =
            Data(
                base64Encoded: placeholderBase64, options: .ignoreUnknownCharacters) ?? Data()

        private static let placeholderBase64 = """
            MIIBSDCB8KADAgECAgEBMAoGCCqGSM49BAMCMBYxFDASBgNVBAMMC1BsYWNlaG9s
            ZGVyMB4XDTcwMDEwMTAwMDAwMFoXDTcwMDEwMTAwMDAwMVowFjEUMBIGA1UEAwwL
            UGxhY2Vob2xkZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASTDAO8oob5Alsv
            lHDe93FgTKkEApXGD28zyl6YtRdTzYBFnWuFys9NLo/+I7rE3XSqzj9WIVQmYd1w
            qmnKbzdDoy8wLTAMBgNVHRMBAf8EAjAAMB0GA1UdDgQWBBTADbHUFxUWs7awFE0C
            akNFcihLhDAKBggqhkjOPQQDAgNHADBEAiATa/XSR1KTml2+4q3JCucfDaUfU/h4
            VZxnW5Q24OOD1QIgfVrPKePF6oWvuFr1uirf/4v9n9sNq9p/HtIn0BbIZg0=
            """
    }
#endif
