/// The decision whether a TLS server is trusted, as a pure function without cryptography.
///
/// It follows AFNetworking's decision table with two differences. The host name is checked whenever
/// `validatesDomainName` is set, even with invalid certificates allowed and keys pinned. A key counts
/// only if it provably belongs to the verified chain.
package enum TrustDecision: Sendable, Hashable {
    /// The server is trusted; the mismatches belong to report-only pins.
    case accept(reporting: [PinMismatch])
    case reject(Reason)

    package enum Reason: Sendable, Hashable {
        /// The host is pinned and the URL is not https.
        case notSecure
        /// Invalid certificates are allowed, the host name must match, and the host is not pinned.
        case contradictory
        /// No trusted authority signed the chain, or a certificate is expired.
        case untrusted
        /// The certificate does not match the host name.
        case wrongHost
        case pinMismatch(PinMismatch)
    }

    /// The properties of the server's certificate chain that the decision uses.
    package struct Evidence: Sendable, Hashable {
        /// Whether a trusted authority signed the chain and every certificate is within its validity period.
        package var isValid: Bool
        /// Whether the certificate matches the host name.
        package var isForHost: Bool
        /// The digests of the public keys that belong to the chain, base64, leaf key first.
        ///
        /// All keys if the chain is verified, otherwise only the leaf key.
        package var keys: [String]
        /// The pinned certificates (PEM text) that the chain leads to, within their validity period.
        package var reached: Set<String>

        package init(
            isValid: Bool, isForHost: Bool, keys: [String], reached: Set<String> = []
        ) {
            self.isValid = isValid
            self.isForHost = isForHost
            self.keys = keys
            self.reached = reached
        }
    }

    /// Decides before the request is sent; `nil` if the decision needs the server's certificates.
    package static func precheck(_ rules: TrustRules, isSecure: Bool) -> Reason? {
        guard isSecure else { return rules.enforced.isEmpty ? nil : .notSecure }
        return rules.isContradictory ? .contradictory : nil
    }

    /// Decides about the server of an https URL.
    package static func decide(_ rules: TrustRules, _ evidence: Evidence) -> TrustDecision {
        if let reason = precheck(rules, isSecure: true) { return .reject(reason) }
        if rules.requiresValidChain, !evidence.isValid { return .reject(.untrusted) }
        if rules.requiresName, !evidence.isForHost { return .reject(.wrongHost) }
        return decidePins(rules, evidence)
    }

    /// Decides by the pins only, after the chain and the host name have been checked where required.
    package static func decidePins(_ rules: TrustRules, _ evidence: Evidence) -> TrustDecision {
        func mismatch(_ isReportOnly: Bool) -> PinMismatch {
            PinMismatch(host: rules.host, seen: evidence.keys, isReportOnly: isReportOnly)
        }
        guard rules.enforced.isEmpty || rules.enforced.contains(where: { fits($0, evidence) })
        else {
            return .reject(.pinMismatch(mismatch(false)))
        }
        let misses = rules.reported.contains { !fits($0, evidence) }
        return .accept(reporting: misses ? [mismatch(true)] : [])
    }

    private static func fits(_ pins: SecurityPolicy.Pins, _ evidence: Evidence) -> Bool {
        evidence.keys.contains(where: pins.publicKeys.contains)
            || pins.certificates.contains(where: evidence.reached.contains)
    }
}
