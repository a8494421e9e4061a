#if os(Linux)
    import CLibcurl
    import ErrandCore
    import Foundation

    // Whom to trust and what to show, as libcurl's options.
    extension Exchange {
        /// What the policy means for the request's host, where there is a policy.
        func readRules(of request: TransportRequest) {
            rules = request.options.security.map {
                TrustRules($0, host: request.url.host ?? "", now: Date())
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

        func applySecurity(_ security: SecurityPolicy) throws(RequestError) {
            if let text = security.authorities {
                try special(CURLOPT_CAINFO_BLOB, Data(text.utf8))
            }
            if let file = security.authorityFile { try special(CURLOPT_CAINFO, file) }
            if let file = security.clientCertificateFile { try special(CURLOPT_SSLCERT, file) }
            if let file = security.clientKeyFile { try special(CURLOPT_SSLKEY, file) }
            if let identity = security.clientIdentity { try applyIdentity(identity) }
            if pins != nil, !CurlLibrary.linked.keepsChainsOfSessions {
                try special(CURLOPT_SSL_SESSIONID_CACHE, 0)
            }
            if let rules {
                if !rules.requiresValidChain { try special(CURLOPT_SSL_VERIFYPEER, 0) }
                if !rules.requiresName { try special(CURLOPT_SSL_VERIFYHOST, 0) }
            }
            if security.minimumVersion == .tls13 {
                try special(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_3)
            }
        }

        private func applyIdentity(_ identity: ClientIdentity) throws(RequestError) {
            try special(CURLOPT_SSLCERTTYPE, identity.form == .pkcs12 ? "P12" : "PEM")
            switch identity.certificate {
            case .file(let path): try special(CURLOPT_SSLCERT, path)
            case .bytes(let data): try special(CURLOPT_SSLCERT_BLOB, data)
            }
            switch identity.key {
            case .file(let path): try special(CURLOPT_SSLKEY, path)
            case .bytes(let data): try special(CURLOPT_SSLKEY_BLOB, data)
            case nil: break
            }
            // Without one OpenSSL would ask the terminal.
            try special(CURLOPT_KEYPASSWD, identity.password ?? "")
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
