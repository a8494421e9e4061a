#if canImport(Security)
    import ErrandTransport
    import Foundation
    import Security

    /// What the connections of one session trust, and the client certificate that they present.
    // @unchecked: all members are constants; certificates and identities of Security do not change.
    final class SessionTrust: @unchecked Sendable {
        private let security: SharedSecurity?
        /// The authorities in place of the system's; `nil` for those of the system.
        private let authorities: [SecCertificate]?
        private let client: URLCredential?

        /// Reads the files of a policy.
        ///
        /// - Throws: ``RequestError/Code/invalidConfiguration`` for a file or text without certificates;
        ///   ``RequestError/Code/clientCertificateRejected`` for an identity that cannot be used.
        init(_ security: SharedSecurity?) throws(RequestError) {
            self.security = security
            authorities = try Self.authorities(of: security?.policy)
            client = try security?.policy.clientIdentity.map(ClientCredential.make)
        }

        /// A configuration with the minimum TLS version of the policy, or its own if that is higher.
        func applied(to configuration: URLSessionConfiguration) -> URLSessionConfiguration {
            let minimum: tls_protocol_version_t =
                security?.policy.minimumVersion == .tls13 ? .TLSv13 : .TLSv12
            guard configuration.tlsMinimumSupportedProtocolVersion.rawValue < minimum.rawValue,
                let changed = configuration.copy() as? URLSessionConfiguration
            else { return configuration }
            changed.tlsMinimumSupportedProtocolVersion = minimum
            return changed
        }

        /// Decides about a challenge for a request to a host.
        ///
        /// Runs on the session's queue. The system may load intermediate certificates during the call.
        ///
        /// - Parameter notice: Called for each mismatch that a pin only reports.
        func response(
            to challenge: URLAuthenticationChallenge, host: String,
            notice: (PinMismatch) -> Void
        ) -> ChallengeResponse {
            let space = challenge.protectionSpace
            // The policy is for the server; a proxy is trusted by the system's rules.
            let isProxy = space.proxyType != nil
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust:
                guard let security, let trust = space.serverTrust, !isProxy else {
                    return .system
                }
                let rules = security.rules(for: host, now: Date())
                return response(to: trust, rules, host: host, notice: notice)
            case NSURLAuthenticationMethodClientCertificate:
                guard let client, !isProxy else { return .system }
                return .credential(client)
            default: return .refusal
            }
        }

        private func response(
            to trust: SecTrust, _ rules: TrustRules, host: String, notice: (PinMismatch) -> Void
        ) -> ChallengeResponse {
            let server = ServerTrust(trust, rules, host: host, authorities: authorities)
            if server.isStrict, !rules.hasPins { return .system }
            switch TrustDecision.decide(rules, server.evidence()) {
            case .accept(let mismatches):
                mismatches.forEach(notice)
                return server.isStrict ? .system : .credential(URLCredential(trust: trust))
            case .reject(let reason): return .failure(reason.error(host: host))
            }
        }

        private static func authorities(
            of policy: SecurityPolicy?
        ) throws(RequestError) -> [SecCertificate]? {
            let found: [Data]
            if let text = policy?.authorities {
                found = PEMText.certificates(in: text)
            } else if let path = policy?.authorityFile {
                guard let contents = try? FileAccess.contents(of: URL(fileURLWithPath: path)) else {
                    throw SecurityPolicy.unreadableFile(path)
                }
                found = PEMText.certificates(ofFile: contents)
            } else {
                return nil
            }
            let certificates = found.compactMap { SecCertificateCreateWithData(nil, $0 as CFData) }
            guard !certificates.isEmpty, certificates.count == found.count else {
                throw RequestError(
                    .invalidConfiguration, stage: .build,
                    "Could not read the trusted certificates. Check the SecurityPolicy's authorities."
                )
            }
            return certificates
        }
    }
#endif
