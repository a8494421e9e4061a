#if os(Linux)
    import CLibcurl
    import ErrandHTTP
    import ErrandOpenSSL
    import ErrandSystem
    import ErrandTransport

    /// What libcurl's OpenSSL knows of connections and certificates.
    final class TLSLibrary: Sendable {
        /// `nil` if libcurl uses another TLS library or an older version.
        static let loaded = TLSLibrary()

        /// `X509_V_OK`.
        private static let verified = 0
        /// `X509_V_FLAG_PARTIAL_CHAIN`: any trusted certificate ends the chain, not only a root.
        private static let partialChain: UInt = 0x80000

        private let contexts: OpenSSL.Contexts
        private let connections: OpenSSL.Connections
        private let certificates: OpenSSL.Certificates
        private let verifications: OpenSSL.Verifications
        /// The streams that read and write the sockets of connections; see ``ConnectionHook``.
        let streams: OpenSSL.Streams

        private init?() {
            guard let contexts = LibcurlOpenSSL.contexts,
                let connections = LibcurlOpenSSL.connections,
                let certificates = LibcurlOpenSSL.certificates,
                let verifications = LibcurlOpenSSL.verifications,
                let streams = LibcurlOpenSSL.streams
            else { return nil }
            self.contexts = contexts
            self.connections = connections
            self.certificates = certificates
            self.verifications = verifications
            self.streams = streams
        }
    }

    extension TLSLibrary {
        /// Whether HTTP/2 was negotiated for a connection (RFC 7301).
        func speaksHTTP2(_ connection: UnsafeMutableRawPointer) -> Bool {
            var name: UnsafePointer<UInt8>?
            var length: UInt32 = 0
            connections.SSL_get0_alpn_selected(connection, &name, &length)
            return length == 2 && name?[0] == UInt8(ascii: "h") && name?[1] == UInt8(ascii: "2")
        }

        /// Offers HTTP/2 and HTTP/1.1 on the connections of an `SSL_CTX` (RFC 7301); returns false if memory is short.
        func offerHTTP2(_ context: UnsafeMutableRawPointer) -> Bool {
            let names: StaticString = "\u{02}h2\u{08}http/1.1"
            return names.withUTF8Buffer { names in
                contexts.SSL_CTX_set_alpn_protos(
                    context, names.baseAddress, UInt32(names.count)) == 0
            }
        }

        /// Prepares a connection for HTTP/2: no renegotiation (RFC 9113 §9.2.1), and several records in
        /// one read.
        func prepareForHTTP2(_ connection: UnsafeMutableRawPointer) {
            // `SSL_OP_NO_RENEGOTIATION`.
            _ = connections.SSL_set_options(connection, 1 << 30)
            // `SSL_CTRL_SET_READ_AHEAD`.
            _ = connections.SSL_ctrl(connection, 41, 1, nil)
        }

        /// Whether the last operation waits for input, such as a write during a renegotiation.
        func wantsInput(_ connection: UnsafeMutableRawPointer) -> Bool {
            // `SSL_READING`.
            connections.SSL_want(connection) == 3
        }

        /// Whether OpenSSL has input of a connection that was not read yet.
        func hasInput(_ connection: UnsafeMutableRawPointer) -> Bool {
            connections.SSL_has_pending(connection) != 0
        }

        /// The stream that reads the socket of a connection, and writes to it.
        func stream(of connection: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
            connections.SSL_get_rbio(connection)
        }

        /// Allows that a write which the socket did not accept is repeated from other memory.
        func allowMovedWrites(on connection: UnsafeMutableRawPointer) {
            // `SSL_CTRL_MODE` with `SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER`.
            _ = connections.SSL_ctrl(connection, 33, 2, nil)
        }

        /// The public keys (SPKI, DER) of a connection's verified chain, the peer's own first.
        ///
        /// A resumed session has no verified chain. The peer's certificates are then verified
        /// again, with the same authorities.
        func verifiedKeys(of connection: UnsafeMutableRawPointer) -> [Data] {
            guard connections.SSL_get_verify_result(connection) == Self.verified else { return [] }
            if let chain = connections.SSL_get0_verified_chain(connection) {
                let keys = keys(of: chain)
                if !keys.isEmpty { return keys }
            }
            guard let context = connections.SSL_get_SSL_CTX(connection),
                let store = contexts.SSL_CTX_get_cert_store(context)
            else { return [] }
            return verifying(connection, against: store, flags: 0) { keys(of: $0) } ?? []
        }

        /// The peer's own public key (SPKI, DER).
        func ownKey(of connection: UnsafeMutableRawPointer) -> Data? {
            guard let certificate = connections.SSL_get1_peer_certificate(connection) else {
                return nil
            }
            defer { certificates.X509_free(certificate) }
            return key(of: certificate)
        }

        /// Whether the peer's chain leads to one of these certificates (DER), with every
        /// certificate within its validity period.
        func chain(of connection: UnsafeMutableRawPointer, leadsTo anchors: [Data]) -> Bool {
            guard let store = verifications.X509_STORE_new() else { return false }
            defer { verifications.X509_STORE_free(store) }
            for anchor in anchors {
                let certificate = anchor.withUnsafeBytes { bytes in
                    var start = bytes.bindMemory(to: UInt8.self).baseAddress
                    return certificates.d2i_X509(nil, &start, bytes.count)
                }
                guard let certificate else { continue }
                // The store holds its own reference.
                _ = verifications.X509_STORE_add_cert(store, certificate)
                certificates.X509_free(certificate)
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
            guard let certificate = connections.SSL_get1_peer_certificate(connection) else {
                return nil
            }
            defer { certificates.X509_free(certificate) }
            guard let verification = verifications.X509_STORE_CTX_new() else { return nil }
            defer { verifications.X509_STORE_CTX_free(verification) }
            let sent = connections.SSL_get_peer_cert_chain(connection)
            guard verifications.X509_STORE_CTX_init(verification, store, certificate, sent) == 1,
                verifications.X509_STORE_CTX_set_default(verification, "ssl_server") == 1
            else { return nil }
            if flags != 0 { verifications.X509_STORE_CTX_set_flags(verification, flags) }
            guard verifications.X509_verify_cert(verification) == 1,
                let chain = verifications.X509_STORE_CTX_get0_chain(verification)
            else { return nil }
            return body(chain)
        }

        private func keys(of chain: UnsafeMutableRawPointer) -> [Data] {
            (0..<max(0, certificates.OPENSSL_sk_num(chain))).compactMap { index in
                certificates.OPENSSL_sk_value(chain, index).flatMap { key(of: $0) }
            }
        }

        private func key(of certificate: UnsafeMutableRawPointer) -> Data? {
            guard let key = certificates.X509_get_X509_PUBKEY(certificate) else { return nil }
            let length = Int(certificates.i2d_X509_PUBKEY(key, nil))
            guard length > 0 else { return nil }
            var data = Data(count: length)
            let written = data.withUnsafeMutableBytes { bytes in
                var start = bytes.bindMemory(to: UInt8.self).baseAddress
                return Int(certificates.i2d_X509_PUBKEY(key, &start))
            }
            return written == length ? data : nil
        }
    }

    /// The TLS sessions that all connectors of a loop share.
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

        private let curl: Curl?

        /// Creates an empty cache; it stays empty if `isEnabled` is false.
        init(_ curl: Curl?, isEnabled: Bool) {
            self.curl = curl
            self.isEnabled = isEnabled
            shares = isEnabled ? Array(repeating: nil, count: Self.count) : []
        }

        /// The share object for a host; `nil` if sessions are not cached or memory is short.
        func share(for host: String?) -> UnsafeMutableRawPointer? {
            guard !shares.isEmpty else { return nil }
            // The low bits of the hash have selected the loop.
            let index = Int(LoopChoice.hash(of: host) >> 16) % Self.count
            if let share = shares[index] { return share }
            shares[index] = curl?.shareOfSessions()
            return shares[index]
        }

        /// Frees the sessions; no handle may use them any more.
        func close() {
            for case let share? in shares { _ = curl?.curl_share_cleanup(share) }
            shares = []
        }
    }
#endif
