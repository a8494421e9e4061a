package import ErrandSystem

extension TransportOptions {
    /// Throws if the options contain a mistake, or exclude each other, for requests to a host.
    ///
    /// Files are not opened.
    ///
    /// - Throws: ``RequestError/Code/invalidConfiguration`` or ``RequestError/Code/invalidCombination``, with the
    ///   stage ``RequestError/Stage/build``.
    package func checkForMistakes(
        host: String, isSecure: Bool, now: Date
    ) throws(RequestError) {
        try checkLimits()
        if httpVersion == .http2, !isSecure {
            throw Self.contradiction(
                "HTTP/2 is negotiated only over TLS. Use https, or http2PriorKnowledge.")
        }
        try proxy.check()
        if let unixSocketPath { try checkUnixSocket(unixSocketPath) }
        for (name, addresses) in addressOverrides { try Self.check(addresses, for: name) }
        try sharedSecurity?.check(host: host, isSecure: isSecure, now: now)
        // Certificates of a proxy are checked for the name in its own URL.
        try sharedProxySecurity?.check(host: "", isSecure: true, now: now)
    }

    private func checkLimits() throws(RequestError) {
        try Self.check(maximumBodyBytes, "maximumBodyBytes", atLeast: 0)
        try Self.check(maximumBytesInMemory, "maximumBytesInMemory", atLeast: 0)
        try Self.check(maximumDecodingRatio, "maximumDecodingRatio", atLeast: 1)
        try Self.check(maximumHeadBytes, "maximumHeadBytes", atLeast: 1)
        try Self.check(receiveBufferBytes, "receiveBufferBytes", atLeast: 1)
    }

    private static func check(
        _ value: (some BinaryInteger)?, _ name: String, atLeast minimum: Int
    ) throws(RequestError) {
        guard let value, value < minimum else { return }
        throw invalid("\(name) is \(value); it must be at least \(minimum).")
    }

    private func checkUnixSocket(_ path: String) throws(RequestError) {
        // The size of sun_path on Linux, with its final NUL.
        guard (1..<108).contains(path.utf8.count), !path.utf8.contains(0) else {
            throw Self.invalid("The Unix socket's path must have 1 to 107 bytes and no NUL.")
        }
        guard addressOverrides.isEmpty else {
            throw Self.contradiction(
                "unixSocketPath replaces every host, so addressOverrides has no effect. Set only one."
            )
        }
        if case .url = proxy {
            throw Self.contradiction(
                "unixSocketPath replaces every host, so the proxy has no effect. Set only one, or the proxy to .none."
            )
        }
    }

    private static func check(_ addresses: [String], for name: String) throws(RequestError) {
        // An override that matches no host would silently send requests to the address from DNS.
        guard RouteName.origin(name) != nil else {
            throw invalid("The address override \(name) is neither a host nor host:port.")
        }
        guard !addresses.isEmpty else {
            throw invalid("The address override of \(name) has no address.")
        }
        for address in addresses where RouteName.addressBits(address) == nil {
            throw invalid(
                "The address override of \(name) contains a value that is not an IP address.")
        }
    }

    fileprivate static func invalid(_ message: String) -> RequestError {
        RequestError(.invalidConfiguration, stage: .build, message)
    }

    private static func contradiction(_ message: String) -> RequestError {
        RequestError(.invalidCombination, stage: .build, message)
    }
}

extension TransportOptions.ProxyPolicy {
    private static let schemes: Set = ["http", "https", "socks5", "socks5h"]

    /// Throws ``RequestError/Code/invalidConfiguration`` if the proxy is not a URL with a scheme of a proxy, or if
    /// its bypass list contains text that is not a host.
    package func check() throws(RequestError) {
        guard case .url(let text, let bypass) = self else { return }
        let url: HTTPURL
        do throws(RequestError) {
            url = try HTTPURL(parsing: text)
        } catch {
            // The reason, such as the zone of an IPv6 address, never contains the password.
            throw TransportOptions.invalid("The proxy cannot be used. \(error.message)")
        }
        guard let scheme = url.scheme, url.host?.isEmpty == false else {
            throw TransportOptions.invalid("The proxy is not a URL. Write it as http://host:port.")
        }
        guard Self.schemes.contains(scheme) else {
            throw TransportOptions.invalid(
                "The proxy's scheme \(scheme) is not supported. Use http, https, socks5 or socks5h."
            )
        }
        // An entry that matches no host would silently send requests to the proxy that should bypass it.
        for host in bypass where !RouteName.isBypass(host) {
            throw TransportOptions.invalid(
                "The proxy's bypass entry \(host) is not a host. Use names, IP addresses, networks such as "
                    + "10.0.0.0/8, or *, without a scheme; a port may follow a name or an address.")
        }
    }
}
