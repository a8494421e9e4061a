#if os(Linux)
    import ErrandTransport
    import Foundation

    /// Checks before anything is sent whether the linked libcurl can carry a request.
    struct RequestCheck {
        let library: CurlLibrary

        /// Throws if it cannot.
        func check(_ request: TransportRequest) throws(RequestError) {
            guard request.isAbsoluteHTTP else {
                throw RequestError(
                    .invalidURL, stage: .transport,
                    "The URL is not an absolute http or https URL. Add a scheme and a host."
                )
            }
            try Self.checkMethod(request.method)
            if request.method == .head, request.body != nil {
                throw RequestError(
                    .invalidCombination, stage: .transport,
                    "A HEAD request cannot have a body. Remove the body, or use another method."
                )
            }
            let isSecure = request.isSecure
            if isSecure, !library.hasTLS { throw unsupported("TLS") }
            guard !request.options.hasDefaults else { return }
            try checkVersion(request.options.httpVersion, isSecure: isSecure)
            if case .url(let url, let bypass) = request.options.proxy {
                try checkProxy(url)
                // An entry that matches no host would silently send requests to the proxy that
                // should bypass it.
                for host in bypass where !AddressOverride.isBypass(host) {
                    throw invalid(
                        "The proxy's bypass entry \(host) is not a host. Use names, IP addresses, networks such as "
                            + "10.0.0.0/8, or *, without scheme and port.")
                }
            }
            if let path = request.options.unixSocketPath { try checkUnixSocket(path) }
            if !request.options.addressOverrides.isEmpty {
                try checkOverrides(request.options.addressOverrides)
            }
            if let security = request.options.security {
                try checkSecurity(security)
                try security.check(
                    host: request.host ?? "", isSecure: isSecure, now: Date())
            }
            if let security = request.options.proxySecurity { try checkProxySecurity(security) }
        }

        /// Throws if the method is not a token, because it could end the request line and start
        /// another.
        static func checkMethod(_ method: HTTPMethod) throws(RequestError) {
            guard method.isToken else {
                throw RequestError(
                    .invalidMethod, stage: .transport,
                    "The method is not a token. Use letters, such as GET, without spaces.")
            }
        }

        private func checkVersion(
            _ version: TransportOptions.HTTPVersionPolicy, isSecure: Bool
        ) throws(RequestError) {
            switch version {
            case .automatic, .http11: return
            case .http2:
                guard library.hasHTTP2 else { throw unsupported("HTTP/2") }
                if !isSecure {
                    throw RequestError(
                        .invalidCombination, stage: .transport,
                        "HTTP/2 is negotiated only over TLS. Use https, or http2PriorKnowledge.")
                }
            case .http2PriorKnowledge:
                guard library.hasHTTP2 else { throw unsupported("HTTP/2") }
            }
        }

        private func checkProxy(_ text: String) throws(RequestError) {
            let url = try? URI(parsing: text)
            guard let url, let scheme = url.scheme, url.host?.isEmpty == false else {
                throw invalid("The proxy is not a URL. Write it as http://host:port.")
            }
            switch scheme {
            case "http", "socks5", "socks5h": return
            case "https": if !library.hasSecureProxies { throw unsupported("TLS to proxies") }
            default:
                throw invalid(
                    "The proxy's scheme \(scheme) is not supported. Use http, https, socks5 or socks5h."
                )
            }
        }

        private func checkProxySecurity(_ security: SecurityPolicy) throws(RequestError) {
            guard library.hasSecureProxies else { throw unsupported("TLS to proxies") }
            guard security.pins.isEmpty, security.publicKeyPins.isEmpty else {
                throw RequestError(
                    .unsupported, stage: .transport,
                    "Pins are not supported for proxies. Set the proxy's authority in proxySecurity, "
                        + "and the server's pins in security."
                )
            }
            try checkSecurity(security)
            try security.check(host: "", isSecure: true, now: Date())
        }

        private func checkUnixSocket(_ path: String) throws(RequestError) {
            guard library.hasUnixSockets else { throw unsupported("Unix sockets") }
            guard !path.isEmpty, path.utf8.count < 108, !path.utf8.contains(0) else {
                throw invalid("The Unix socket's path must have 1 to 107 bytes.")
            }
        }

        private func checkOverrides(_ overrides: [String: [String]]) throws(RequestError) {
            // An override that matches no host would silently send requests to the address from
            // DNS.
            for (name, addresses) in overrides {
                guard AddressOverride.isName(name) else {
                    throw invalid("The address override \(name) is neither a host nor host:port.")
                }
                guard !addresses.isEmpty else {
                    throw invalid("The address override of \(name) has no address.")
                }
            }
            for address in overrides.values.joined() where !Self.isAddress(address) {
                throw invalid("An address override contains a value that is not an IP address.")
            }
        }

        private func checkSecurity(_ security: SecurityPolicy) throws(RequestError) {
            if security.authorities != nil {
                guard library.hasOpenSSL else { throw unsupported("certificates from memory") }
                guard security.authorityFile == nil else {
                    throw invalid("Set the trusted authorities as text or as a file, not both.")
                }
            }
            let isPinned = !security.pins.isEmpty || !security.publicKeyPins.isEmpty
            if isPinned, TLSLibrary.loaded == nil {
                throw unsupported("OpenSSL, which pins require")
            }
            if security.clientIdentity != nil, !library.hasOpenSSL {
                throw unsupported("OpenSSL, which client identities require")
            }
            let files = [
                security.authorityFile, security.clientCertificateFile, security.clientKeyFile,
            ]
            for file in files.compactMap({ $0 }) + (security.clientIdentity?.files ?? [])
            where access(file, R_OK) != 0 {
                throw invalid("Could not read a certificate or key file of the SecurityPolicy.")
            }
        }

        private static func isAddress(_ text: String) -> Bool {
            var address = in6_addr()
            let bare =
                text.hasPrefix("[") && text.hasSuffix("]")
                ? String(text.dropFirst().dropLast()) : text
            return inet_pton(AF_INET, bare, &address) == 1
                || inet_pton(AF_INET6, bare, &address) == 1
        }

        private func invalid(_ message: String) -> RequestError {
            RequestError(.invalidConfiguration, stage: .transport, message)
        }

        private func unsupported(_ what: String) -> RequestError {
            RequestError(
                .unsupported, stage: .transport,
                "This libcurl (\(library.version)) was built without \(what).")
        }
    }
#endif
