#if os(Linux)
    import CLibcurl
    import ErrandCore
    import Glibc

    /// The proxy that a request, or the environment, names, as far as errors need to know it: without user and password.
    struct ProxyRoute: Sendable, Hashable {
        private let host: String
        private let port: Int
        /// `host:port`.
        let name: String
        /// Whether TLS is spoken to the proxy itself.
        let isSecure: Bool
        /// Whether every request goes through it; otherwise some hosts bypass it.
        let isCertain: Bool

        /// `nil` where there is none.
        init?(_ request: TransportRequest) {
            let text: String
            switch request.options.proxy {
            case .none: return nil
            case .url(let named, let bypass):
                text = named
                isCertain = bypass.isEmpty
            case .environment:
                guard CurlLibrary.linked.environmentNamesProxy,
                    let named = Self.environment(isSecure: request.isSecure)
                else { return nil }
                text = named
                isCertain = ["no_proxy", "NO_PROXY"].allSatisfy { (name: String) in
                    (getenv(name)?.pointee ?? 0) == 0
                }
            }
            // libcurl takes one without a scheme for an http one.
            guard let url = try? URI(parsing: text.contains("://") ? text : "http://" + text),
                let host = url.host, request.options.unixSocketPath == nil
            else { return nil }
            self.host = host
            isSecure = url.scheme == "https"
            // libcurl's ports for proxies.
            port = url.port ?? (isSecure ? 443 : 1080)
            name = "\(host):\(port)"
        }

        /// Whether a connection that did not come about was to it; where hosts bypass it, libcurl's words say whom it
        /// tried, and without them nobody is blamed on suspicion.
        func isMeant(by text: String) -> Bool {
            let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            return isCertain || text.contains("connect to \(bare) port \(port)")
                || text.contains("via \(bare)")
        }

        /// In libcurl's order; `HTTP_PROXY` is none, since servers set it from a header of that name.
        private static func environment(isSecure: Bool) -> String? {
            let names =
                (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"])
                + ["all_proxy", "ALL_PROXY"]
            for name in names {
                if let value = getenv(name), value.pointee != 0 { return String(cString: value) }
            }
            return nil
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
                return refusal(context, name: name) ?? behind(result, context, name: name)
            }
            let isCertain = context.proxy.map { $0.isSecure && $0.isCertain } ?? false
            if result == CURLE_COULDNT_RESOLVE_PROXY {
                return (
                    .proxyFailed,
                    "\(capitalized(name)) has no address. Check its URL and the network."
                )
            }
            if result == CURLE_PROXY {
                return (
                    .proxyFailed,
                    "\(capitalized(name)) cannot be used: it refuses user and password, or does not reach \(context.host). "
                        + "Check its URL, and that it may reach this host."
                )
            }
            if result == CURLE_COULDNT_CONNECT, !context.isShort,
                context.proxy?.isMeant(by: context.text) == true
            {
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

        /// What a proxy has answered to CONNECT, other than that the tunnel is there.
        private static func refusal(
            _ context: Context, name: String
        ) -> (RequestError.Code, String)? {
            guard context.proxyAnswer >= 300, !context.isConnected else { return nil }
            return (
                .proxyFailed,
                "\(capitalized(name)) answered \(context.proxyAnswer) to CONNECT for \(context.host). "
                    + (context.proxyAnswer == 407
                        ? "Put user and password into the proxy's URL."
                        : "Check that the proxy may reach this host.")
            )
        }

        private static func capitalized(_ name: String) -> String {
            name.prefix(1).uppercased() + name.dropFirst()
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
