package import ErrandCore
import Foundation

/// Where to connect in place of where DNS points: the lines that libcurl takes, without it.
package enum AddressOverride {
    package struct Route: Equatable {
        /// For `CURLOPT_CONNECT_TO`.
        package var connectTo: String
        /// For `CURLOPT_RESOLVE`, where a name stands for several addresses.
        package var resolve: String?
    }

    /// The route that the options name for an address; `nil` for DNS.
    ///
    /// - Parameter environmentNamesProxy: Whether the environment's proxy may stand between. Hosts that it excepts are not
    ///   known here: theirs is the first address, too.
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
        // The addresses themselves may be longer, one behind the other, than a name; other ones are another name.
        let digest = SHA256.hex(Data(addresses.joined(separator: ",").utf8))
        let alias = "a" + digest.prefix(40) + ".override.invalid"
        let list = addresses.map(bracketed).joined(separator: ",")
        return Route(
            connectTo: from + "\(alias):\(port)", resolve: "\(alias):\(port):\(list)")
    }

    /// Those of host and port before those of the host.
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

    /// Whether a text is `host` or `host:port`.
    static func isName(_ text: String) -> Bool {
        guard let url = try? URI(parsing: "http://" + text), url.isAbsoluteHTTP else {
            return false
        }
        return url.userInfo == nil && url.path.isEmpty && url.query == nil && url.fragment == nil
            && (url.port.map { (1...65535).contains($0) } ?? true)
    }

    /// Whether this is a host, or several, that can go past a proxy.
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

    /// How many bits an IP address has; `nil` for what is none.
    private static func bits(of text: String) -> Int? {
        var address = in6_addr()
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]") && text.utf8.count > 2
        let bare = isBracketed ? String(text.dropFirst().dropLast()) : text
        if !isBracketed, inet_pton(AF_INET, bare, &address) == 1 { return 32 }
        return inet_pton(AF_INET6, bare, &address) == 1 ? 128 : nil
    }

    /// The hosts that go past a proxy, as libcurl reads them: it takes no star before a domain.
    static func bypass(_ hosts: [String]) -> String {
        hosts.map { $0.hasPrefix("*.") ? String($0.dropFirst()) : $0 }.joined(separator: ",")
    }
}
