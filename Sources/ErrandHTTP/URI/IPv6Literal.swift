/// Validates IPv6 addresses in the host of a URI (RFC 3986 §3.2.2).
package enum IPv6Literal {
    /// Whether the bytes are an IPv6 address.
    ///
    /// Eight groups, or fewer with one `::`; an IPv4 address can replace the last two groups.
    package static func isAddress(_ bytes: some Collection<UInt8>) -> Bool {
        let groups = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard groups.count >= 3 else { return false }
        var gaps = 0
        var count = 0
        for (index, group) in groups.enumerated() {
            let isEdge = index == 0 || index == groups.count - 1
            if group.isEmpty {
                // `::` at the start or the end produces two empty groups there.
                let isGap =
                    !isEdge || (index == 0 ? groups[1].isEmpty : groups[index - 1].isEmpty)
                guard isGap else { return false }
                if !isEdge { gaps += 1 }
            } else if index == groups.count - 1, group.contains(UInt8(ascii: ".")) {
                guard isIPv4(group) else { return false }
                count += 2
            } else {
                guard group.count <= 4, group.allSatisfy(ByteSet.hexDigits.contains) else {
                    return false
                }
                count += 1
            }
        }
        return gaps == 0 ? count == 8 : gaps == 1 && count <= 7
    }

    private static func isIPv4(_ bytes: some Collection<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                guard (1...3).contains(part.count), part.allSatisfy(ByteSet.digits.contains),
                    part.count == 1 || part.first != UInt8(ascii: "0")
                else { return false }
                return part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } <= 255
            }
    }
}
