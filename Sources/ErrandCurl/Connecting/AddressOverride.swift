package import ErrandTransport
import Foundation

/// Translates address overrides into the text of libcurl's options, without using libcurl.
package enum AddressOverride {
    package struct Route: Equatable {
        /// For `CURLOPT_CONNECT_TO`.
        package var connectTo: String
        /// For `CURLOPT_RESOLVE`, if the host has several addresses.
        package var resolve: String?
    }

    /// Returns the route that the options set for a URL; `nil` for DNS.
    ///
    /// - Parameter environmentNamesProxy: Whether a proxy from the environment may be used. The
    ///   hosts that it excludes are not known here, so they also use the first address only.
    package static func route(
        to url: URI, _ options: TransportOptions, environmentNamesProxy: Bool
    ) -> Route? {
        let host = (url.host ?? "").lowercased()
        let port = url.effectivePort
        guard let addresses = addresses(of: host, port, options.addressOverrides),
            let first = addresses.first
        else { return nil }
        let from = "\(host):\(port):"
        if addresses.count == 1 || isProxied(options, environmentNamesProxy) {
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

    private static func isProxied(
        _ options: TransportOptions, _ environmentNamesProxy: Bool
    ) -> Bool {
        switch options.proxy {
        case .url: true
        case .environment: environmentNamesProxy
        case .none: false
        }
    }

    private static func bracketed(_ address: String) -> String {
        address.contains(":") && !address.hasPrefix("[") ? "[\(address)]" : address
    }

    /// The bypass list in libcurl's form: hosts in canonical form, no asterisk before a domain, and no
    /// brackets around IPv6 addresses.
    package static func bypass(_ hosts: [String]) -> String {
        hosts.map { entry in
            if entry == "*" { return entry }
            if entry.contains("/") { return entry.filter { $0 != "[" && $0 != "]" } }
            let name = entry.hasPrefix("*.") ? entry.dropFirst() : entry[...]
            let dot = name.hasPrefix(".") ? "." : ""
            let host = HostName.named(String(name.dropFirst(dot.count))) ?? String(name)
            return host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : dot + host
        }.joined(separator: ",")
    }
}
