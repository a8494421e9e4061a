#if os(Linux)
    import CLibcurl
    import ErrandCore

    /// The proxy that a request names, as far as errors need to know it: without user and password.
    struct ProxyRoute: Sendable, Hashable {
        /// `host:port`.
        let name: String
        /// Whether TLS is spoken to the proxy itself.
        let isSecure: Bool

        /// `nil` where there is none, or where the request may have gone past it: nobody is blamed on suspicion.
        init?(_ policy: TransportOptions.ProxyPolicy) {
            guard case .url(let text, let bypass) = policy, bypass.isEmpty,
                let url = try? URI(parsing: text), let host = url.host
            else { return nil }
            isSecure = url.scheme == "https"
            // libcurl's ports for proxies.
            name = "\(host):\(url.port ?? (isSecure ? 443 : 1080))"
        }
    }

    extension CurlFailure {
        /// The error where it is the proxy's connection that failed, not the server's behind it.
        static func proxyFault(
            _ result: CURLcode, _ context: Context
        ) -> (RequestError.Code, String)? {
            let name = context.proxy.map { "the proxy \($0.name)" } ?? "the proxy"
            // In a tunnel that is there the proxy has been accepted.
            guard context.proxyAnswer == 0 else {
                return behind(result, context, name: name)
            }
            let isCertain = context.proxy?.isSecure == true
            if result == CURLE_COULDNT_CONNECT, context.proxy != nil {
                return (
                    .proxyFailed,
                    "Nobody answers at \(name). Check its URL, and that the proxy runs."
                )
            }
            if untrusted.contains(result), isCertain || context.proxyVerification != 0 {
                return (
                    .proxyFailed,
                    "The certificate of \(name) is not trusted, out of date, or for another host. "
                        + "Check the proxy's name, or name its authority in transport.proxySecurity."
                )
            }
            let isBroken = broken.contains(result) && !context.isConnected
            guard isCertain, isBroken || insecure.contains(result) || refusesClient(context.text)
            else { return nil }
            return (
                .proxyFailed,
                "No secure connection to \(name) came about. Check that it speaks TLS on this port, "
                    + "and the authorities and the client certificate in transport.proxySecurity."
            )
        }

        private static let untrusted = [CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR]
        private static let insecure = [
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER,
        ]
        private static let broken = [CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING]

        /// NB: in a tunnel through TLS, libcurl 7.88 loses OpenSSL's word on the server's certificate.
        private static func behind(
            _ result: CURLcode, _ context: Context, name: String
        ) -> (RequestError.Code, String)? {
            guard result == CURLE_SSL_CONNECT_ERROR, context.proxy?.isSecure == true else {
                return nil
            }
            return (
                .secureConnectionFailed,
                "No secure connection to \(context.host) came about behind \(name). Its certificate may not be "
                    + "trusted, or be for another host: libcurl does not tell through an https proxy."
            )
        }
    }
#endif
