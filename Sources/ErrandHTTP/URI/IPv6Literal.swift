/// IPv6 addresses as text (RFC 4291 §2.2, RFC 5952).
package enum IPv6Literal {
    /// The address in the form of RFC 5952, without brackets; `nil` if the text is not an IPv6 address.
    ///
    /// An IPv4-mapped address ends in dotted decimal form: `::ffff:192.0.2.1` (RFC 5952 §5).
    package static func canonical(_ bytes: some Collection<UInt8>) -> String? {
        guard let groups = groups(of: bytes) else { return nil }
        if groups[..<5].allSatisfy({ $0 == 0 }), groups[5] == 0xFFFF {
            return "::ffff:" + IPv4Literal.text(of: UInt32(groups[6]) << 16 | UInt32(groups[7]))
        }
        guard let zeros = longestRunOfZeros(in: groups) else { return text(of: groups[...]) }
        return text(of: groups[..<zeros.lowerBound]) + "::" + text(of: groups[zeros.upperBound...])
    }

    /// The 16 bytes of an address without brackets; `nil` if the text is not an IPv6 address.
    package static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
        groups(of: text)?.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }

    /// Eight groups, or fewer with one `::`; an IPv4 address can replace the last two groups.
    private static func groups(of bytes: some Collection<UInt8>) -> [UInt16]? {
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count >= 3 else { return nil }
        var groups: [UInt16] = []
        var gap: Int?
        for (index, part) in parts.enumerated() {
            let isEdge = index == 0 || index == parts.count - 1
            if part.isEmpty {
                // `::` at the start or the end produces two empty parts there.
                let neighbor = index == 0 ? 1 : index - 1
                guard !isEdge || parts[neighbor].isEmpty, isEdge || gap == nil else { return nil }
                if !isEdge { gap = groups.count }
            } else if index == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                guard let address = IPv4Literal.dottedDecimal(part) else { return nil }
                groups += [UInt16(address >> 16), UInt16(truncatingIfNeeded: address)]
            } else {
                guard part.count <= 4, part.allSatisfy(ByteSet.hexDigits.contains) else {
                    return nil
                }
                groups.append(
                    part.reduce(0) { $0 << 4 | UInt16(PercentEncoding.value(ofHexDigit: $1)) })
            }
        }
        guard let gap else { return groups.count == 8 ? groups : nil }
        guard groups.count <= 7 else { return nil }
        groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
        return groups
    }

    /// The longest run of at least two zero groups; the first of several (RFC 5952 §4.2).
    private static func longestRunOfZeros(in groups: [UInt16]) -> Range<Int>? {
        var longest = 0..<1
        var start: Int?
        for index in 0...groups.count {
            if index < groups.count, groups[index] == 0 {
                if start == nil { start = index }
            } else if let begin = start {
                if index - begin > longest.count { longest = begin..<index }
                start = nil
            }
        }
        return longest.count > 1 ? longest : nil
    }

    private static func text(of groups: ArraySlice<UInt16>) -> String {
        groups.map { String($0, radix: 16) }.joined(separator: ":")
    }
}
