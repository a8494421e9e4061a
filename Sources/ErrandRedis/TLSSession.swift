#if Redis
    import ErrandHTTP
    import ErrandOpenSSL
    import ErrandSystem
    import Synchronization

    /// Encrypts and decrypts the bytes of one connection, with OpenSSL; it does no input or output.
    ///
    /// OpenSSL reads from and writes to memory, so that its owner sends and receives as without TLS:
    /// without blocking, and without the signal `SIGPIPE`, which OpenSSL's own sockets cause.
    /// All received bytes are decrypted at once, so none wait here while the socket is polled.
    // @unchecked: `lock` protects OpenSSL's connection, which a sender and a reader use.
    final class TLSSession: @unchecked Sendable {
        /// `X509_V_OK`.
        private static let verified = 0
        /// `SSL_ERROR_WANT_READ`.
        private static let wantsInput: Int32 = 2
        /// `SSL_ERROR_ZERO_RETURN`, after close_notify.
        private static let isClosed: Int32 = 6
        /// `X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS` and `X509_CHECK_FLAG_NEVER_CHECK_SUBJECT`
        /// (RFC 9525 §6.3 and §2).
        private static let hostFlags: UInt32 = 0x4 | 0x20
        /// The largest number of bytes that OpenSSL receives at once.
        private static let pieceBytes = 1 << 20

        private let openSSL: TLSFunctions
        private let connection: OpenSSL.Object
        /// The streams of received and of encrypted bytes; they belong to `connection`.
        private let input: OpenSSL.Object
        private let output: OpenSSL.Object
        private let name: String
        private let lock = Mutex(())

        /// Prepares a connection; `nil` if there is no memory.
        ///
        /// - Parameter name: The host name or the address that the certificate must contain.
        init?(_ context: TLSContext, name: String) {
            let openSSL = context.openSSL
            guard let connection = context.makeConnection() else { return nil }
            let host = name.dropping(suffix: ".").map { String($0) } ?? name
            let isNamed =
                Self.isAddress(host)
                ? Self.require(address: host, connection, openSSL)
                : Self.require(host, connection, openSSL)
            let (connections, streams) = (openSSL.connections, openSSL.streams)
            guard isNamed, let input = streams.BIO_new(streams.BIO_s_mem()) else {
                connections.SSL_free(connection)
                return nil
            }
            guard let output = streams.BIO_new(streams.BIO_s_mem()) else {
                _ = streams.BIO_free(input)
                connections.SSL_free(connection)
                return nil
            }
            connections.SSL_set_bio(connection, input, output)
            (self.openSSL, self.connection) = (openSSL, connection)
            (self.input, self.output, self.name) = (input, output, host)
        }

        deinit { openSSL.connections.SSL_free(connection) }

        /// Whether a name is an IPv4 or IPv6 address.
        private static func isAddress(_ name: String) -> Bool {
            var bytes = in6_addr()
            return inet_pton(AF_INET, name, &bytes) == 1 || inet_pton(AF_INET6, name, &bytes) == 1
        }

        private static func require(
            address: String, _ connection: OpenSSL.Object, _ openSSL: TLSFunctions
        ) -> Bool {
            let parameters = openSSL.connections.SSL_get0_param(connection)
            return openSSL.verifications.X509_VERIFY_PARAM_set1_ip_asc(parameters, address) == 1
        }

        /// Requires a host name and sends it (RFC 6066 §3).
        private static func require(
            _ host: String, _ connection: OpenSSL.Object, _ openSSL: TLSFunctions
        ) -> Bool {
            let connections = openSSL.connections
            openSSL.verifications.X509_VERIFY_PARAM_set_hostflags(
                connections.SSL_get0_param(connection), hostFlags)
            var bytes = Array(host.utf8CString)
            // SSL_CTRL_SET_TLSEXT_HOSTNAME with TLSEXT_NAMETYPE_host_name
            let isSent = bytes.withUnsafeMutableBytes { bytes in
                connections.SSL_ctrl(connection, 55, 0, bytes.baseAddress) == 1
            }
            return connections.SSL_set1_host(connection, host) == 1 && isSent
        }

        // MARK: - Bytes

        /// Continues the handshake with the received bytes; whether it is complete.
        func handshake() throws(RedisFailure) -> Bool {
            try lock.withLock { _ throws(RedisFailure) in
                openSSL.errors.ERR_clear_error()
                let result = openSSL.transfers.SSL_connect(connection)
                if result == 1 { return true }
                guard openSSL.connections.SSL_get_error(connection, result) == Self.wantsInput
                else {
                    throw handshakeFailure
                }
                return false
            }
        }

        /// Encrypts bytes, which ``takeOutput()`` returns; false if the connection cannot send.
        func encrypt(_ bytes: [UInt8]) -> Bool {
            lock.withLock { _ in
                openSSL.errors.ERR_clear_error()
                return bytes.withUnsafeBytes { bytes in
                    var start = 0
                    while start < bytes.count {
                        let count = min(bytes.count - start, Self.pieceBytes)
                        let piece = bytes.baseAddress?.advanced(by: start)
                        guard
                            openSSL.transfers.SSL_write(connection, piece, Int32(count)) == count
                        else { return false }
                        start += count
                    }
                    return true
                }
            }
        }

        /// Whether encrypted bytes wait.
        var hasOutput: Bool {
            lock.withLock { _ in openSSL.streams.BIO_ctrl_pending(output) > 0 }
        }

        /// Removes and returns the encrypted bytes, which must be sent in this order.
        func takeOutput() -> [UInt8] {
            lock.withLock { _ in
                let size = min(openSSL.streams.BIO_ctrl_pending(output), Int(Int32.max))
                guard size > 0 else { return [] }
                return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
                    let read = openSSL.transfers.BIO_read(
                        output, bytes.baseAddress, Int32(size))
                    count = max(0, Int(read))
                }
            }
        }

        /// Adds received bytes, at most 1 MiB.
        func feed(_ bytes: UnsafeRawBufferPointer) {
            lock.withLock { _ in
                _ = openSSL.transfers.BIO_write(input, bytes.baseAddress, Int32(bytes.count))
            }
        }

        /// Decrypts received bytes.
        ///
        /// - Returns: The number of bytes; 0 if more must be received first.
        func read(into buffer: UnsafeMutableRawBufferPointer) throws(RedisFailure) -> Int {
            try lock.withLock { _ throws(RedisFailure) in
                openSSL.errors.ERR_clear_error()
                let count = openSSL.transfers.SSL_read(
                    connection, buffer.baseAddress, Int32(buffer.count))
                if count > 0 { return Int(count) }
                switch openSSL.connections.SSL_get_error(connection, count) {
                case Self.wantsInput: return 0
                case Self.isClosed:
                    throw RedisFailure(
                        kind: .connectionLost, message: "the server closed the connection")
                default: throw failure(openSSL.errors.take())
                }
            }
        }

        // MARK: - Failures

        private var handshakeFailure: RedisFailure {
            let error = openSSL.errors.take()
            let result = openSSL.connections.SSL_get_verify_result(connection)
            guard result != Self.verified else { return failure(error) }
            let reason =
                openSSL.errors.X509_verify_cert_error_string(result)
                .map { String(cString: $0) } ?? "error \(result)"
            // X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH
            if result == 62 || result == 64 {
                return RedisFailure(
                    kind: .wrongHost,
                    message: "the server's certificate is not valid for \(name) (\(reason))")
            }
            return RedisFailure(
                kind: .untrustedCertificate,
                message: "the server's certificate is not trusted (\(reason))")
        }

        /// The failure for an error of OpenSSL.
        private func failure(_ error: (code: UInt, text: String)) -> RedisFailure {
            let reason = Int(error.code & 0xFFF)
            // SSL_R_WRONG_VERSION_NUMBER: the bytes are no TLS record.
            if reason == 267 {
                return RedisFailure(
                    kind: .handshake, message: "the server does not use TLS (\(error.text))")
            }
            // 1000 and the number of the alert that the server has sent (RFC 8446 §6.2).
            let isAlert = (1000...1255).contains(reason)
            if isAlert, Self.certificateAlerts.contains(reason - 1000) {
                return RedisFailure(
                    kind: .clientCertificate,
                    message: "the server refused the client certificate (\(error.text))")
            }
            return RedisFailure(
                kind: .handshake,
                message: (isAlert ? "the server refused the TLS connection" : "TLS failed")
                    + " (\(error.text))")
        }

        /// The alerts bad_certificate to unknown, unknown_ca, access_denied and
        /// certificate_required.
        private static let certificateAlerts: Set<Int> = [42, 43, 44, 45, 46, 48, 49, 116]
    }
#endif
