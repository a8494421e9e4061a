#if canImport(Darwin)
    import ErrandTransport

    extension URLSessionRefusals {
        static let advice = "Remove that setting."

        /// The reason why this platform's Foundation cannot send the request; `nil` on Apple platforms.
        static func platformRefusal(of request: TransportRequest) -> String? { nil }

        /// The reason why a session cannot apply a policy; see ``SessionTrust`` for what it applies.
        static func policyRefusal(of policy: SecurityPolicy) -> String? {
            // Security makes an identity of a PEM file only in a keychain, which would keep it.
            policy.clientCertificateFile != nil || policy.clientKeyFile != nil
                || policy.clientIdentity?.form == .pem
                ? "supports client certificates only in PKCS#12 (ClientIdentity.pkcs12)" : nil
        }
    }
#endif
