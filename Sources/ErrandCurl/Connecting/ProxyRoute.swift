import ErrandSystem
import ErrandTransport

#if os(Linux)
    import CLibcurl
#endif

/// The proxy of a request, without its credentials.
struct ProxyRoute: Sendable, Hashable {
    let host: String
    let port: Int
    /// `host:port`.
    let name: String
    /// Whether the connection to the proxy itself uses TLS.
    let isSecure: Bool
    /// Whether it is an HTTP proxy, not a SOCKS proxy.
    private let speaksHTTP: Bool

    /// Finds the proxy that the options name; `nil` if there is none.
    ///
    /// - Parameter options: See ``TransportOptions/resolvingProxy(for:_:)``.
    init?(_ options: TransportOptions) {
        guard options.unixSocketPath == nil, let url = Self.url(options), let host = url.host
        else { return nil }
        self.host = host
        isSecure = url.isHTTPS
        speaksHTTP = isSecure || url.scheme == "http"
        // libcurl's default ports for proxies.
        port = url.port ?? (isSecure ? 443 : 1080)
        name = "\(host):\(port)"
    }

    /// Whether it is an HTTP proxy, which gets CONNECT.
    var opensTunnels: Bool { speaksHTTP }

    /// The URL of the proxy that the options name; one without a scheme is an HTTP proxy, as for
    /// libcurl.
    static func url(_ options: TransportOptions) -> HTTPURL? {
        guard case .url(let text, _) = options.proxy else { return nil }
        return try? HTTPURL(parsing: text.contains(bytes: "://") ? text : "http://" + text)
    }

    /// The value of `Proxy-Authorization` for a request in absolute form (RFC 7617); `nil` if
    /// the proxy's URL has no credentials.
    static func credentials(_ options: TransportOptions) -> String? {
        guard let userInfo = url(options)?.userInfo, !userInfo.isEmpty else { return nil }
        var bytes: [UInt8] = []
        var rest = userInfo.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        if !userInfo.contains(byte: ":") { bytes.append(UInt8(ascii: ":")) }
        return "Basic " + Data(bytes).base64EncodedString()
    }

}

#if os(Linux)
    extension CurlFailure {
        /// The error for a failed connection to the proxy; `nil` if the proxy is not the cause.
        static func proxyError(
            _ result: CURLcode, _ context: Context
        ) -> (RequestError.Code, String)? {
            let name = context.proxy.map { "the proxy \($0.name)" } ?? "the proxy"
            // If the tunnel exists, the connection to the proxy has succeeded.
            guard context.proxyResponse == 0 else {
                return connectRejection(context, name: name)
                    ?? tunnelledTLSError(result, context, name: name)
            }
            let isCertain = context.proxy?.isSecure == true
            if result == CURLE_COULDNT_RESOLVE_PROXY {
                return (
                    .proxyFailed,
                    "The host name of \(name) could not be resolved. Check its URL and the network."
                )
            }
            if result == CURLE_PROXY {
                return (
                    .proxyFailed,
                    "\(capitalized(name)) cannot be used: it rejected the credentials, or cannot reach "
                        + "\(context.host). Check its URL, and that it may connect to this host."
                )
            }
            if result == CURLE_COULDNT_CONNECT, !context.lacksResources, context.proxy != nil {
                return (
                    .proxyFailed,
                    "Could not connect to \(name). Check its URL, and that the proxy runs."
                )
            }
            if let name = refusedTunnel(result, context) {
                return (
                    .proxyFailed,
                    "The proxy \(name) closed the connection before it responded to CONNECT for \(context.host). "
                        + "Check that it is an HTTP proxy, and that it may connect to this host."
                )
            }
            if verificationErrors.contains(result), isCertain || context.proxyVerification != 0 {
                return (
                    .proxyFailed,
                    "The certificate of \(name) is untrusted, expired, or issued for another host. "
                        + "Check the proxy's name, or add its authority to transportOptions.proxySecurity."
                )
            }
            let isBroken = connectionErrors.contains(result) && !context.isConnected
            guard isCertain,
                isBroken || tlsErrors.contains(result) || rejectsClientCertificate(context)
            else { return nil }
            return (
                .proxyFailed,
                "TLS handshake with \(name) failed. Check that it supports TLS on this port, "
                    + "and the authorities and the client certificate in transportOptions.proxySecurity."
            )
        }

        /// The error for a proxy that did not accept CONNECT.
        private static func connectRejection(
            _ context: Context, name: String
        ) -> (RequestError.Code, String)? {
            guard context.proxyResponse >= 300, !context.isConnected else { return nil }
            return (
                .proxyFailed,
                "\(capitalized(name)) returned status \(context.proxyResponse) to CONNECT for \(context.host). "
                    + (context.proxyResponse == 407
                        ? "Add user and password to the proxy's URL."
                        : "Check that the proxy may connect to this host.")
            )
        }

        /// The name of the HTTP proxy that was connected and did not respond to CONNECT; `nil` if it
        /// is not the cause.
        private static func refusedTunnel(_ result: CURLcode, _ context: Context) -> String? {
            guard connectionErrors.contains(result), !context.isConnected,
                let proxy = context.proxy,
                proxy.opensTunnels
            else { return nil }
            // TLS with the proxy itself can fail too.
            return !proxy.isSecure || context.text.contains(bytes: "CONNECT") ? proxy.name : nil
        }

        private static func capitalized(_ name: String) -> String {
            name.prefix(1).uppercasedASCII() + name.dropFirst()
        }

        private static let verificationErrors = [
            CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR,
        ]
        private static let tlsErrors = [
            CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER,
        ]
        private static let connectionErrors = [
            CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING,
        ]

        /// The error for a failed TLS handshake with the server inside a tunnel.
        ///
        /// In a tunnel through an https proxy, libcurl 7.88 loses OpenSSL's verification result for
        /// the server's certificate.
        private static func tunnelledTLSError(
            _ result: CURLcode, _ context: Context, name: String
        ) -> (RequestError.Code, String)? {
            guard result == CURLE_SSL_CONNECT_ERROR, context.proxy?.isSecure == true else {
                return nil
            }
            return (
                .secureConnectionFailed,
                "TLS handshake with \(context.host) through \(name) failed. The server's certificate may be "
                    + "untrusted or issued for another host; libcurl does not report the reason through an https proxy."
            )
        }
    }
#endif
