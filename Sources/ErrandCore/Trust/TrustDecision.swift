/// Whether a peer is trusted: the table of decisions, apart from all cryptography.
///
/// It is AFNetworking's table (row TLS-3) with two differences: the host's name is checked wherever it is wanted, also with
/// invalid certificates allowed and keys pinned; and keys count only where they are proven to belong to the chain.
package enum TrustDecision: Sendable, Hashable {
    /// The peer is trusted.
    ///
    /// The mismatches are of pins that only report.
    case accept(reporting: [PinMismatch])
    case reject(Reason)

    package enum Reason: Sendable, Hashable {
        /// Pins hold for the host, and the address is not https.
        case notSecure
        /// Invalid certificates are allowed, names are to be checked, and nothing is pinned.
        case contradictory
        /// No authority vouches for the chain, or a certificate is out of date.
        case untrusted
        /// The certificate is for another host.
        case wrongHost
        case pinMismatch(PinMismatch)
    }

    /// What is known of a peer.
    package struct Evidence: Sendable, Hashable {
        /// An authority vouches for the chain, and every certificate in it is in date.
        package var isValid: Bool
        /// The certificate is for the host.
        package var isForHost: Bool
        /// Digests of the public keys that are proven to be the chain's, base64, the server's own first: all of a
        /// verified chain, only the first of another.
        package var keys: [String]
        /// Those of the pinned certificates, PEM text, to which the chain leads, in date.
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

    /// Decides before anything is sent; `nil` when the peer must be seen first.
    package static func beforehand(_ rules: TrustRules, isSecure: Bool) -> Reason? {
        guard isSecure else { return rules.enforced.isEmpty ? nil : .notSecure }
        return rules.isContradictory ? .contradictory : nil
    }

    /// Decides about a peer of an https address.
    package static func decide(_ rules: TrustRules, _ evidence: Evidence) -> TrustDecision {
        if let reason = beforehand(rules, isSecure: true) { return .reject(reason) }
        if rules.requiresValidChain, !evidence.isValid { return .reject(.untrusted) }
        if rules.requiresName, !evidence.isForHost { return .reject(.wrongHost) }
        return decidePins(rules, evidence)
    }

    /// The part of the table that is left when chain and name were checked, or need not be.
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

    private static func fits(_ pins: PinnedHost, _ evidence: Evidence) -> Bool {
        evidence.keys.contains(where: pins.publicKeys.contains)
            || pins.certificates.contains(where: evidence.reached.contains)
    }
}
