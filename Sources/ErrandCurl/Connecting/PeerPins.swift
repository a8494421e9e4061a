#if os(Linux)
    import CLibcurl
    import ErrandTransport
    import Foundation

    /// Checks an established connection against the pins of its host, before a request is sent on
    /// it.
    ///
    /// It checks the connection itself each time, so a kept connection or a resumed TLS session
    /// that was established without the pins is checked too.
    struct PeerPins {
        private let library: TLSLibrary
        private let rules: TrustRules

        /// Creates a check; `nil` if the host has no pins.
        init?(_ rules: TrustRules, library: TLSLibrary) {
            guard rules.hasPins else { return nil }
            self.library = library
            self.rules = rules
        }

        /// The decision for a handle's connection.
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
