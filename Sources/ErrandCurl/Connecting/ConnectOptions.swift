import ErrandSystem
package import ErrandTransport

/// Translates address overrides into the text of libcurl's options, without using libcurl.
package enum AddressOverride {
    package struct Route: Equatable {
        /// For `CURLOPT_CONNECT_TO`.
        package var connectTo: String
        /// For `CURLOPT_RESOLVE`, if the host has several addresses.
        package var resolve: String?
    }

    /// Returns the route that the options set for a URL; `nil` for DNS.
    package static func route(to url: HTTPURL, _ options: TransportOptions) -> Route? {
        let host = (url.host ?? "").lowercasedASCII()
        let port = url.effectivePort
        guard let addresses = addresses(of: host, port, options.addressOverrides),
            let first = addresses.first
        else { return nil }
        let from = "\(host):\(port):"
        if addresses.count == 1 || isProxied(options) {
            return Route(connectTo: from + "\(bracketed(first)):\(port)")
        }
        // The joined addresses may exceed the length of a host name, so the alias is a digest of
        // them.
        let digest = SHA256.hex(Data(addresses.joined(separator: ",").utf8))
        let alias = "a" + digest.prefix(40) + ".override.invalid"
        let list = addresses.map(bracketed).joined(separator: ",")
        return Route(
            connectTo: from + "\(alias):\(port)", resolve: "\(alias):\(port):\(list)")
    }

    /// Overrides for host and port take precedence over those for the host.
    private static func addresses(
        of host: String, _ port: Int, _ overrides: [String: [String]]
    ) -> [String]? {
        if let exact = overrides["\(host):\(port)"] ?? overrides[host] { return exact }
        let canonical = Dictionary(
            overrides.compactMap { key, value in RouteName.origin(key).map { ($0, value) } },
            uniquingKeysWith: { one, _ in one })
        return canonical["\(host):\(port)"] ?? canonical[host]
    }

    /// Whether a proxy connects to the address.
    private static func isProxied(_ options: TransportOptions) -> Bool {
        if case .url = options.proxy { true } else { false }
    }

    private static func bracketed(_ address: String) -> String {
        address.contains(byte: ":") && !address.starts(withBytes: "[") ? "[\(address)]" : address
    }

    /// The bypass list for a port in libcurl's form: hosts in canonical form, no ports, no asterisk
    /// before a domain, and no brackets around IPv6 addresses.
    package static func bypass(_ entries: [String], port: Int) -> String {
        let names: [String] = entries.compactMap { written in
            guard let (entry, ownPort) = RouteName.bypassParts(written),
                ownPort == nil || ownPort == port
            else { return nil }
            if entry == "*" { return entry }
            if entry.contains(byte: "/") {
                return entry.replacing(bytes: "[", with: "").replacing(bytes: "]", with: "")
            }
            let name = entry.dropping(prefix: "*.").map { "." + $0 } ?? entry
            let bare = name.dropping(prefix: ".")
            let host = HostName.named(bare.map { String($0) } ?? name) ?? name
            let address = host.dropping(prefix: "[")?.dropping(suffix: "]")
            return address.map { String($0) } ?? (bare == nil ? host : "." + host)
        }
        // text of the application: entries; libcurl knows the asterisk only as the whole list.
        return names.contains("*") ? "*" : names.joined(separator: ",")
    }
}

