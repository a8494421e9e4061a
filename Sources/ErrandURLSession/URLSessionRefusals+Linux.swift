#if canImport(FoundationNetworking)
    import ErrandTransport

    extension URLSessionRefusals {
        static let advice = "Use CurlTransport, or remove that setting."

        /// The reason why FoundationNetworking alone cannot send the request; `nil` if there is none.
        static func platformRefusal(of request: TransportRequest) -> String? {
            // In Swift 6.3.1, requests to IPv6 literals fail with -1000 (bad URL).
            request.url.host?.starts(withBytes: "[") == true
                ? "cannot connect to IPv6 literals on Linux" : nil
        }

        /// The reason why FoundationNetworking cannot apply a policy; `nil` if the policy has its defaults.
        static func policyRefusal(of policy: SecurityPolicy) -> String? {
            if policy.authorities != nil || policy.authorityFile != nil {
                return "supports only the system's certificate authorities on Linux"
            }
            if !policy.publicKeyPins.isEmpty || !policy.pins.isEmpty {
                return "does not support public key pins on Linux"
            }
            if policy.clientCertificateFile != nil || policy.clientKeyFile != nil
                || policy.clientIdentity != nil
            {
                return "does not support client certificates on Linux"
            }
            if policy.allowInvalidCertificates || !policy.validatesDomainName {
                return "always validates the certificate and the host name on Linux"
            }
            return policy.minimumVersion == .tls12
                ? nil : "does not support a minimum TLS version on Linux"
        }
    }
#endif
