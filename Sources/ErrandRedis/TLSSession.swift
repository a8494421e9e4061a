#if Redis
    import ErrandHTTP
    import Foundation
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

        private let openSSL: OpenSSL
        private let connection: OpaquePointer
        /// The streams of received and of encrypted bytes; they belong to `connection`.
        private let input: OpaquePointer
        private let output: OpaquePointer
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
                ? openSSL.setAddress(openSSL.parameters(connection), host) == 1
                : Self.require(host, connection, openSSL)
            guard isNamed, let input = openSSL.makeStream(openSSL.memoryMethod()) else {
                openSSL.freeConnection(connection)
                return nil
            }
            guard let output = openSSL.makeStream(openSSL.memoryMethod()) else {
                _ = openSSL.freeStream(input)
                openSSL.freeConnection(connection)
                return nil
            }
            openSSL.setStreams(connection, input, output)
            (self.openSSL, self.connection) = (openSSL, connection)
            (self.input, self.output, self.name) = (input, output, host)
        }

        deinit { openSSL.freeConnection(connection) }

        /// Whether a name is an IPv4 or IPv6 address.
        private static func isAddress(_ name: String) -> Bool {
            var bytes = in6_addr()
            return inet_pton(AF_INET, name, &bytes) == 1 || inet_pton(AF_INET6, name, &bytes) == 1
        }

        /// Requires a host name and sends it (RFC 6066 §3).
        private static func require(
            _ host: String, _ connection: OpaquePointer, _ openSSL: OpenSSL
        ) -> Bool {
            openSSL.setHostFlags(openSSL.parameters(connection), hostFlags)
            var bytes = Array(host.utf8CString)
            // SSL_CTRL_SET_TLSEXT_HOSTNAME with TLSEXT_NAMETYPE_host_name
            let isSent = bytes.withUnsafeMutableBytes { bytes in
                openSSL.control(connection, 55, 0, bytes.baseAddress) == 1
            }
            return openSSL.setHost(connection, host) == 1 && isSent
        }

        // MARK: - Bytes

        /// Continues the handshake with the received bytes; whether it is complete.
        func handshake() throws(RedisFailure) -> Bool {
            try lock.withLock { _ throws(RedisFailure) in
                openSSL.clearErrors()
                let result = openSSL.connect(connection)
                if result == 1 { return true }
                guard openSSL.explain(connection, result) == Self.wantsInput else {
                    throw handshakeFailure
                }
                return false
            }
        }

        /// Encrypts bytes, which ``takeOutput()`` returns; false if the connection cannot send.
        func encrypt(_ bytes: [UInt8]) -> Bool {
            lock.withLock { _ in
                openSSL.clearErrors()
                return bytes.withUnsafeBytes { bytes in
                    var start = 0
                    while start < bytes.count {
                        let count = min(bytes.count - start, Self.pieceBytes)
                        let piece = bytes.baseAddress?.advanced(by: start)
                        guard openSSL.write(connection, piece, Int32(count)) == count else {
                            return false
                        }
                        start += count
                    }
                    return true
                }
            }
        }

        /// Whether encrypted bytes wait.
        var hasOutput: Bool { lock.withLock { _ in openSSL.streamSize(output) > 0 } }

        /// Removes and returns the encrypted bytes, which must be sent in this order.
        func takeOutput() -> [UInt8] {
            lock.withLock { _ in
                let size = min(openSSL.streamSize(output), Int(Int32.max))
                return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
                    count = max(
                        0, Int(openSSL.readStream(output, bytes.baseAddress, Int32(size))))
                }
            }
        }

        /// Adds received bytes, at most 1 MiB.
        func feed(_ bytes: UnsafeRawBufferPointer) {
            lock.withLock { _ in
                _ = openSSL.writeStream(input, bytes.baseAddress, Int32(bytes.count))
            }
        }

        /// Decrypts received bytes.
        ///
        /// - Returns: The number of bytes; 0 if more must be received first.
        func read(into buffer: UnsafeMutableRawBufferPointer) throws(RedisFailure) -> Int {
            try lock.withLock { _ throws(RedisFailure) in
                openSSL.clearErrors()
                let count = openSSL.read(connection, buffer.baseAddress, Int32(buffer.count))
                if count > 0 { return Int(count) }
                switch openSSL.explain(connection, count) {
                case Self.wantsInput: return 0
                case Self.isClosed:
                    throw RedisFailure(
                        kind: .connectionLost, message: "the server closed the connection")
                default: throw failure(openSSL.takeError())
                }
            }
        }

        // MARK: - Failures

        private var handshakeFailure: RedisFailure {
            let error = openSSL.takeError()
            let result = openSSL.verifyResult(connection)
            guard result != Self.verified else { return failure(error) }
            let reason =
                openSSL.verificationText(result).map { String(cString: $0) } ?? "error \(result)"
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
