package import Foundation

/// What a ``SecurityPolicy`` means for one host at one moment.
package struct TrustRules: Sendable, Hashable {
    /// Whether an authority must vouch for the chain, dates included.
    package let requiresValidChain: Bool
    /// Whether the certificate must be for the host.
    package let requiresName: Bool
    /// Pins that decide.
    package let enforced: [PinnedHost]
    /// Pins whose mismatch is only told.
    package let reported: [PinnedHost]
    /// Whether nothing would vouch for the peer although its name is to be checked.
    package let isContradictory: Bool
    /// The host as pins know it.
    package let host: String

    package init(_ policy: SecurityPolicy, host: String, now: Date) {
        let host = Self.normalized(host)
        let named = Self.pins(policy.pins, for: host)
        var valid = named.filter { pin in pin.expires.map { now < $0 } ?? true }
        if named.isEmpty, !policy.publicKeyPins.isEmpty {
            valid = [PinnedHost(host, publicKeys: policy.publicKeyPins)]
        }
        self.host = host
        enforced = valid.filter { !$0.isReportOnly }
        reported = valid.filter(\.isReportOnly)
        requiresName = policy.validatesDomainName
        // Who has let the pins replace the authorities is not left with neither when the pins expire.
        let hadPins = !named.filter { !$0.isReportOnly }.isEmpty && enforced.isEmpty
        requiresValidChain = !policy.allowInvalidCertificates || hadPins
        isContradictory = !requiresValidChain && enforced.isEmpty && policy.validatesDomainName
    }

    /// Whether certificates must be looked at once they are known.
    package var hasPins: Bool { !enforced.isEmpty || !reported.isEmpty }

    /// The certificates among all pins, PEM text.
    package var pinnedCertificates: [String] { (enforced + reported).flatMap(\.certificates) }

    /// The pins for a host: those for just this host, or else those of the nearest domain above it.
    private static func pins(_ all: [PinnedHost], for host: String) -> [PinnedHost] {
        let fitting = all.map { ($0, name($0) ?? "") }.filter { pin, name in
            name == host || (pin.includesSubdomains && isBelow(host, name))
        }
        let longest = fitting.map { $0.1.utf8.count }.max()
        return fitting.filter { $0.1.utf8.count == longest }.map(\.0)
    }

    private static func isBelow(_ host: String, _ domain: String) -> Bool {
        !domain.isEmpty && host.hasSuffix("." + domain) && !CookieDomain.isAddress(host)
            && !CookieDomain.isAddress(domain)
    }

    /// A pin's host as addresses have it: punycode, brackets around IPv6; `nil` for what is no host, or has a port.
    ///
    /// A pin that was compared as it is written would fit no address, and let everything through.
    static func name(_ pin: PinnedHost) -> String? {
        let text = pin.host
        let isBareIPv6 = !text.hasPrefix("[") && text.utf8.count { $0 == UInt8(ascii: ":") } > 1
        guard text.last != ":" || isBareIPv6,
            let url = try? URI(parsing: "https://\(isBareIPv6 ? "[\(text)]" : text)/"),
            let host = url.host, !host.isEmpty, url.port == nil, url.userInfo == nil,
            url.path == "/", url.query == nil, url.fragment == nil
        else { return nil }
        return normalized(host)
    }

    /// Lower case, without the root's dot: `Example.com.` is the same host as `example.com`.
    static func normalized(_ host: String) -> String {
        let name = host.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