#if os(Linux)
    import CLibcurl

    /// Sets the options of a libcurl handle that shape its connection: address, proxy and trust.
    struct ConnectOptions {
        /// Lists that libcurl reads while it connects.
        final class Lists {
            lazy var connectTo = CurlList()
            lazy var resolve = CurlList()
        }

        private let handle: UnsafeMutableRawPointer
        private let curl: Curl

        init(_ handle: UnsafeMutableRawPointer, _ curl: Curl) {
            self.handle = handle
            self.curl = curl
        }

        // MARK: - Options of all connections

        /// Sets the options that do not depend on the request.
        func setDefaults() throws(RequestError) {
            if CurlLibrary.linked.namesProtocols {
                try set(errand_option_protocol_names, "http,https")
            } else {
                try set(errand_option_protocols, Int(CURLPROTO_HTTP | CURLPROTO_HTTPS))
            }
            try set(CURLOPT_NOSIGNAL, 1)
            try set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
            try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            // Without this option, before libcurl 7.87, abandoning a name lookup blocks the loop until
            // the resolver has finished.
            if CurlLibrary.linked.hasQuickExit { try set(errand_option_quick_exit, 1) }
            if CurlLibrary.linked.hasBundle {
                // libcurl caches the parsed bundle for all connections, unless a directory is set.
                try set(CURLOPT_CAPATH, nil)
            }
            if CurlLibrary.linked.hasSecureProxies {
                try set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
                if CurlLibrary.linked.hasBundle {
                    try set(CURLOPT_PROXY_CAPATH, nil)
                }
            }
            try setSharedAuthorities()
            // The options name the proxy; libcurl must not read the environment.
            try set(CURLOPT_PROXY, "")
            try set(CURLOPT_NOPROXY, "")
        }

        /// Lets libcurl load only the placeholder of ``SystemAuthorities``, where they are used.
        private func setSharedAuthorities() throws(RequestError) {
            guard let authorities = SystemAuthorities.shared, authorities.isReadable else { return }
            try set(CURLOPT_CAINFO_BLOB, SystemAuthorities.placeholderText)
            if CurlLibrary.linked.hasSecureProxies {
                try set(CURLOPT_PROXY_CAINFO_BLOB, SystemAuthorities.placeholderText)
            }
        }

        // MARK: - Route

        /// Sets the address, the proxy and the trust that differ from the defaults.
        func set(
            _ options: TransportOptions, url: HTTPURL, trust: PeerTrust, lists: Lists
        ) throws(RequestError) {
            switch options.addressFamily {
            case .any: break
            case .ipv4: try set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
            case .ipv6: try set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
            }
            if let path = options.unixSocketPath { try set(CURLOPT_UNIX_SOCKET_PATH, path) }
            if !options.addressOverrides.isEmpty {
                try setOverride(options, url: url, lists: lists)
            }
            switch options.proxy {
            // See `TransportOptions.resolvingProxy(for:_:)`.
            case .environment, .none: break
            case .url(let proxy, _): try set(CURLOPT_PROXY, proxy)
            }
            let isTunnelled = url.isHTTPS
            if let security = options.security, isTunnelled || options.proxySecurity == nil {
                try set(security, rules: trust.rules, names: .server)
                if trust.hasPins, !CurlLibrary.linked.sessionsKeepChains {
                    try set(CURLOPT_SSL_SESSIONID_CACHE, 0)
                }
            }
            if let security = options.proxySecurity {
                try setProxySecurity(security)
            }
        }

        /// Connects to addresses that override DNS.
        ///
        /// Several addresses get an alias, which separates their connections and their entry in
        /// libcurl's DNS cache from those of requests without the override. A proxy does not know
        /// the alias and gets the first address. The Host header and the certificate check use the
        /// URL's host.
        private func setOverride(
            _ options: TransportOptions, url: HTTPURL, lists: Lists
        ) throws(RequestError) {
            guard
                let route = AddressOverride.route(to: url, options)
            else { return }
            lists.connectTo.append(route.connectTo)
            try set(CURLOPT_CONNECT_TO, lists.connectTo.chain())
            if let line = route.resolve {
                lists.resolve.append(line)
                try set(CURLOPT_RESOLVE, lists.resolve.chain())
            }
        }

        // MARK: - Trust

        /// Sets the trust and the client certificate for an `https://` proxy.
        private func setProxySecurity(
            _ security: SecurityPolicy
        ) throws(RequestError) {
            // The host is empty: only pins depend on it, and pins are not supported for proxies.
            let rules = TrustRules(security, host: "", now: Date())
            try set(security, rules: rules, names: .proxy)
        }

        private func set(
            _ security: SecurityPolicy, rules: TrustRules?, names: TLSOptionNames
        ) throws(RequestError) {
            try setAuthorities(security, names: names)
            if let file = security.clientCertificateFile { try set(names.certificate, file) }
            if let file = security.clientKeyFile { try set(names.key, file) }
            // Without a password OpenSSL would prompt on the terminal and block the loop.
            if security.clientCertificateFile != nil { try set(names.password, "") }
            if let identity = security.clientIdentity { try set(identity, names: names) }
            if let rules {
                if !rules.requiresValidChain { try set(names.checksChain, 0) }
                if !rules.requiresName { try set(names.checksName, 0) }
            }
            if security.minimumVersion == .tls13 {
                try set(names.version, CURL_SSLVERSION_TLSv1_3)
            }
        }

        /// Replaces the authorities of the system by those of the policy.
        private func setAuthorities(
            _ security: SecurityPolicy, names: TLSOptionNames
        ) throws(RequestError) {
            guard security.authorities != nil || security.authorityFile != nil else { return }
            let text = security.authorities ?? security.authorityFile.flatMap(Self.textOfDER)
            if let file = security.authorityFile, text == nil {
                try set(names.authorityFile, file)
                // The placeholder's bytes take precedence over the file.
                if SystemAuthorities.shared != nil {
                    try set(names.authorities, nil)
                }
            }
            if let text {
                // libcurl 8.22 does not accept an empty text as an option. With a line end, which contains
                // no certificate either, the handshake fails with the right error.
                try set(names.authorities, Data((text.isEmpty ? "\n" : text).utf8))
            }
            // Otherwise libcurl would trust the authorities in its own directory, too. No
            // certificate can exist below a file that is not a directory.
            if CurlLibrary.linked.keepsDirectory, CurlLibrary.linked.hasOpenSSL {
                try set(names.authorityDirectory, "/dev/null")
            }
        }

        /// The PEM text of a file that contains a certificate in DER, which libcurl does not read; `nil` for other files.
        ///
        /// One byte decides, so that a bundle is read once only, by libcurl.
        private static func textOfDER(_ path: String) -> String? {
            guard let descriptor = try? FileAccess.reading(path) else { return nil }
            defer { close(descriptor) }
            var first: UInt8 = 0
            guard pread(descriptor, &first, 1, 0) == 1, first == DERReader.Tag.sequence,
                let contents = try? FileAccess.contents(of: URL(fileURLWithPath: path)),
                PEMText.isCertificate(contents)
            else { return nil }
            return SecurityPolicy.pem(certificates: [contents])
        }

        private func set(
            _ identity: ClientIdentity, names: TLSOptionNames
        ) throws(RequestError) {
            try set(names.certificateForm, identity.form == .pkcs12 ? "P12" : "PEM")
            switch identity.certificate {
            case .file(let path): try set(names.certificate, path)
            case .bytes(let data): try set(names.certificateBytes, data)
            }
            switch identity.key {
            case .file(let path): try set(names.key, path)
            case .bytes(let data): try set(names.keyBytes, data)
            case nil: break
            }
            // Without a password OpenSSL would prompt on the terminal and block the loop.
            try set(names.password, identity.password ?? "")
        }

        // MARK: - Setting options

        func set(_ option: CURLoption, _ value: Int) throws(RequestError) {
            try expect(curl.set(handle, option, value))
        }

        func set(_ option: CURLoption, _ value: String) throws(RequestError) {
            try expect(curl.set(handle, option, value))
        }

        func set(_ option: CURLoption, _ value: UnsafeRawPointer?) throws(RequestError) {
            try expect(curl.set(handle, option, value))
        }

        private func set(_ option: CURLoption, _ value: Data) throws(RequestError) {
            try expect(curl.set(handle, option, value))
        }

        /// Throws if libcurl does not accept an option.
        func expect(_ code: CURLcode) throws(RequestError) {
            if code != CURLE_OK { throw CurlFailure.optionRejected(code) }
        }
    }

    /// libcurl's options for a TLS connection, which exist once for the server and once for a
    /// proxy.
    struct TLSOptionNames {
        let authorities: CURLoption
        let authorityFile: CURLoption
        let authorityDirectory: CURLoption
        let certificate: CURLoption
        let certificateBytes: CURLoption
        let certificateForm: CURLoption
        let key: CURLoption
        let keyBytes: CURLoption
        let password: CURLoption
        let checksChain: CURLoption
        let checksName: CURLoption
        let version: CURLoption

        static let server = TLSOptionNames(
            authorities: CURLOPT_CAINFO_BLOB, authorityFile: CURLOPT_CAINFO,
            authorityDirectory: CURLOPT_CAPATH,
            certificate: CURLOPT_SSLCERT, certificateBytes: CURLOPT_SSLCERT_BLOB,
            certificateForm: CURLOPT_SSLCERTTYPE, key: CURLOPT_SSLKEY,
            keyBytes: CURLOPT_SSLKEY_BLOB, password: CURLOPT_KEYPASSWD,
            checksChain: CURLOPT_SSL_VERIFYPEER, checksName: CURLOPT_SSL_VERIFYHOST,
            version: CURLOPT_SSLVERSION)

        static let proxy = TLSOptionNames(
            authorities: CURLOPT_PROXY_CAINFO_BLOB, authorityFile: CURLOPT_PROXY_CAINFO,
            authorityDirectory: CURLOPT_PROXY_CAPATH,
            certificate: CURLOPT_PROXY_SSLCERT, certificateBytes: CURLOPT_PROXY_SSLCERT_BLOB,
            certificateForm: CURLOPT_PROXY_SSLCERTTYPE, key: CURLOPT_PROXY_SSLKEY,
            keyBytes: CURLOPT_PROXY_SSLKEY_BLOB, password: CURLOPT_PROXY_KEYPASSWD,
            checksChain: CURLOPT_PROXY_SSL_VERIFYPEER, checksName: CURLOPT_PROXY_SSL_VERIFYHOST,
            version: CURLOPT_PROXY_SSLVERSION)
    }
#endif
