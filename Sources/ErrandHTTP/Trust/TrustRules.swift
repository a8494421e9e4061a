package import ErrandSystem

/// The rules of a ``SecurityPolicy`` that apply to one host at one time.
package struct TrustRules: Sendable, Hashable {
    /// Whether the chain must be valid: signed by a trusted authority and within its validity period.
    package let requiresValidChain: Bool
    /// Whether the certificate must match the host name.
    package let requiresName: Bool
    /// The pins that must match.
    package let enforced: [SecurityPolicy.Pins]
    /// The report-only pins.
    package let reported: [SecurityPolicy.Pins]
    /// Whether the host name must match although neither an authority nor a pin verifies the certificate.
    package let isContradictory: Bool
    /// The host in canonical form, without a trailing dot.
    package let host: String

    package init(_ policy: SecurityPolicy, host: String, now: Date) {
        let host = HostName.compared(host)
        let named = Self.pins(policy.pins, for: host)
        var valid = named.filter { pin in pin.expires.map { now < $0 } ?? true }
        if named.isEmpty, !policy.publicKeyPins.isEmpty {
            valid = [SecurityPolicy.Pins(host, publicKeys: policy.publicKeyPins)]
        }
        self.host = host
        enforced = valid.filter { !$0.isReportOnly }
        reported = valid.filter(\.isReportOnly)
        requiresName = policy.validatesDomainName
        // If all pins of the host have expired, the chain must be valid again: otherwise nothing would verify it.
        let hadPins = !named.filter { !$0.isReportOnly }.isEmpty && enforced.isEmpty
        requiresValidChain = !policy.allowInvalidCertificates || hadPins
        isContradictory = !requiresValidChain && enforced.isEmpty && policy.validatesDomainName
    }

    /// Whether the certificates must be compared with pins.
    package var hasPins: Bool { !enforced.isEmpty || !reported.isEmpty }

    /// The pinned certificates of all pins, PEM text.
    package var pinnedCertificates: [String] { (enforced + reported).flatMap(\.certificates) }

    /// The pins of the host itself, otherwise those of the nearest parent domain.
    private static func pins(_ all: [SecurityPolicy.Pins], for host: String) -> [SecurityPolicy
        .Pins]
    {
        let fitting = all.map { ($0, name($0) ?? "") }.filter { pin, name in
            name == host || (pin.includesSubdomains && isSubdomain(host, name))
        }
        let longest = fitting.map { $0.1.utf8.count }.max()
        return fitting.filter { $0.1.utf8.count == longest }.map(\.0)
    }

    private static func isSubdomain(_ host: String, _ domain: String) -> Bool {
        !domain.isEmpty && host.ends(withBytes: "." + domain) && !CookieDomain.isAddress(host)
            && !CookieDomain.isAddress(domain)
    }

    /// The pin's host in canonical form, without a trailing dot.
    ///
    /// `nil` if the text is not a host or contains a port. Without this normalization a pin in another
    /// spelling would match no URL and would be ignored.
    package static func name(_ pin: SecurityPolicy.Pins) -> String? { HostName.named(pin.host) }
}
