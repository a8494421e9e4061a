/// Parses text into the components of a URI (RFC 3986 §3 and appendix B).
///
/// Characters that a component must not contain are percent-encoded. Control characters are refused: a
/// CR or LF in a URL is an injection attempt or a mistake.
package struct URIParser {
    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private var uri = URI()

    package static func parse(_ text: String) throws(RequestError) -> URI {
        var text = text
        // `withUTF8` rethrows `any Error`; the result keeps the error type.
        let result: Result<URI, RequestError> = text.withUTF8 { bytes in
            do throws(RequestError) {
                var parser = URIParser()
                try parser.read(bytes)
                return .success(parser.uri)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    package static func invalid(_ message: String) -> RequestError {
        RequestError(.invalidURL, stage: .build, message)
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(RequestError) {
        if let index = bytes.firstIndex(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw Self.invalid(
                "The URL contains \(Self.name(ofControl: bytes[index])) at byte \(index). "
                    + "Remove it, or percent-encode it if it is intended.")
        }
        var rest = Self.trimmed(bytes[...])
        if let index = rest.firstIndex(of: UInt8(ascii: "#")) {
            uri.fragment = Self.string(rest[(index + 1)...], keeping: URIBytes.query)
            rest = rest[..<index]
        }
        if let index = rest.firstIndex(of: UInt8(ascii: "?")) {
            uri.query = Self.string(rest[(index + 1)...], keeping: URIBytes.query)
            rest = rest[..<index]
        }
        if let colon = Self.endOfScheme(rest) {
            uri.scheme = Self.lowercased(rest[..<colon])
            rest = rest[(colon + 1)...]
        }
        if rest.starts(with: Self.twoSlashes) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            try read(authority: rest[..<end])
            rest = rest[end...]
        }
        uri.path = Self.string(rest, keeping: URIBytes.path)
    }

    private mutating func read(authority: Bytes) throws(RequestError) {
        guard !authority.contains(UInt8(ascii: "\\")) else {
            // Browsers read it as a slash, other clients as part of the user info: one URL, two different hosts.
            throw Self.invalid("The URL contains a backslash before its path. Use a slash.")
        }
        var rest = authority
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            uri.userInfo = Self.string(rest[..<at], keeping: URIBytes.userInfo)
            rest = rest[(at + 1)...]
        }
        let isLiteral = rest.first == UInt8(ascii: "[")
        let searched =
            isLiteral ? rest[(rest.lastIndex(of: UInt8(ascii: "]")) ?? rest.endIndex)...] : rest
        if let colon = searched.lastIndex(of: UInt8(ascii: ":")) {
            uri.port = try Self.port(rest[(colon + 1)...])
            rest = rest[..<colon]
        }
        uri.host = isLiteral ? try Self.addressLiteral(rest) : try Self.host(rest)
    }

    private static func port(_ digits: Bytes) throws(RequestError) -> Int? {
        guard !digits.isEmpty else { return nil }
        var value = 0
        for digit in digits {
            guard ByteSet.digits.contains(digit), value <= 65_535 else {
                value = 0
                break
            }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        guard (1...65_535).contains(value) else {
            throw invalid(
                "The URL's port is not a number from 1 to 65535. Write an IPv6 address in brackets: "
                    + "http://[::1]:8080/.")
        }
        return value
    }

    private static func host(_ bytes: Bytes) throws(RequestError) -> String {
        if bytes.allSatisfy(URIBytes.host.contains) { return lowercased(bytes) }
        if bytes.contains(UInt8(ascii: ":")) {
            throw invalid(
                "The URL's host contains a colon. Write an IPv6 address in brackets: "
                    + "http://[::1]:8080/.")
        }
        return try HostName.ascii(PercentEncoding.decode(bytes))
    }

    private static func addressLiteral(_ bytes: Bytes) throws(RequestError) -> String {
        let inside = bytes.dropFirst().prefix { $0 != UInt8(ascii: "]") }
        let isClosed = inside.count + 2 == bytes.count
        // A zone can follow an IPv6 address after %25 (RFC 6874).
        let address = inside.prefix { $0 != UInt8(ascii: "%") }
        let zone = inside.dropFirst(address.count)
        let hasZone =
            zone.isEmpty
            || zone.starts(with: zonePrefix)
                && zone.dropFirst(3).allSatisfy(ByteSet.unreserved.contains) && zone.count > 3
        guard isClosed, hasZone, IPv6Literal.isAddress(address) else {
            throw invalid(
                "The URL's host starts with a bracket but is not an IPv6 address such as [2001:db8::1]."
            )
        }
        return lowercased(bytes)
    }

    /// The index of the colon after the scheme; `nil` if the text has no scheme (RFC 3986 §3.1).
    private static func endOfScheme(_ bytes: Bytes) -> Int? {
        guard let first = bytes.first, ByteSet.letters.contains(first),
            let end = bytes.firstIndex(where: { !URIBytes.scheme.contains($0) }),
            bytes[end] == UInt8(ascii: ":")
        else { return nil }
        return end
    }

    private static func trimmed(_ bytes: Bytes) -> Bytes {
        var bytes = bytes
        while bytes.first == UInt8(ascii: " ") { bytes = bytes.dropFirst() }
        while bytes.last == UInt8(ascii: " ") { bytes = bytes.dropLast() }
        return bytes
    }

    private static func string(_ bytes: Bytes, keeping set: ByteSet) -> String {
        if bytes.allSatisfy(set.contains) { return String(decoding: bytes, as: UTF8.self) }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count + 32)
        PercentEncoding.appendKeepingEscapes(bytes, keeping: set, to: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func lowercased(_ bytes: Bytes) -> String {
        let hasUpper = bytes.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        let text = String(decoding: bytes, as: UTF8.self)
        return hasUpper ? text.lowercased() : text
    }

    private static func name(ofControl byte: UInt8) -> String {
        switch byte {
        case 0: "NUL"
        case 9: "a tab"
        case 10: "a line feed"
        case 13: "a carriage return"
        default: "the control character \(byte)"
        }
    }

    private static let twoSlashes = Array("//".utf8)
    private static let zonePrefix = Array("%25".utf8)
}
