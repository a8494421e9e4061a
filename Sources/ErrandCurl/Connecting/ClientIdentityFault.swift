#if os(Linux)
    import ErrandHTTP
    import ErrandOpenSSL
    import ErrandSystem

    /// The reason why libcurl cannot use a client certificate.
    enum ClientIdentityFault: Sendable, Hashable {
        case otherKey, missingPassword, wrongPassword, unsupportedCipher, noPKCS12, noCertificate

        /// Finds the reason in libcurl's text and in the private key; `nil` if it is unknown.
        ///
        /// libcurl has one text for every private key that it cannot read.
        static func find(in text: String, _ policies: [SecurityPolicy]) -> Self? {
            if text.contains(bytes: "does not match the certificate") { return .otherKey }
            if text.contains(bytes: "PKCS12") || text.contains(bytes: "PKCS#12") {
                if text.contains(bytes: "digital envelope routines::unsupported") {
                    return .unsupportedCipher
                }
                return text.contains(bytes: "check password")
                    && !text.contains(bytes: "asn1 encoding")
                    ? .wrongPassword : .noPKCS12
            }
            if text.contains(bytes: "PEM client certificate") { return .noCertificate }
            guard text.contains(bytes: "private key") else { return nil }
            // A readable key is the cause only if no other key is.
            let faults = policies.compactMap(of)
            return faults.first { $0 != .otherKey } ?? faults.first
        }

        /// Examines the private key of a policy; `nil` if it has none, or if it can be read.
        private static func of(_ policy: SecurityPolicy) -> Self? {
            let key: Data?
            let password = policy.clientIdentity?.password ?? ""
            if let identity = policy.clientIdentity {
                guard identity.form == .pem else { return nil }
                switch identity.key {
                case .bytes(let data): key = data
                case .file(let path): key = contents(path)
                case nil: key = nil
                }
            } else {
                key = (policy.clientKeyFile ?? policy.clientCertificateFile).flatMap(contents)
            }
            guard let key else { return nil }
            let isEncrypted = PEMText.isEncrypted(String(decoding: key, as: UTF8.self))
            if isEncrypted, password.isEmpty { return .missingPassword }
            guard let library = KeyLibrary.loaded else { return nil }
            // OpenSSL compares a key that it can read with the certificate.
            guard let fault = library.fault(of: key, password) else { return .otherKey }
            return isEncrypted ? fault : nil
        }

        private static func contents(_ path: String) -> Data? {
            try? FileAccess.contents(of: URL(fileURLWithPath: path))
        }

        /// The cause and its correction.
        var message: String {
            switch self {
            case .otherKey:
                "The private key does not belong to the client certificate. Use the key with which the certificate was "
                    + "requested."
            case .missingPassword:
                "The private key of the client certificate is encrypted. Pass its password to the clientIdentity."
            case .wrongPassword:
                "The password of the client certificate is wrong. Correct the password of the clientIdentity."
            case .unsupportedCipher:
                "The client certificate or its key is encrypted with a cipher that OpenSSL does not support, such as RC2 "
                    + "in old PKCS#12 files. Export it again with AES."
            case .noPKCS12:
                "The client certificate is not a PKCS#12 file. Correct the file, or use .pem(certificateFile:keyFile:) "
                    + "for PEM files."
            case .noCertificate:
                "The file of the client certificate contains no certificate in PEM. Correct the file, or use "
                    + ".pkcs12(file:password:) for PKCS#12 files, or .der(certificate:key:) for DER."
            }
        }
    }

    /// The functions of libcurl's OpenSSL that read a private key from memory.
    private struct KeyLibrary: Sendable {
        /// "digital envelope routines::unsupported" of OpenSSL 3: the cipher is not in a loaded provider.
        private static let isUnsupported: UInt = 0x0308_010C

        static let loaded = KeyLibrary()

        private let streams: OpenSSL.Streams
        private let certificates: OpenSSL.Certificates
        private let errors: OpenSSL.Errors

        private init?() {
            guard let streams = LibcurlOpenSSL.streams,
                let certificates = LibcurlOpenSSL.certificates,
                let errors = LibcurlOpenSSL.errors
            else { return nil }
            self.streams = streams
            self.certificates = certificates
            self.errors = errors
        }

        /// The reason why an encrypted key cannot be read with a password; `nil` if it can.
        func fault(of key: Data, _ password: String) -> ClientIdentityFault? {
            key.withUnsafeBytes { bytes in
                guard let count = Int32(exactly: bytes.count),
                    let buffer = streams.BIO_new_mem_buf(bytes.baseAddress, count)
                else { return nil }
                defer { _ = streams.BIO_free(buffer) }
                var text = Array(password.utf8CString)
                let found = text.withUnsafeMutableBytes {
                    certificates.PEM_read_bio_PrivateKey(buffer, nil, nil, $0.baseAddress)
                }
                var isUnsupported = false
                while case let error = errors.ERR_get_error(), error != 0 {
                    if error == Self.isUnsupported { isUnsupported = true }
                }
                guard let found else { return isUnsupported ? .unsupportedCipher : .wrongPassword }
                certificates.EVP_PKEY_free(found)
                return nil
            }
        }
    }
#endif
