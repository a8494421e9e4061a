package import ErrandSystem

extension TrustDecision.Evidence {
    /// The findings of a TLS library about a server's certificates, as ``TrustDecision`` uses them.
    package struct Findings: Sendable {
        /// The certificates in DER, leaf first: the verified chain, or an unverified one.
        package var chain: [Data]
        /// Whether an authority signed the chain, and every certificate is within its validity period.
        package var isValid: Bool
        /// Whether the library accepted the chain for the host, too; `nil` if it was not asked.
        package var isForHost: Bool?

        package init(chain: [Data], isValid: Bool, isForHost: Bool? = nil) {
            self.chain = chain
            self.isValid = isValid
            self.isForHost = isForHost
        }
    }

    /// Reads the keys and the names of the certificates.
    ///
    /// - Parameters:
    ///   - rules: If they do not require a valid chain, only the server's own certificate counts, because a server can
    ///     append any other one to it.
    ///   - host: The host of the request.
    ///   - leads: Whether the chain leads to these certificates (DER), one of which is an anchor.
    package init(
        _ findings: Findings, _ rules: TrustRules, host: String, leads: ([Data]) -> Bool
    ) {
        let certificates = findings.chain.map(CertificateData.init(der:))
        let isVerified = rules.requiresValidChain && findings.isValid
        let own = certificates.first.flatMap(\.self)
        self.init(
            isValid: findings.isValid,
            isForHost: findings.isForHost ?? own?.isIssued(for: HostName.compared(host)) ?? false,
            keys: isVerified ? certificates.compactMap { $0?.pin } : own.map { [$0.pin] } ?? [],
            reached: Set(rules.pinnedCertificates.filter { leads(PEMText.certificates(in: $0)) }))
    }
}

extension TrustDecision.Reason {
    /// The error of a request whose server is not trusted.
    package func error(host: String) -> RequestError {
        guard case .pinMismatch(let mismatch) = self else {
            return RequestError(
                .certificateRejected, stage: .transport,
                "The certificate of \(host) is untrusted or issued for another host. Check the SecurityPolicy."
            )
        }
        return RequestError(
            .pinMismatch, stage: .transport,
            "\(mismatch.description). Check for an intercepting proxy, or add the server's new key to the pins.",
            underlying: mismatch)
    }
}
