#if os(Linux)
    import ErrandSystem
    import ErrandTransport

    /// Checks before anything is sent whether libcurl can carry a request.
    struct RequestCheck {
        let library: CurlLibrary

        /// Throws if it cannot.
        func check(_ request: TransportRequest) throws(RequestError) {
            try request.checkForMistakes()
            if let problem = library.problem {
                throw RequestError(.invalidConfiguration, stage: .build, problem)
            }
            if request.isSecure, !library.hasTLS { throw unsupported("TLS") }
            guard !request.options.hasDefaults else { return }
            if request.options.httpVersion == .http2, !library.hasOpenSSL {
                throw unsupported("OpenSSL, which HTTP/2 over TLS requires")
            }
            if case .url(let url, _) = request.options.proxy, !library.hasSecureProxies,
                url.lowercasedASCII().starts(withBytes: "https:")
            {
                throw unsupported("TLS to proxies")
            }
            if request.options.unixSocketPath != nil, !library.hasUnixSockets {
                throw unsupported("Unix sockets")
            }
            if let security = request.options.sharedSecurity { try checkSecurity(security) }
            if let security = request.options.sharedProxySecurity {
                try checkProxySecurity(security)
            }
        }

        private func checkProxySecurity(_ security: SharedSecurity) throws(RequestError) {
            guard library.hasSecureProxies else { throw unsupported("TLS to proxies") }
            guard !security.hasPins else {
                throw RequestError(
                    .unsupported, stage: .build,
                    "Pins are not supported for proxies. Set the proxy's authority in proxySecurity, "
                        + "and the server's pins in security."
                )
            }
            try checkSecurity(security)
        }

        private func checkSecurity(_ security: SharedSecurity) throws(RequestError) {
            if security.hasCertificatesInMemory, !library.hasOpenSSL {
                throw unsupported(
                    security.policy.authorities != nil
                        ? "certificates from memory" : "OpenSSL, which client identities require")
            }
            if security.hasPins, TLSLibrary.loaded == nil {
                throw unsupported("OpenSSL, which pins require")
            }
            if let path = security.unreadableFile({ access($0, R_OK) == 0 }) {
                throw SecurityPolicy.unreadableFile(path)
            }
        }

        private func unsupported(_ what: String) -> RequestError {
            RequestError(
                .unsupported, stage: .transport,
                "This libcurl (\(library.version)) was built without \(what).")
        }
    }
#endif
