/// Whether a request stays on this machine, so that no network can stand in its way: a pure function.
enum LocalPeer {
    static func isMeant(by request: TransportRequest) -> Bool {
        request.options.unixSocketPath != nil || request.host.map(isLoopback) == true
    }

    /// `localhost` and the names below it (RFC 6761 §6.3), 127/8 and `::1`, also as `::ffff:127.0.0.1`.
    static func isLoopback(_ host: String) -> Bool {
        var name = host.lowercased()[...]
        if name.hasSuffix(".") { name.removeLast() }
        if name == "localhost" || name.hasSuffix(".localhost") { return true }
        guard name.hasPrefix("["), name.hasSuffix("]") else { return isIPv4Loopback(name) }
        return isIPv6Loopback(name.dropFirst().dropLast().prefix { $0 != "%" })
    }

    private static func isIPv4Loopback(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return (2...4).contains(parts.count) && parts[0] == "127"
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
            }
    }

    private static func isIPv6Loopback(_ text: Substring) -> Bool {
        var parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = parts.popLast() else { return false }
        if last.contains(".") {
            guard isIPv4Loopback(last), parts.popLast() == "ffff" else { return false }
        } else if UInt16(last, radix: 16) != 1 {
            return false
        }
        return parts.allSatisfy { $0.isEmpty || UInt16($0, radix: 16) == 0 }
    }
}
