import ErrandTransport

#if os(Linux)
    import ErrandSystem
#endif

/// The proxy variables of the environment.
///
/// The names and their order are those of libcurl. `HTTP_PROXY` is not among them, because CGI servers
/// set it from a request header.
struct ProxyEnvironment: Sendable, Hashable {
    private let http: String?
    private let https: String?
    /// The entries of `no_proxy` or `NO_PROXY`, which commas, spaces or both separate.
    let bypass: [String]

    /// Reads the variables; empty ones count as missing.
    init(_ value: (String) -> String?) {
        func first(_ names: [String]) -> String? {
            for name in names { if let text = value(name), !text.isEmpty { return text } }
            return nil
        }
        http = first(["http_proxy", "all_proxy", "ALL_PROXY"])
        https = first(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        bypass = Self.entries(first(["no_proxy", "NO_PROXY"]) ?? "")
    }

    /// Whether any proxy is set.
    var namesProxy: Bool { http != nil || https != nil }

    /// The proxy for a scheme.
    func proxy(isSecure: Bool) -> String? { isSecure ? https : http }

    static func entries(_ text: String) -> [String] {
        text.utf8.split { $0 == UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x09 }
            .map { String(Substring($0)) }
    }

    #if os(Linux)
        /// The variables of this process, read once: reading the environment while another thread
        /// changes it is not safe.
        static let process = ProxyEnvironment { name in getenv(name).map { String(cString: $0) } }
    #endif
}

extension TransportOptions {
    /// The options with the proxy that a URL uses: none, or one without a list of hosts that bypass it.
    ///
    /// ``ProxyPolicy/environment`` remains if the environment sets no proxy; it then means none.
    func resolvingProxy(for url: HTTPURL, _ environment: ProxyEnvironment) -> TransportOptions {
        guard !hasDefaults || environment.namesProxy else { return self }
        let (text, entries): (String?, [String])
        switch proxy {
        case .none: return self
        case .environment:
            guard environment.namesProxy else { return self }
            (text, entries) = (environment.proxy(isSecure: url.isHTTPS), environment.bypass)
        case .url(_, let bypass) where bypass.isEmpty: return self
        case .url(let named, let bypass): (text, entries) = (named, bypass)
        }
        var options = self
        options.proxy = .none
        guard let text, unixSocketPath == nil, !ProxyBypass.matches(url, entries) else {
            return options
        }
        options.proxy = .url(text)
        return options
    }
}

/// Decides which hosts are reached without their proxy.
///
/// Both lists have the forms of ``TransportOptions/ProxyPolicy/url(_:bypass:)``: those of libcurl, and of
/// Go an asterisk before a domain or inside a list, ports, and networks of 0 bits.
enum ProxyBypass {
    /// Whether an entry of a list matches the host of a URL.
    static func matches(_ url: HTTPURL, _ entries: [String]) -> Bool {
        guard !entries.isEmpty, let host = url.host else { return false }
        let list = AddressOverride.bypass(entries, port: url.effectivePort)
        if list == "*" { return true }
        let names = list.utf8.split(separator: UInt8(ascii: ",")).map { String(Substring($0)) }
        if let address = IPAddress(host) {
            return names.contains { address.isIn($0) }
        }
        let name = host.dropping(suffix: ".").map { String($0) } ?? host
        return names.contains { isDomain($0, of: name.lowercasedASCII()) }
    }

    /// Whether a host is a domain, or one of its subdomains.
    private static func isDomain(_ entry: String, of host: String) -> Bool {
        let bare = (entry.dropping(prefix: ".") ?? entry[...]).lowercasedASCII()
        guard !bare.isEmpty else { return false }
        return host == bare || host.ends(withBytes: "." + bare)
    }

    /// The bytes of an IPv4 or IPv6 address.
    private struct IPAddress {
        let bytes: [UInt8]

        init?(_ text: String) {
            let bare = text.dropping(prefix: "[")?.dropping(suffix: "]") ?? text[...]
            guard let bytes = Self.bytes(of: String(bare)) else { return nil }
            self.bytes = bytes
        }

        /// Whether an entry is the address, or a network that contains it.
        func isIn(_ entry: String) -> Bool {
            guard let slash = entry.firstIndex(ofByte: "/") else {
                return Self.bytes(of: entry) == bytes
            }
            guard let network = Self.bytes(of: String(entry[..<slash])),
                network.count == bytes.count,
                let bits = Int(entry[entry.utf8.index(after: slash)...]),
                (0...bytes.count * 8).contains(bits)
            else { return false }
            return (0..<bits).allSatisfy { bit in
                (network[bit / 8] ^ bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
            }
        }

        private static func bytes(of text: String) -> [UInt8]? {
            #if os(Linux)
                for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
                    var bytes = [UInt8](repeating: 0, count: count)
                    if inet_pton(family, text, &bytes) == 1 { return bytes }
                }
            #endif
            return nil
        }
    }
}
