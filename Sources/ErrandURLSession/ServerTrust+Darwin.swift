#if canImport(Security)
    import ErrandTransport
    import Foundation
    import Security

    /// Collects the evidence about a server's certificates with Security.
    struct ServerTrust {
        private let trust: SecTrust
        private let rules: TrustRules
        private let host: String
        private let authorities: [SecCertificate]?

        /// - Parameters:
        ///   - host: The host of the request, which may be an IPv6 address in brackets.
        ///   - authorities: The only authorities to trust; `nil` for those of the system.
        init(
            _ trust: SecTrust, _ rules: TrustRules, host: String, authorities: [SecCertificate]?
        ) {
            self.trust = trust
            self.rules = rules
            self.host = host
            self.authorities = authorities
        }

        func evidence() -> TrustDecision.Evidence {
            if let authorities { Self.anchor(trust, authorities) }
            var isValid = rules.requiresName && Self.isValid(trust, for: host)
            var isForHost: Bool? = isValid ? true : nil
            if !isValid, Self.isValid(trust, for: nil) {
                isValid = true
                // The name was the only fault.
                if rules.requiresName { isForHost = false }
            }
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            let findings = TrustDecision.Evidence.Findings(
                chain: chain.map { SecCertificateCopyData($0) as Data }, isValid: isValid,
                isForHost: isForHost)
            return TrustDecision.Evidence(findings, rules, host: host) { pinned in
                Self.chain(chain, leadsTo: pinned)
            }
        }

        /// Whether a chain leads to one of these certificates (DER), within the validity of all.
        private static func chain(_ chain: [SecCertificate], leadsTo pinned: [Data]) -> Bool {
            var trust: SecTrust?
            let anchors = pinned.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            guard !anchors.isEmpty, !chain.isEmpty,
                SecTrustCreateWithCertificates(
                    chain as CFArray, SecPolicyCreateSSL(true, nil), &trust) == errSecSuccess,
                let trust
            else { return false }
            anchor(trust, anchors)
            return SecTrustEvaluateWithError(trust, nil)
        }

        /// Trusts these certificates, which need not be roots, and no other.
        private static func anchor(_ trust: SecTrust, _ certificates: [SecCertificate]) {
            // Without them, no chain is valid: a failure of these calls cannot extend the trust.
            _ = SecTrustSetAnchorCertificates(trust, certificates as CFArray)
            _ = SecTrustSetAnchorCertificatesOnly(trust, true)
        }

        private static func isValid(_ trust: SecTrust, for host: String?) -> Bool {
            let name = host.map { host in
                String(host.dropping(prefix: "[")?.dropping(suffix: "]") ?? host[...])
            }
            guard
                SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, name as CFString?))
                    == errSecSuccess
            else { return false }
            return SecTrustEvaluateWithError(trust, nil)
        }
    }
#endif
