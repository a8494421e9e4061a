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
        let lowered = Dictionary(
            overrides.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { one, _ in one })
        return lowered["\(host):\(port)"] ?? lowered[host]
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

    /// Whether the text is `host` or `host:port`.
    static func isName(_ text: String) -> Bool {
        guard let url = try? URI(parsing: "http://" + text), url.isAbsoluteHTTP else {
            return false
        }
        return url.userInfo == nil && url.path.isEmpty && url.query == nil && url.fragment == nil
            && (url.port.map { (1...65535).contains($0) } ?? true)
    }

    /// Whether the text is a valid entry of a proxy's bypass list.
    static func isBypass(_ text: String) -> Bool {
        if text == "*" || bits(of: text) != nil { return true }
        if let slash = text.firstIndex(of: "/") {
            guard let bits = bits(of: String(text[..<slash])),
                let prefix = Int(text[text.index(after: slash)...])
            else { return false }
            return (0...bits).contains(prefix)
        }
        var name = text[...]
        if name.hasPrefix("*.") {
            name = name.dropFirst(2)
        } else if name.hasPrefix(".") {
            name = name.dropFirst()
        }
        if name.hasSuffix(".") { name = name.dropLast() }
        return !name.isEmpty
            && name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                !label.isEmpty
                    && label.utf8.allSatisfy { byte in
                        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte >= 0x80
                            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    }
            }
    }

    /// The number of bits of an IP address; `nil` if the text is not one.
    private static func bits(of text: String) -> Int? {
        var address = in6_addr()
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]") && text.utf8.count > 2
        let bare = isBracketed ? String(text.dropFirst().dropLast()) : text
        if !isBracketed, inet_pton(AF_INET, bare, &address) == 1 { return 32 }
        return inet_pton(AF_INET6, bare, &address) == 1 ? 128 : nil
    }

    /// The bypass list in libcurl's form, which has no asterisk before a domain.
    static func bypass(_ hosts: [String]) -> String {
        hosts.map { $0.hasPrefix("*.") ? String($0.dropFirst()) : $0 }.joined(separator: ",")
    }
}
