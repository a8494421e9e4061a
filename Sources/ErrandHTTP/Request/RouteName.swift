/// The names of hosts in the options that choose a connection's address.
package enum RouteName {
    /// The canonical form of `host` or `host:port`; `nil` if the text is neither.
    package static func origin(_ text: String) -> String? {
        guard let url = try? HTTPURL(parsing: "http://" + text), url.isAbsoluteHTTP,
            url.userInfo == nil, url.path.isEmpty, url.query == nil, url.fragment == nil
        else { return nil }
        return url.authority
    }

    /// An entry of a proxy's bypass list, without and with its port; `nil` if the port is invalid.
    package static func bypassParts(_ entry: String) -> (name: String, port: Int?)? {
        let bytes = entry.utf8
        let isBracketed = bytes.first == UInt8(ascii: "[")
        let after =
            isBracketed
            ? bytes.firstIndex(of: UInt8(ascii: "]")) ?? bytes.startIndex : bytes.startIndex
        guard let colon = bytes[after...].firstIndex(of: UInt8(ascii: ":")),
            isBracketed
                || bytes[bytes.index(after: colon)...].firstIndex(of: UInt8(ascii: ":")) == nil
        else { return (entry, nil) }
        let digits = bytes[bytes.index(after: colon)...]
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(Substring(digits)), (1...65535).contains(port)
        else { return nil }
        return (String(entry[..<colon]), port)
    }

    /// Whether the text is a valid entry of a proxy's bypass list.
    package static func isBypass(_ entry: String) -> Bool {
        guard let text = bypassParts(entry)?.name else { return false }
        if text == "*" || addressBits(text) != nil { return true }
        if let slash = text.firstIndex(ofByte: "/") {
            guard let bits = addressBits(String(text[..<slash])),
                let prefix = Int(text[text.utf8.index(after: slash)...])
            else { return false }
            return (0...bits).contains(prefix)
        }
        var name = text[...]
        name = name.dropping(prefix: "*.") ?? name.dropping(prefix: ".") ?? name
        name = name.dropping(suffix: ".") ?? name
        return !name.isEmpty
            && name.pieces(at: ".", keepingEmpty: true).allSatisfy { label in
                !label.isEmpty
                    && label.utf8.allSatisfy { byte in
                        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte >= 0x80
                            || ByteSet.alphanumeric.contains(byte)
                    }
            }
    }

    /// The number of bits of an IP address, in brackets or not; `nil` if the text is not one.
    package static func addressBits(_ text: String) -> Int? {
        let inner = text.dropping(prefix: "[")?.dropping(suffix: "]")
        let isBracketed = inner?.isEmpty == false
        let bare = isBracketed ? inner ?? "" : text[...]
        if !isBracketed, IPv4Literal.dottedDecimal(bare.utf8) != nil { return 32 }
        return IPv6Literal.canonical(bare.utf8) != nil ? 128 : nil
    }
}
