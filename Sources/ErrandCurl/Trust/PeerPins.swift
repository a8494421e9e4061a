#if os(Linux)
    import CLibcurl
    import ErrandCore
    import Foundation

    /// Holds a connection that is there to the pins of its host, before anything is sent on it.
    ///
    /// It looks at the connection itself each time, so that neither a kept connection nor a resumed TLS session that
    /// came about without the pins gets past them.
    struct PeerPins {
        private let library: TLSLibrary
        private let rules: TrustRules

        /// `nil` when nothing is pinned for the host.
        init?(_ rules: TrustRules, library: TLSLibrary) {
            guard rules.hasPins else { return nil }
            self.library = library
            self.rules = rules
        }

        /// What to do about the connection that a handle has.
        func decision(for handle: UnsafeMutableRawPointer) -> TrustDecision {
            guard let connection = errand_get_tls(handle) else {
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

        /// Nothing is known: no pin fits.
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
