package import Foundation

extension SecurityPolicy {
    /// Throws ``RequestError/Code/invalidConfiguration`` when the policy makes no sense, or none for this address.
    package func check(host: String, isSecure: Bool, now: Date) throws(RequestError) {
        for pin in publicKeyPins { try Self.checkKey(pin) }
        for pin in pins { try Self.check(pin) }
        if clientIdentity != nil, clientCertificateFile != nil || clientKeyFile != nil {
            throw Self.invalid(
                "Give the client's certificate as clientIdentity or as files, not both.")
        }
        if clientKeyFile != nil, clientCertificateFile == nil {
            throw Self.invalid(
                "There is a clientKeyFile without a clientCertificateFile: a key alone shows nothing. Name both."
            )
        }
        let rules = TrustRules(self, host: host, now: now)
        switch TrustDecision.beforehand(rules, isSecure: isSecure) {
        case .notSecure:
            throw Self.invalid(
                "\(rules.host) is pinned, and the address is not https. Without TLS nothing can be checked: "
                    + "use https, or remove the pins.")
        case .contradictory:
            throw Self.invalid(
                "With allowInvalidCertificates nothing vouches for the name that validatesDomainName asks for. "
                    + "Pin the host, or, in tests, take SecurityPolicy.insecureForTests.")
        case .untrusted, .wrongHost, .pinMismatch, nil: break
        }
    }

    private static func check(_ pin: PinnedHost) throws(RequestError) {
        guard let name = TrustRules.name(pin), !name.isEmpty,
            !name.utf8.contains(where: { $0 <= 0x20 || $0 == 0x2A || $0 == 0x25 })
        else {
            throw invalid(
                "A pinned host must be a name such as api.example.com, without port and without a star; "
                    + "includesSubdomains stands for one.")
        }
        if pin.includesSubdomains, PublicSuffixRules.builtIn.isPublicSuffix(name) {
            throw invalid("Anybody may register names below \(name): it cannot be pinned as one.")
        }
        guard !pin.publicKeys.isEmpty || !pin.certificates.isEmpty else {
            throw invalid("Nothing is pinned for \(name). Give it keys or certificates.")
        }
        for key in pin.publicKeys { try checkKey(key) }
        for text in pin.certificates where PEMText.certificates(in: text).isEmpty {
            throw invalid("A pinned certificate of \(name) is not in PEM form.")
        }
    }

    private static func checkKey(_ pin: String) throws(RequestError) {
        guard Data(base64Encoded: pin)?.count == 32 else {
            throw invalid(
                "A pin is not the base64 form of a SHA-256 digest, 44 characters.")
        }
    }

    private static func invalid(_ message: String) -> RequestError {
        RequestError(.invalidConfiguration, stage: .transport, message)
    }
}
