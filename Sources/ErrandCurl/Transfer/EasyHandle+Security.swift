#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import Foundation

    // Trust settings and client certificates as libcurl's options.
    extension EasyHandle {
        /// Resolves the security policy for the request's host, if there is a policy.
        func resolveRules(of request: TransportRequest) {
            guard !request.options.hasDefaults else {
                rules = nil
                pins = nil
                return
            }
            rules = request.options.security.map {
                TrustRules($0, host: request.host ?? "", now: Date())
            }
            pins = rules.flatMap { rules in
                TLSLibrary.loaded.flatMap { PeerPins(rules, library: $0) }
            }
        }

        /// Checks the connection against its pins; returns false and sets ``failure`` if they do
        /// not match.
        func matchesPins() -> Bool {
            guard let pins, let handle else { return true }
            switch pins.decision(for: handle) {
            case .accept(let mismatches):
                for mismatch in mismatches {
                    receiver?.didNotice(mismatch)
                    // The receiver may have taken any time.
                    loop.sockets.expireIdleCheck()
                }
                return true
            case .reject(let reason):
                if failure == nil {
                    failure = CurlFailure.rejected(reason, host: rules?.host ?? "")
                }
                return false
            }
        }

        /// Called before a TLS handshake, with its `SSL_CTX`; returns false if the peer's
        /// certificate cannot be checked.
        func handshakeWillStart(_ tls: UnsafeMutableRawPointer) -> Bool {
            let side = nextHandshakePeer
            let isForProxy = side == .proxy
            nextHandshakePort = 0
            var applied = isForProxy ? [] : [rules]
            if side != .server {
                applied.append(
                    transfer?.request.options.proxySecurity.map {
                        TrustRules($0, host: "", now: Date())
                    })
            }
            // If the peer can be either, the stricter rules apply.
            let observer = PeerObserver(
                isForProxy: isForProxy,
                requiresName: applied.contains { $0?.requiresName ?? true },
                requiresValidChain: applied.contains { $0?.requiresValidChain ?? true })
            peer = observer
            return observer.install(in: tls)
        }

        /// The peer of a TLS handshake.
        private enum HandshakePeer { case server, proxy, either }

        /// The peer of the next TLS handshake.
        ///
        /// The first one on a connection to an `https://` proxy is with the proxy. It can be with
        /// either if the host may bypass the proxy, and both have the same port.
        private var nextHandshakePeer: HandshakePeer {
            guard nextHandshakePort > 0, let request = transfer?.request,
                !request.options.hasDefaults || CurlLibrary.linked.environmentNamesProxy,
                let route = ProxyRoute(request), route.isSecure
            else { return .server }
            if route.isCertain { return .proxy }
            guard Int(nextHandshakePort) == route.port else { return .server }
            return (request.url.port ?? 443) == route.port ? .either : .proxy
        }

        /// Sets the trust and the client certificate for the server.
        func applySecurity(_ security: SecurityPolicy) throws(RequestError) {
            try apply(security, rules: rules, to: .server)
            if pins != nil, !CurlLibrary.linked.sessionsKeepChains {
                try special(CURLOPT_SSL_SESSIONID_CACHE, 0)
            }
        }

        /// Sets the trust and the client certificate for an `https://` proxy.
        func applyProxySecurity(
            _ security: SecurityPolicy, isTunnelled: Bool
        ) throws(RequestError) {
            // The host is empty: only pins depend on it, and pins are not supported for proxies.
            let rules = TrustRules(security, host: "", now: Date())
            try apply(security, rules: rules, to: .proxy)
            // When libcurl 7.88 looks for a proxy connection to reuse for a plain request, it
            // compares the TLS settings of the server and not those of the proxy. So the server's
            // settings get the proxy's values. The fake pin distinguishes them from the settings of
            // a real server.
            if !isTunnelled {
                try apply(security, rules: rules, to: .server)
                try special(CURLOPT_PINNEDPUBLICKEY, "sha256//proxy")
            }
        }

        private func apply(
            _ security: SecurityPolicy, rules: TrustRules?, to names: TLSOptionNames
        ) throws(RequestError) {
            if let text = security.authorities { try special(names.authorities, Data(text.utf8)) }
            if let file = security.authorityFile { try special(names.authorityFile, file) }
            if let file = security.clientCertificateFile { try special(names.certificate, file) }
            if let file = security.clientKeyFile { try special(names.key, file) }
            // Without a password OpenSSL would prompt on the terminal and block the loop.
            if security.clientCertificateFile != nil { try special(names.password, "") }
            if let identity = security.clientIdentity { try apply(identity, to: names) }
            if let rules {
                if !rules.requiresValidChain { try special(names.checksChain, 0) }
                if !rules.requiresName { try special(names.checksName, 0) }
            }
            if security.minimumVersion == .tls13 {
                try special(names.version, CURL_SSLVERSION_TLSv1_3)
            }
        }

        private func apply(
            _ identity: ClientIdentity, to names: TLSOptionNames
        ) throws(RequestError) {
            try special(names.certificateForm, identity.form == .pkcs12 ? "P12" : "PEM")
            switch identity.certificate {
            case .file(let path): try special(names.certificate, path)
            case .bytes(let data): try special(names.certificateBytes, data)
            }
            switch identity.key {
            case .file(let path): try special(names.key, path)
            case .bytes(let data): try special(names.keyBytes, data)
            case nil: break
            }
            // Without a password OpenSSL would prompt on the terminal and block the loop.
            try special(names.password, identity.password ?? "")
        }

        private func special(_ option: CURLoption, _ value: Data) throws(RequestError) {
            needsReset = true
            let code = value.withUnsafeBytes { bytes in
                errand_set_blob(handle, option, bytes.baseAddress, bytes.count)
            }
            try expect(code)
        }
    }
#endif
