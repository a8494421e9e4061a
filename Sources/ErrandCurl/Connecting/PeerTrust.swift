#if os(Linux)
    import CLibcurl
    import ErrandSystem
    import ErrandTransport

    /// A request's trust in the peers of its connection: the rules and pins for its host, and the
    /// observer of its TLS handshakes.
    struct PeerTrust {
        /// The security policy, resolved for the request's host.
        private(set) var rules: TrustRules?
        /// Whether the certificates must be compared with pins.
        private(set) var hasPins = false
        /// The observer of the last TLS handshake, or of the connection that is used.
        var observer: PeerObserver?
        /// Whether no TLS handshake has begun on the last socket.
        var isNewSocket = false

        init() {}

        init(_ options: TransportOptions, host: String) {
            guard !options.hasDefaults else { return }
            rules = options.sharedSecurity.map { $0.rules(for: host, now: Date()) }
            hasPins = rules?.hasPins ?? false
        }

        /// Checks a handle's connection against the pins; returns the mismatches that are only
        /// reported.
        func checkPins(
            of handle: UnsafeMutableRawPointer
        ) throws(RequestError) -> [PinMismatch] {
            guard let rules, rules.hasPins else { return [] }
            switch PeerPins(rules).decision(for: handle) {
            case .accept(let mismatches): return mismatches
            case .reject(let reason): throw reason.error(host: rules.host)
            }
        }

        /// Called before a TLS handshake, with its `SSL_CTX`; returns an error if the peer's
        /// certificate cannot be checked.
        mutating func handshakeWillStart(
            _ tls: UnsafeMutableRawPointer, to url: HTTPURL, _ options: TransportOptions
        ) -> CURLcode {
            if let authorities = SystemAuthorities.shared, !authorities.install(in: tls) {
                return CURLE_SSL_CACERT_BADFILE
            }
            // The first handshake on a connection to an `https://` proxy is with the proxy.
            let isForProxy =
                isNewSocket && !options.hasDefaults
                && ProxyRoute(options)?.isSecure == true
            isNewSocket = false
            let applied =
                isForProxy
                ? options.sharedProxySecurity.map { $0.rules(for: "", now: Date()) } : rules
            let observer = PeerObserver(
                isForProxy: isForProxy, requiresName: applied?.requiresName ?? true,
                requiresValidChain: applied?.requiresValidChain ?? true)
            self.observer = observer
            return observer.install(in: tls) ? CURLE_OK : CURLE_OUT_OF_MEMORY
        }

    }

    /// Checks an established connection against the pins of its host, before a request is sent on
    /// it.
    ///
    /// It checks the connection itself each time, so a kept connection or a resumed TLS session
    /// that was established without the pins is checked too.
    struct PeerPins {
        private let rules: TrustRules

        init(_ rules: TrustRules) { self.rules = rules }

        /// The decision for a handle's connection.
        func decision(for handle: UnsafeMutableRawPointer) -> TrustDecision {
            guard let library = TLSLibrary.loaded, let connection = Curl.loaded?.tls(handle) else {
                return TrustDecision.decidePins(rules, unknown)
            }
            let keys =
                rules.requiresValidChain
                ? library.verifiedKeys(of: connection)
                : library.ownKey(of: connection).map { [$0] } ?? []
            let evidence = TrustDecision.Evidence(
                isValid: rules.requiresValidChain, isForHost: rules.requiresName,
                keys: keys.map(Self.digest),
                reached: Set(
                    rules.pinnedCertificates.filter { text in
                        library.chain(of: connection, leadsTo: PEMText.certificates(in: text))
                    }))
            return TrustDecision.decidePins(rules, evidence)
        }

        /// The evidence for an unknown connection, which matches no pin.
        private var unknown: TrustDecision.Evidence {
            TrustDecision.Evidence(isValid: false, isForHost: false, keys: [])
        }

        private static func digest(_ key: Data) -> String {
            var hash = SHA256()
            hash.update(key)
            return Data(hash.finalize()).base64EncodedString()
        }
    }
#endif
