#if os(Linux)
    import ErrandOpenSSL

    /// Checks and observes the peer of one TLS connection; the connection's `SSL_CTX` retains it.
    ///
    /// It refuses a certificate that names no host except in its subject's common name (RFC 9110
    /// §4.3.4). libcurl compares the host with the common name if the certificate's subjectAltName
    /// extension is missing or contains neither a DNS name nor an IP address. OpenSSL calls the
    /// check within the handshake: a refused peer receives nothing, and no later request can reuse
    /// the connection. A resumed TLS session was checked when it was established.
    ///
    /// It also stores the peer's alert, because libcurl reports only its first error text, which
    /// may be that of a failed write.
    final class PeerObserver {
        /// Whether the peer is a proxy, not the server.
        let isForProxy: Bool
        private let requiresName: Bool
        private let requiresValidChain: Bool
        /// Whether the certificate was refused because it names no host.
        private(set) var hasRefusedName = false
        /// The description of the last alert (RFC 8446 §6); 0 if there was none.
        private(set) var alert: Int32 = 0
        init(isForProxy: Bool, requiresName: Bool, requiresValidChain: Bool) {
            self.isForProxy = isForProxy
            self.requiresName = requiresName
            self.requiresValidChain = requiresValidChain
        }

        /// The observer of a connection; `nil` if libcurl uses another TLS library.
        fileprivate static func of(_ connection: UnsafeRawPointer) -> PeerObserver? {
            guard let library = PeerLibrary.loaded,
                let context = library.connections.SSL_get_SSL_CTX(connection),
                let observer = library.contexts.SSL_CTX_get_ex_data(context, library.index)
            else { return nil }
            return Unmanaged<PeerObserver>.fromOpaque(observer).takeUnretainedValue()
        }

        /// Observes the connection for which libcurl has created this `SSL_CTX`; returns false if
        /// memory is short.
        func install(in context: UnsafeMutableRawPointer) -> Bool {
            guard let library = PeerLibrary.loaded else { return true }
            let observer = Unmanaged.passRetained(self)
            let contexts = library.contexts
            guard contexts.SSL_CTX_set_ex_data(context, library.index, observer.toOpaque()) == 1
            else {
                observer.release()
                return false
            }
            contexts.SSL_CTX_set_info_callback(context, onInformation)
            // With later versions of libcurl, OpenSSL reports each end without close_notify as an
            // error. It matters only where the end of the connection ends the data: bodies without
            // a length, and switched protocols. `ConnectionHook` detects it there.
            if TLSLibrary.loaded != nil {
                _ = contexts.SSL_CTX_set_options(context, PeerLibrary.ignoreUnexpectedEnd)
            }
            guard requiresName else { return true }
            // Without this mode, OpenSSL ignores the result of the check.
            if !requiresValidChain {
                contexts.SSL_CTX_set_verify(context, PeerLibrary.verifyPeer, nil)
            }
            contexts.SSL_CTX_set_cert_verify_callback(
                context, onVerification, observer.toOpaque())
            return true
        }

        /// Verifies the peer's certificate; returns 1 if it is accepted.
        fileprivate func verify(
            _ verification: UnsafeMutableRawPointer, with library: PeerLibrary
        ) -> Int32 {
            let result = library.verifications.X509_verify_cert(verification)
            guard result == 1 || !requiresValidChain else { return result }
            guard !library.hasHostName(verification) else { return 1 }
            hasRefusedName = true
            library.verifications.X509_STORE_CTX_set_error(
                verification, PeerLibrary.hostNameMismatch)
            return 0
        }

        fileprivate func observe(_ events: Int32, _ value: Int32) {
            if events & PeerLibrary.alertReceived == PeerLibrary.alertReceived {
                alert = value & 0xFF
            }
        }
    }

    private let onVerification: OpenSSL.Contexts.VerifyCallback = { verification, argument in
        guard let verification, let argument, let library = PeerLibrary.loaded else { return 0 }
        return Unmanaged<PeerObserver>.fromOpaque(argument)._withUnsafeGuaranteedRef {
            $0.verify(verification, with: library)
        }
    }

    private let onInformation: OpenSSL.Contexts.InformationCallback = {
        connection, events, value in
        guard events & PeerLibrary.alertReceived & ~PeerLibrary.read != 0, let connection
        else { return }
        PeerObserver.of(connection)?.observe(events, value)
    }

    private let onRelease: OpenSSL.Process.FreeData = { _, value, _, _, _, _ in
        if let value { Unmanaged<PeerObserver>.fromOpaque(value).release() }
    }

    /// The functions of libcurl's OpenSSL for handshakes and for the names in a certificate.
    private struct PeerLibrary: Sendable {
        /// `nil` if libcurl uses another TLS library or an older version.
        static let loaded = PeerLibrary()

        /// `SSL_VERIFY_PEER`.
        static let verifyPeer: Int32 = 1
        /// `SSL_OP_IGNORE_UNEXPECTED_EOF`.
        static let ignoreUnexpectedEnd: UInt64 = 1 << 7
        /// `X509_V_ERR_HOSTNAME_MISMATCH`, which libcurl itself does not cause.
        static let hostNameMismatch: Int32 = 62
        /// `SSL_CB_READ` and `SSL_CB_READ_ALERT`.
        static let read: Int32 = 0x04
        static let alertReceived: Int32 = 0x4004
        /// `CRYPTO_EX_INDEX_SSL_CTX`.
        private static let contextData: Int32 = 1
        /// `NID_subject_alt_name`.
        private static let subjectAltName: Int32 = 85
        /// `GEN_DNS` and `GEN_IPADD`.
        private static let hostKinds: [Int32] = [2, 7]

        let contexts: OpenSSL.Contexts
        let connections: OpenSSL.Connections
        let verifications: OpenSSL.Verifications
        private let certificates: OpenSSL.Certificates
        /// The index of the observer among the data of an `SSL_CTX`.
        let index: Int32

        private init?() {
            guard let contexts = LibcurlOpenSSL.contexts,
                let connections = LibcurlOpenSSL.connections,
                let verifications = LibcurlOpenSSL.verifications,
                let certificates = LibcurlOpenSSL.certificates,
                let process = LibcurlOpenSSL.process
            else { return nil }
            index = process.CRYPTO_get_ex_new_index(Self.contextData, 0, nil, nil, nil, onRelease)
            guard index >= 0 else { return nil }
            self.contexts = contexts
            self.connections = connections
            self.verifications = verifications
            self.certificates = certificates
        }

        /// Whether the certificate's subjectAltName extension contains a DNS name or an IP address.
        func hasHostName(_ verification: UnsafeMutableRawPointer) -> Bool {
            guard let certificate = verifications.X509_STORE_CTX_get0_cert(verification),
                let names = certificates.X509_get_ext_d2i(
                    certificate, Self.subjectAltName, nil, nil)
            else { return false }
            defer { certificates.GENERAL_NAMES_free(names) }
            return (0..<max(0, certificates.OPENSSL_sk_num(names))).contains { position in
                guard let name = certificates.OPENSSL_sk_value(names, position) else {
                    return false
                }
                var kind: Int32 = -1
                _ = certificates.GENERAL_NAME_get0_value(name, &kind)
                return Self.hostKinds.contains(kind)
            }
        }
    }
#endif
