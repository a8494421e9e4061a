package import ErrandSystem

extension SecurityPolicy {
    /// Throws ``RequestError/Code/invalidConfiguration`` if the policy is invalid or cannot apply to this host.
    ///
    /// The stage is ``RequestError/Stage/build``. Files are not opened.
    package func check(host: String, isSecure: Bool, now: Date) throws(RequestError) {
        for pin in publicKeyPins { try Self.checkKey(pin) }
        for pin in pins { try Self.check(pin) }
        if authorities != nil, authorityFile != nil {
            throw Self.invalid(
                "The trusted authorities are set twice: as text and as a file. Set only one.")
        }
        try checkNames()
        try checkTexts()
        if clientIdentity != nil, clientCertificateFile != nil || clientKeyFile != nil {
            throw Self.invalid(
                "The client certificate is set twice: as clientIdentity and as files. Set only one."
            )
        }
        if clientKeyFile != nil, clientCertificateFile == nil {
            throw Self.invalid(
                "clientKeyFile is set without clientCertificateFile. Set both, or use clientIdentity."
            )
        }
        let rules = TrustRules(self, host: host, now: now)
        switch TrustDecision.precheck(rules, isSecure: isSecure) {
        case .notSecure:
            throw Self.invalid(
                "\(rules.host) is pinned, but the URL is not https, so the pins cannot be checked. "
                    + "Use https, or remove the pins.")
        case .contradictory:
            throw Self.invalid(
                "allowInvalidCertificates requires pins for \(rules.host) while validatesDomainName is true: "
                    + "a host name in an unverified certificate proves nothing. "
                    + "Pin the host, or, in tests, use SecurityPolicy.insecureForTests.")
        case .untrusted, .wrongHost, .pinMismatch, nil: break
        }
    }

    /// Libraries in C would read such text up to the NUL only, and use another file or password.
    private func checkNames() throws(RequestError) {
        let files = [authorityFile, clientCertificateFile, clientKeyFile].compactMap { $0 }
        for path in files + (clientIdentity?.files ?? [])
        where path.isEmpty || path.utf8.contains(0) {
            throw Self.invalid(
                "The path of a certificate or key file is empty or contains NUL. Correct the path.")
        }
        if clientIdentity?.password?.utf8.contains(0) == true {
            throw Self.invalid(
                "The password of the clientIdentity contains NUL. Correct the password.")
        }
    }

    /// A path in place of PEM text, and an encrypted key without its password, have no useful message later.
    private func checkTexts() throws(RequestError) {
        if let authorities, !PEMText.isPossible(authorities), authorities.contains(byte: "/") {
            throw Self.invalid(
                "The authorities are the path of a file, not PEM text. Set authorityFile to the path."
            )
        }
        guard let identity = clientIdentity, identity.form == .pem else { return }
        for (name, source) in [("certificate", identity.certificate), ("key", identity.key)] {
            guard case .bytes(let data) = source else { continue }
            let text = String(decoding: data, as: UTF8.self)
            guard PEMText.isPossible(text) else {
                throw Self.invalid(
                    "The \(name) of the clientIdentity is neither PEM text, with a line -----BEGIN …-----, nor DER in "
                        + ".der(certificate:key:). For files in PEM, use .pem(certificateFile:keyFile:password:)."
                )
            }
            if name == "key", identity.password == nil, PEMText.isEncrypted(text) {
                throw Self.invalid(
                    "The private key of the clientIdentity is encrypted. Pass its password.")
            }
        }
    }

    private static func check(_ pin: SecurityPolicy.Pins) throws(RequestError) {
        guard let name = TrustRules.name(pin), !name.utf8.contains(UInt8(ascii: "*")) else {
            throw invalid(
                "A pinned host must be a host name such as api.example.com, without a port and without a wildcard. "
                    + "Set includesSubdomains to pin subdomains.")
        }
        if pin.includesSubdomains, PublicSuffixRules.system.isPublicSuffix(name) {
            throw invalid(
                "\(name) is a public suffix and cannot be pinned with its subdomains. "
                    + "Pin a registered domain, or set includesSubdomains to false.")
        }
        guard !pin.publicKeys.isEmpty || !pin.certificates.isEmpty else {
            throw invalid(
                "The pin of \(name) has no keys and no certificates. Set publicKeys or certificates."
            )
        }
        for key in pin.publicKeys { try checkKey(key) }
        for text in pin.certificates where PEMText.certificates(in: text).isEmpty {
            throw invalid("A pinned certificate of \(name) is not valid PEM text.")
        }
    }

    private static func checkKey(_ pin: String) throws(RequestError) {
        guard Data(base64Encoded: pin)?.count == 32 else {
            throw invalid(
                "A pinned key is not a SHA-256 digest in base64 (44 characters).")
        }
    }

    /// The error for a certificate or key file that cannot be read; nothing was sent.
    package static func unreadableFile(_ path: String) -> RequestError {
        let name = path.pieces(at: "/").last ?? ""
        return invalid(
            "Could not read \(name), a certificate or key file of the SecurityPolicy. "
                + "Check that it exists and that this process may read it.")
    }

    private static func invalid(_ message: String) -> RequestError {
        RequestError(.invalidConfiguration, stage: .build, message)
    }
}
