#if Redis
    import ErrandCore
    import ErrandHTTP

    /// The reason why the server could not be used, or did not perform a command.
    struct RedisFailure: Error, Equatable, CustomStringConvertible {
        enum Kind: Equatable {
            /// No connection could be made.
            case unreachable
            /// A connection or a command exceeded its time limit.
            case timedOut
            /// The connection ended while a command was in progress.
            case connectionLost
            /// The server requires another user name or password.
            case authentication
            /// The server replied with an error.
            case refused
            /// The server sent data that is not RESP.
            case invalidReply
            /// The command was not sent, because the server is bypassed.
            case bypassed
            /// TLS is not possible with the server.
            case handshake
            /// The server's certificate is expired, or not issued by a trusted authority.
            case untrustedCertificate
            /// The server's certificate does not contain its name.
            case wrongHost
            /// The server requires another client certificate.
            case clientCertificate
            /// A file of the TLS settings cannot be used any more.
            case files

            /// Whether the server or the network is the reason, not a setting.
            var isAvailability: Bool {
                [.unreachable, .timedOut, .connectionLost].contains(self)
            }
        }

        var kind: Kind
        /// The message of the server or of the system.
        ///
        /// It contains no key and no value.
        var message: String

        var description: String { message }

        /// Whether a key has a value of another type.
        var isWrongType: Bool {
            kind == .refused
                && (message.contains(bytes: "WRONGTYPE")
                    || message.contains(bytes: "is not an integer"))
        }

        /// Whether the server does not know a script any more.
        var isMissingScript: Bool { kind == .refused && message.starts(withBytes: "NOSCRIPT") }

        /// Creates the failure for an error reply.
        static func refused(_ message: String) -> RedisFailure {
            let first = message.prefix(upToByte: " ")
            let isAuthentication =
                ["NOAUTH", "WRONGPASS", "NOPERM"].contains(first)
                || message.starts(withBytes: "ERR invalid password")
                || message.starts(withBytes: "ERR AUTH")
                || message.starts(withBytes: "ERR Client sent AUTH")
            return RedisFailure(
                kind: isAuthentication ? .authentication : .refused, message: message)
        }

        /// Throws the failure for a reply to which no command belongs.
        static func refuse(_ reply: RedisReply) throws(RedisFailure) {
            if case .error(let message) = reply { throw .refused(message) }
            throw RedisFailure(
                kind: .invalidReply, message: "the server sent an unexpected reply")
        }

        static let noThread = RedisFailure(
            kind: .unreachable, message: "the system could not create a thread for the connection")

        static func timedOut(_ limit: Duration) -> RedisFailure {
            RedisFailure(
                kind: .timedOut, message: "no reply within \(limit.wholeMilliseconds) ms")
        }

        /// The error for the caller and for event listeners.
        ///
        /// Its underlying error is one of TLS if that is the reason.
        ///
        /// - Parameter address: The server, as the user configured it.
        func requestError(address: String) -> RequestError {
            RequestError(
                .storeFailed, stage: .cache,
                "The response store at \(address) failed: \(message). \(advice)",
                underlying: tlsError(address: address) ?? self)
        }

        private func tlsError(address: String) -> RequestError? {
            let code: RequestError.Code
            switch kind {
            case .handshake: code = .secureConnectionFailed
            case .untrustedCertificate, .wrongHost: code = .certificateRejected
            case .clientCertificate: code = .clientCertificateRejected
            default: return nil
            }
            return RequestError(code, stage: .cache, "\(address): \(message).")
        }

        /// A sentence that says what the user can do.
        private var advice: String {
            switch kind {
            case .unreachable, .connectionLost:
                "Check that the server runs and that the address is right; the store reconnects."
            case .timedOut:
                "Check the load of the server and of the network, or raise `commandLimit`."
            case .authentication:
                "Set the username and the password of the store, or give its user the permission."
            case .invalidReply:
                "Check that the address is that of a Redis or Valkey server, and set `tls` if its "
                    + "port requires TLS."
            case .handshake: "Check that the port is the server's TLS port, or set `tls` to nil."
            case .untrustedCertificate:
                "Renew the server's certificate, or set `tls.authorityFile` to its authority."
            case .wrongHost:
                "Use a name that the certificate contains as the address or as `tls.serverName`."
            case .clientCertificate:
                "Set `tls.clientCertificateFile` and `tls.clientKeyFile` to a certificate that the "
                    + "server accepts."
            case .files: "The store reads the files again when it connects."
            case .bypassed: "Requests go to the network until the store has reconnected."
            case .refused: refusalAdvice
            }
        }

        private var refusalAdvice: String {
            switch message.prefix(upToByte: " ") {
            case "OOM":
                "Raise the server's maxmemory, or set its maxmemory-policy to volatile-lru."
            case "READONLY": "The server is a replica: use the address of its primary."
            case "MOVED", "ASK", "CLUSTERDOWN", "CROSSSLOT":
                "The server is part of a cluster, which the store does not support: use one server."
            case "LOADING": "The server loads its data; the store reconnects."
            case "MISCONF": "The server cannot write to its disk: check its log."
            default: "Check the server's log."
            }
        }
    }

    extension Duration {
        /// The duration in milliseconds, rounded up, at most 10 years.
        var wholeMilliseconds: Int {
            let limit = Duration.seconds(315_360_000)
            let (seconds, attoseconds) = Swift.min(Swift.max(self, .zero), limit).components
            return Int(seconds) * 1000
                + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        }
    }
#endif
