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
            let (isValid, isForHost) = isStrict ? asTheSystem() : asThePolicy()
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            let findings = TrustDecision.Evidence.Findings(
                chain: chain.map { SecCertificateCopyData($0) as Data }, isValid: isValid,
                isForHost: isForHost)
            return TrustDecision.Evidence(findings, rules, host: host) { pinned in
                Self.chain(chain, leadsTo: pinned)
            }
        }

        /// Whether only pins are added to what the system requires.
        var isStrict: Bool {
            authorities == nil && rules.requiresValidChain && rules.requiresName
        }

        /// Evaluates the trust unchanged, because the system evaluates it again.
        private func asTheSystem() -> (isValid: Bool, isForHost: Bool?) {
            let isValid = SecTrustEvaluateWithError(trust, nil)
            return (isValid, isValid ? true : nil)
        }

        private func asThePolicy() -> (isValid: Bool, isForHost: Bool?) {
            if let authorities, !Self.anchor(trust, authorities) { return (false, nil) }
            if rules.requiresName, Self.isValid(trust, for: host) { return (true, true) }
            guard Self.isValid(trust, for: nil) else { return (false, nil) }
            // If the name is required, it was the only fault.
            return (true, rules.requiresName ? false : nil)
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
            return anchor(trust, anchors) && SecTrustEvaluateWithError(trust, nil)
        }

        /// Trusts these certificates, which need not be roots, and no other; returns false if that failed.
        private static func anchor(_ trust: SecTrust, _ certificates: [SecCertificate]) -> Bool {
            SecTrustSetAnchorCertificates(trust, certificates as CFArray) == errSecSuccess
                && SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
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
