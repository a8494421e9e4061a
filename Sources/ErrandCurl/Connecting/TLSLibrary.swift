#if os(Linux)
    import CLibcurl
    import ErrandHTTP
    import ErrandTransport
    import Foundation

    /// The functions of libcurl's OpenSSL that examine connections and certificates.
    struct TLSLibrary: Sendable {
        /// `nil` if libcurl uses another TLS library or an older version.
        static let loaded = TLSLibrary()

        /// `X509_V_OK`.
        private static let verified = 0
        /// `X509_V_FLAG_PARTIAL_CHAIN`: any trusted certificate ends the chain, not only a root.
        private static let partialChain: UInt = 0x80000

        private let agreedProtocol: errand_tls_get_protocol
        private let verifyResult: errand_tls_get_long
        private let verifiedChain: errand_tls_get
        private let sentChain: errand_tls_get
        private let peerCertificate: errand_tls_get
        private let context: errand_tls_get
        private let trusted: errand_tls_get
        private let count: errand_tls_count
        private let element: errand_tls_element
        private let publicKey: errand_tls_get
        private let writeKey: errand_tls_write
        private let readCertificate: errand_tls_read
        private let freeCertificate: errand_tls_free
        private let makeStore: errand_tls_make
        private let freeStore: errand_tls_free
        private let addToStore: errand_tls_add
        private let makeVerification: errand_tls_make
        private let freeVerification: errand_tls_free
        private let prepare: errand_tls_prepare
        private let choosePurpose: errand_tls_choose
        private let setFlags: errand_tls_set_flags
        private let verify: errand_tls_verify
        private let chainOfVerification: errand_tls_get
        private let hasPending: errand_tls_count
        private let want: errand_tls_count
        private let control: errand_tls_control
        /// The BIO object that reads and writes the socket of a connection, and its callback; see
        /// ``ConnectionHook``.
        let writer: errand_tls_get
        let writeArgument: errand_tls_get
        let setWriteArgument: errand_tls_set_pointer
        let setWriteCallback: errand_tls_set_write_callback
        let setWriteFlags: errand_tls_set_int
        let testWriteFlags: errand_tls_test
        /// `nil` if a function is missing.
        let writers: TLSWriters?

        /// The OpenSSL that libcurl uses; `nil` if it uses another TLS library or an older version.
        static let file: SharedLibrary? = {
            let version = errand_version_info()?.pointee.ssl_version.map { String(cString: $0) }
            return fileName(of: version ?? "").flatMap { SharedLibrary(alreadyLoaded: $0) }
        }()

        private init?() {
            guard let library = Self.file else { return nil }
            func get(_ name: String) -> errand_tls_get? { library.function(name) }
            func free(_ name: String) -> errand_tls_free? { library.function(name) }
            func make(_ name: String) -> errand_tls_make? { library.function(name) }
            guard let verifyResult: errand_tls_get_long = library.function("SSL_get_verify_result"),
                let verifiedChain = get("SSL_get0_verified_chain"),
                let sentChain = get("SSL_get_peer_cert_chain"),
                let peerCertificate = get("SSL_get1_peer_certificate")
                    ?? get("SSL_get_peer_certificate"),
                let context = get("SSL_get_SSL_CTX"),
                let trusted = get("SSL_CTX_get_cert_store"),
                let count: errand_tls_count = library.function("OPENSSL_sk_num"),
                let element: errand_tls_element = library.function("OPENSSL_sk_value"),
                let publicKey = get("X509_get_X509_PUBKEY"),
                let writeKey: errand_tls_write = library.function("i2d_X509_PUBKEY"),
                let readCertificate: errand_tls_read = library.function("d2i_X509"),
                let freeCertificate = free("X509_free")
            else { return nil }
            guard let makeStore = make("X509_STORE_new"), let freeStore = free("X509_STORE_free"),
                let addToStore: errand_tls_add = library.function("X509_STORE_add_cert"),
                let makeVerification = make("X509_STORE_CTX_new"),
                let freeVerification = free("X509_STORE_CTX_free"),
                let prepare: errand_tls_prepare = library.function("X509_STORE_CTX_init"),
                let choosePurpose: errand_tls_choose =
                    library.function("X509_STORE_CTX_set_default"),
                let setFlags: errand_tls_set_flags = library.function("X509_STORE_CTX_set_flags"),
                let verify: errand_tls_verify = library.function("X509_verify_cert"),
                let chainOfVerification = get("X509_STORE_CTX_get0_chain"),
                let hasPending: errand_tls_count = library.function("SSL_has_pending"),
                let want: errand_tls_count = library.function("SSL_want"),
                let agreedProtocol: errand_tls_get_protocol =
                    library.function("SSL_get0_alpn_selected"),
                let control: errand_tls_control = library.function("SSL_ctrl")
            else { return nil }
            guard let writer = get("SSL_get_rbio"), let writeArgument = get("BIO_get_callback_arg"),
                let setWriteArgument: errand_tls_set_pointer =
                    library.function("BIO_set_callback_arg"),
                let setWriteCallback: errand_tls_set_write_callback =
                    library.function("BIO_set_callback_ex"),
                let setWriteFlags: errand_tls_set_int = library.function("BIO_set_flags"),
                let testWriteFlags: errand_tls_test = library.function("BIO_test_flags")
            else { return nil }
            self.agreedProtocol = agreedProtocol
            self.verifyResult = verifyResult
            self.verifiedChain = verifiedChain
            self.sentChain = sentChain
            self.peerCertificate = peerCertificate
            self.context = context
            self.trusted = trusted
            self.count = count
            self.element = element
            self.publicKey = publicKey
            self.writeKey = writeKey
            self.readCertificate = readCertificate
            self.freeCertificate = freeCertificate
            self.makeStore = makeStore
            self.freeStore = freeStore
            self.addToStore = addToStore
            self.makeVerification = makeVerification
            self.freeVerification = freeVerification
            self.prepare = prepare
            self.choosePurpose = choosePurpose
            self.setFlags = setFlags
            self.verify = verify
            self.chainOfVerification = chainOfVerification
            self.hasPending = hasPending
            self.want = want
            self.control = control
            self.writer = writer
            self.writeArgument = writeArgument
            self.setWriteArgument = setWriteArgument
            self.setWriteCallback = setWriteCallback
            self.setWriteFlags = setWriteFlags
            self.testWriteFlags = testWriteFlags
            writers = TLSWriters(library)
        }

        private static func fileName(of version: String) -> String? {
            if version.starts(withBytes: "OpenSSL/3.") { return SharedLibrary.openSSL3Name }
            return version.starts(withBytes: "OpenSSL/1.1.") ? SharedLibrary.openSSL11Name : nil
        }
    }

    extension TLSLibrary {
        /// Whether HTTP/2 was negotiated for a connection (RFC 7301).
        func speaksHTTP2(_ connection: UnsafeMutableRawPointer) -> Bool {
            var name: UnsafePointer<UInt8>?
            var length: UInt32 = 0
            agreedProtocol(connection, &name, &length)
            return length == 2 && name?[0] == UInt8(ascii: "h") && name?[1] == UInt8(ascii: "2")
        }

        /// Whether the last operation waits for input, such as a write during a renegotiation.
        func wantsInput(_ connection: UnsafeMutableRawPointer) -> Bool {
            // `SSL_READING`.
            want(connection) == 3
        }

        /// Whether OpenSSL has input of a connection that was not read yet.
        func hasInput(_ connection: UnsafeMutableRawPointer) -> Bool { hasPending(connection) != 0 }

        /// Allows that a write which the socket did not accept is repeated from other memory.
        func allowMovedWrites(on connection: UnsafeMutableRawPointer) {
            // `SSL_CTRL_MODE` with `SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER`.
            _ = control(connection, 33, 2, nil)
        }

        /// The public keys (SPKI, DER) of a connection's verified chain, the peer's own first.
        ///
        /// A resumed session has no verified chain. The peer's certificates are then verified
        /// again, with the same authorities.
        func verifiedKeys(of connection: UnsafeMutableRawPointer) -> [Data] {
            guard Int(verifyResult(connection)) == Self.verified else { return [] }
            if let chain = verifiedChain(connection) {
                let keys = keys(of: chain)
                if !keys.isEmpty { return keys }
            }
            guard let context = context(connection), let store = trusted(context) else { return [] }
            return verifying(connection, against: store, flags: 0) { keys(of: $0) } ?? []
        }

        /// The peer's own public key (SPKI, DER).
        func ownKey(of connection: UnsafeMutableRawPointer) -> Data? {
            guard let certificate = peerCertificate(connection) else { return nil }
            defer { freeCertificate(certificate) }
            return key(of: certificate)
        }

        /// Whether the peer's chain leads to one of these certificates (DER), with every
        /// certificate within its validity period.
        func chain(of connection: UnsafeMutableRawPointer, leadsTo anchors: [Data]) -> Bool {
            guard let store = makeStore() else { return false }
            defer { freeStore(store) }
            for anchor in anchors {
                let certificate = anchor.withUnsafeBytes { bytes in
                    var start = bytes.bindMemory(to: UInt8.self).baseAddress
                    return readCertificate(nil, &start, bytes.count)
                }
                guard let certificate else { continue }
                // The store holds its own reference.
                _ = addToStore(store, certificate)
                freeCertificate(certificate)
            }
            return verifying(connection, against: store, flags: Self.partialChain) { _ in true }
                ?? false
        }

        /// Verifies the peer's certificate against a store; calls the body with the chain.
        ///
        /// Returns `nil` if the verification fails.
        private func verifying<Result>(
            _ connection: UnsafeMutableRawPointer, against store: UnsafeMutableRawPointer,
            flags: UInt, _ body: (UnsafeMutableRawPointer) -> Result
        ) -> Result? {
            guard let certificate = peerCertificate(connection) else { return nil }
            defer { freeCertificate(certificate) }
            guard let verification = makeVerification() else { return nil }
            defer { freeVerification(verification) }
            guard prepare(verification, store, certificate, sentChain(connection)) == 1,
                choosePurpose(verification, "ssl_server") == 1
            else { return nil }
            if flags != 0 { setFlags(verification, flags) }
            guard verify(verification) == 1, let chain = chainOfVerification(verification) else {
                return nil
            }
            return body(chain)
        }

        private func keys(of chain: UnsafeMutableRawPointer) -> [Data] {
            (0..<max(0, count(chain))).compactMap { index in
                element(chain, index).flatMap { key(of: $0) }
            }
        }

        private func key(of certificate: UnsafeMutableRawPointer) -> Data? {
            guard let key = publicKey(certificate) else { return nil }
            let length = Int(writeKey(key, nil))
            guard length > 0 else { return nil }
            var data = Data(count: length)
            let written = data.withUnsafeMutableBytes { bytes in
                var start = bytes.bindMemory(to: UInt8.self).baseAddress
                return Int(writeKey(key, &start))
            }
            return written == length ? data : nil
        }
    }

    /// The TLS sessions that all easy handles of a loop share.
    ///
    /// Up to version 8.11, libcurl keeps sessions in the easy handle that created them, so a handle
    /// that connects to a server for the first time would need a full handshake. A share object
    /// holds eight sessions, so there are several share objects, selected by host. Only the thread
    /// that runs the loop's turn uses them, so they need no lock. Before libcurl resumes a session,
    /// it compares host, port and the complete TLS configuration (authorities, client certificate,
    /// checks, versions).
    final class TLSSessionCache {
        /// Enough for about two hundred servers.
        private static let count = 32

        /// Whether sessions are cached.
        let isEnabled: Bool

        // Unchecked: one thread uses a cache, and its methods call no other code of Errand.
        @exclusivity(unchecked) private var shares: [UnsafeMutableRawPointer?]

        /// Creates an empty cache; it stays empty if `isEnabled` is false.
        init(isEnabled: Bool) {
            self.isEnabled = isEnabled
            shares = isEnabled ? Array(repeating: nil, count: Self.count) : []
        }

        /// The share object for a host; `nil` if sessions are not cached or memory is short.
        func share(for host: String?) -> UnsafeMutableRawPointer? {
            guard !shares.isEmpty else { return nil }
            // The low bits of the hash have selected the loop.
            let index = Int(LoopChoice.hash(of: host) >> 16) % Self.count
            if let share = shares[index] { return share }
            shares[index] = errand_share_sessions()
            return shares[index]
        }

        /// Frees the sessions; no handle may use them any more.
        func close() {
            for share in shares { curl_share_cleanup(share) }
            shares = []
        }
    }
#endif
