#if os(Linux)
    import ErrandTransport
    import Foundation

    /// Checks before anything is sent whether the linked libcurl can carry a request.
    struct RequestCheck {
        let library: CurlLibrary

        /// Throws if it cannot.
        func check(_ request: TransportRequest) throws(RequestError) {
            try request.checkForMistakes()
            if request.isSecure, !library.hasTLS { throw unsupported("TLS") }
            guard !request.options.hasDefaults else { return }
            try request.checkTrailerVersion()
            switch request.options.httpVersion {
            case .automatic, .http11: break
            case .http2, .http2PriorKnowledge:
                if !library.hasHTTP2 { throw unsupported("HTTP/2") }
            }
            if case .url(let url, _) = request.options.proxy, !library.hasSecureProxies,
                url.lowercased().hasPrefix("https:")
            {
                throw unsupported("TLS to proxies")
            }
            if request.options.unixSocketPath != nil, !library.hasUnixSockets {
                throw unsupported("Unix sockets")
            }
            if let security = request.options.security { try checkSecurity(security) }
            if let security = request.options.proxySecurity { try checkProxySecurity(security) }
        }

        private func checkProxySecurity(_ security: SecurityPolicy) throws(RequestError) {
            guard library.hasSecureProxies else { throw unsupported("TLS to proxies") }
            guard security.pins.isEmpty, security.publicKeyPins.isEmpty else {
                throw RequestError(
                    .unsupported, stage: .build,
                    "Pins are not supported for proxies. Set the proxy's authority in proxySecurity, "
                        + "and the server's pins in security."
                )
            }
            try checkSecurity(security)
        }

        private func checkSecurity(_ security: SecurityPolicy) throws(RequestError) {
            if security.authorities != nil, !library.hasOpenSSL {
                throw unsupported("certificates from memory")
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

        private func invalid(_ message: String) -> RequestError {
            RequestError(.invalidConfiguration, stage: .build, message)
        }

        private func unsupported(_ what: String) -> RequestError {
            RequestError(
                .unsupported, stage: .transport,
                "This libcurl (\(library.version)) was built without \(what).")
        }
    }
#endif
