#if os(Linux)
    import CLibcurl
    import ErrandCore
    import Foundation

    // Whom to trust and what to show, as libcurl's options.
    extension Exchange {
        /// What the policy means for the request's host, where there is a policy.
        func readRules(of request: TransportRequest) {
            guard !request.options.areUsual else {
                rules = nil
                pins = nil
                return
            }
            rules = request.options.security.map {
                TrustRules($0, host: request.host ?? "", now: Date())
            }
            pins = rules.flatMap { rules in
                TLSLibrary.loaded.flatMap { PeerPins(rules, library: $0) }
            }
        }

        /// Holds the connection to its pins; false when they do not fit, and ``failure`` is set.
        func admitsPeer() -> Bool {
            guard let pins, let handle else { return true }
            switch pins.decision(for: handle) {
            case .accept(let mismatches):
                for mismatch in mismatches { receiver?.didNotice(mismatch) }
                return true
            case .reject(let reason):
                if failure == nil {
                    failure = CurlFailure.rejected(reason, host: rules?.host ?? "")
                }
                return false
            }
        }

        /// Whom to trust as the server, and what to show it.
        func applySecurity(_ security: SecurityPolicy) throws(RequestError) {
            try apply(security, rules: rules, to: .server)
            if pins != nil, !CurlLibrary.linked.keepsChainsOfSessions {
                try special(CURLOPT_SSL_SESSIONID_CACHE, 0)
            }
        }

        /// Whom to trust as an `https://` proxy, and what to show it.
        func applyProxySecurity(
            _ security: SecurityPolicy, isTunnelled: Bool
        ) throws(RequestError) {
            // Without pins, which are refused, the host does not matter.
            let rules = TrustRules(security, host: "", now: Date())
            try apply(security, rules: rules, to: .proxy)
            // NB: before it gives a plain request a kept connection to a proxy, libcurl 7.88 compares what is set for
            // servers, and not what is set for proxies. The pin is none, but tells these from the settings of a server.
            if !isTunnelled {
                try apply(security, rules: rules, to: .server)
                try special(CURLOPT_PINNEDPUBLICKEY, "sha256//proxy")
            }
        }

        private func apply(
            _ security: SecurityPolicy, rules: TrustRules?, to names: TLSOptionNames
        ) throws(RequestError) {
            if let text = security.authorities { try special(names.authorities, Data(text.utf8)) }
            if let file = security.authorityFile { try special(names.authorityFile, file) }
            if let file = security.clientCertificateFile { try special(names.certificate, file) }
            if let file = security.clientKeyFile { try special(names.key, file) }
            // Without one OpenSSL would ask the terminal, and the loop would wait for what is typed.
            if security.clientCertificateFile != nil { try special(names.password, "") }
            if let identity = security.clientIdentity { try apply(identity, to: names) }
            if let rules {
                if !rules.requiresValidChain { try special(names.checksChain, 0) }
                if !rules.requiresName { try special(names.checksName, 0) }
            }
            if security.minimumVersion == .tls13 {
                try special(names.version, CURL_SSLVERSION_TLSv1_3)
            }
        }

        private func apply(
            _ identity: ClientIdentity, to names: TLSOptionNames
        ) throws(RequestError) {
            try special(names.certificateForm, identity.form == .pkcs12 ? "P12" : "PEM")
            switch identity.certificate {
            case .file(let path): try special(names.certificate, path)
            case .bytes(let data): try special(names.certificateBytes, data)
            }
            switch identity.key {
            case .file(let path): try special(names.key, path)
            case .bytes(let data): try special(names.keyBytes, data)
            case nil: break
            }
            // Without one OpenSSL would ask the terminal.
            try special(names.password, identity.password ?? "")
        }

        private func special(_ option: CURLoption, _ value: Data) throws(RequestError) {
            needsReset = true
            let code = value.withUnsafeBytes { bytes in
                errand_set_blob(handle, option, bytes.baseAddress, bytes.count)
            }
            try expect(code)
        }
    }
#endif
