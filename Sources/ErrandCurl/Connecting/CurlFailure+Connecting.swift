#if os(Linux)
    import CLibcurl
    import ErrandSystem
    import ErrandTransport

    // Errors of connections that could not be opened, from libcurl's results.
    extension CurlFailure {
        /// The facts about a connection that select the error for a libcurl result.
        struct Context {
            /// The request for which it was opened.
            var request: TransportRequest?
            /// The text in libcurl's error buffer.
            ///
            /// It is never shown, because it may contain addresses and names.
            var text: String
            /// The peer's last TLS alert; 0 if there was none.
            var alert: Int32 = 0
            /// Whether the request head was sent.
            var isConnected: Bool
            /// The status of the proxy's response to CONNECT; 0 if there is none.
            var proxyResponse = 0
            /// The verification result for the proxy's certificate chain; 0 if it is valid or was
            /// not checked.
            var proxyVerification = 0
            /// The proxy that the request uses, if it is certain that it uses one.
            var proxy: ProxyRoute?
            /// Whether the system had no file descriptor or no memory for a socket.
            var lacksResources = false

            var host: String { request?.host ?? "" }

            var policies: [SharedSecurity] {
                [request?.options.sharedSecurity, request?.options.sharedProxySecurity]
                    .compactMap { $0 }
            }

            /// Whether the request sets its own certificate authorities.
            fileprivate var hasAuthorities: Bool {
                policies.contains { $0.policy.authorities != nil || $0.policy.authorityFile != nil }
            }
        }

        /// The error for a result that is not `CURLE_OK`.
        static func error(_ result: CURLcode, context: Context) -> RequestError {
            if result == CURLE_OPERATION_TIMEDOUT {
                return timedOut(.connect, limits: context.request?.timeouts)
            }
            if let path = removedFile(result, context) {
                var error = SecurityPolicy.unreadableFile(path)
                error.underlying = CurlError(result)
                return error
            }
            if let (code, message) = proxyError(result, context) {
                return make(code, message, result)
            }
            if rejectsClientCertificate(context) {
                return make(
                    .clientCertificateRejected,
                    "\(context.host) requires a client certificate and rejected the one that it received, "
                        + "or received none. Check the SecurityPolicy's clientIdentity.", result)
            }
            let (code, message) = classify(result, context)
            var error = make(code, message, result)
            if isMistake(result, context) { error.stage = .build }
            return error
        }

        /// The certificate or key file whose absence is the cause of a failed connection.
        ///
        /// A policy's files are examined before the first request only; see ``SharedSecurity``.
        private static func removedFile(_ result: CURLcode, _ context: Context) -> String? {
            guard !context.isConnected, mayBeCausedByFile(result, context) else { return nil }
            return context.policies.flatMap(\.files).first { access($0, R_OK) != 0 }
        }

        private static func mayBeCausedByFile(_ result: CURLcode, _ context: Context) -> Bool {
            switch result {
            case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE: true
            case CURLE_BAD_FUNCTION_ARGUMENT: mentionsClientKey(context.text)
            default: false
            }
        }

        /// Whether the caller's settings are the cause; nothing was sent.
        private static func isMistake(_ result: CURLcode, _ context: Context) -> Bool {
            guard !context.isConnected else { return false }
            return switch result {
            case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: true
            case CURLE_SSL_CACERT_BADFILE: context.hasAuthorities
            default: mayBeCausedByFile(result, context)
            }
        }

        /// Whether the peer's TLS alert rejects the client certificate (RFC 8446 §6.2).
        ///
        /// With TLS 1.3 the alert arrives after the handshake, when the client first reads a
        /// response.
        static func rejectsClientCertificate(_ context: Context) -> Bool {
            [42, 43, 44, 45, 46, 48, 116].contains(context.alert)
                || [
                    "alert certificate required", "alert bad certificate",
                    "alert unsupported certificate", "alert certificate revoked",
                    "alert certificate expired", "alert certificate unknown", "alert unknown ca",
                ].contains { context.text.contains($0) }
        }

        /// Whether libcurl's text mentions the client certificate or its key.
        static func mentionsClientKey(_ text: String) -> Bool {
            ["private key", "client certificate", "PKCS12", "PKCS#12"].contains {
                text.contains($0)
            }
        }

        private static func classify(
            _ result: CURLcode, _ context: Context
        ) -> (RequestError.Code, String) {
            let host = context.host
            switch result {
            case CURLE_URL_MALFORMAT:
                return (.invalidURL, "libcurl does not accept the URL. Check its host and port.")
            case CURLE_COULDNT_RESOLVE_HOST:
                return (
                    .cannotFindHost,
                    "The host name \(host) could not be resolved. Check the name and the network."
                )
            case CURLE_COULDNT_CONNECT where context.lacksResources:
                return (
                    .transportFailed,
                    "The system has no file descriptor or no memory left for a connection to \(host). "
                        + "Close files and connections, or raise the limit (ulimit -n)."
                )
            case CURLE_COULDNT_CONNECT where context.request?.options.unixSocketPath != nil:
                let path = context.request?.options.unixSocketPath ?? ""
                return (
                    .cannotConnect,
                    "Could not connect to the Unix socket \(path). "
                        + "Check the path, its permissions, and that the server runs."
                )
            case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED:
                let port = context.request?.url.effectivePort
                return (
                    .cannotConnect,
                    "Could not connect to \(host)\(port.map { ":\($0)" } ?? ""). "
                        + "Check host and port, and that the server runs."
                )
            case CURLE_GOT_NOTHING: return ResponseFault.noResponse.description(host: host)
            case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
                return ResponseFault.lostBeforeHead.description(host: host)
            case CURLE_UNSUPPORTED_PROTOCOL:
                return (.unsupported, "This libcurl does not support the URL's scheme.")
            default:
                return tlsError(result, context)
                    ?? (
                        .transportFailed,
                        "The connection to \(host) failed. See the underlying error from libcurl."
                    )
            }
        }

        private static func clientIdentityError(_ context: Context) -> (RequestError.Code, String) {
            if !context.isConnected,
                let fault = ClientIdentityFault.find(
                    in: context.text, context.policies.map(\.policy))
            {
                return (.clientCertificateRejected, fault.message)
            }
            return (
                .clientCertificateRejected,
                "The client certificate is missing, unusable or rejected. "
                    + "Check its file, its key and whether \(context.host) accepts it."
            )
        }

        private static func tlsError(
            _ result: CURLcode, _ context: Context
        ) -> (RequestError.Code, String)? {
            switch result {
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR,
                CURLE_SSL_INVALIDCERTSTATUS:
                return (
                    .certificateRejected,
                    "The certificate of \(context.host) is untrusted, expired, or issued for another host. "
                        + "Check the server's certificate, or add its authority to the SecurityPolicy."
                )
            case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT: return clientIdentityError(context)
            case CURLE_BAD_FUNCTION_ARGUMENT where mentionsClientKey(context.text):
                // Newer versions of libcurl report an unusable private key in this way.
                return clientIdentityError(context)
            case CURLE_SSL_CACERT_BADFILE where !context.hasAuthorities:
                return (
                    .invalidConfiguration,
                    "libcurl found no certificate authorities on this system. "
                        + "Install ca-certificates, or set the SecurityPolicy's authorityFile."
                )
            case CURLE_SSL_CACERT_BADFILE:
                return (
                    .invalidConfiguration,
                    "Could not read the trusted certificates. Check the SecurityPolicy's authorities."
                )
            case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED,
                CURLE_USE_SSL_FAILED:
                return (
                    .secureConnectionFailed,
                    "TLS handshake with \(context.host) failed. "
                        + "Check that the server supports TLS on this port, in an allowed version."
                )
            default: return nil
            }
        }

        /// The error for a certificate that names no host except in its subject; `proxy` is the
        /// name of the proxy that presented it.
        static func unnamedHost(_ host: String, proxy: String?, _ result: CURLcode) -> RequestError
        {
            let owner = proxy.map { "the proxy \($0)" } ?? host
            return make(
                proxy == nil ? .certificateRejected : .proxyFailed,
                "The certificate of \(owner) has no host name or IP address in its subjectAltName extension, and its "
                    + "common name does not count (RFC 9110 §4.3.4). Use a certificate with a subjectAltName.",
                result)
        }

        /// The error for an option of the request that libcurl does not accept; nothing was sent.
        static func optionRejected(_ result: CURLcode) -> RequestError {
            var error = make(
                .unsupported,
                "libcurl \(CurlLibrary.linked.version) does not accept an option that the request needs.",
                result)
            error.stage = .build
            return error
        }

        private static func make(
            _ code: RequestError.Code, _ message: String, _ result: CURLcode
        ) -> RequestError {
            RequestError(
                code, stage: .transport, message,
                underlying: CurlError(result))
        }
    }

    extension CurlError {
        fileprivate init(_ result: CURLcode) {
            self.init(
                code: Int(result.rawValue),
                text: Curl.loaded?.curl_easy_strerror(result).map { String(cString: $0) }
                    ?? "unknown error")
        }
    }
#endif
