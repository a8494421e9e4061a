/// The reason why text is not a URI or a host, as a sentence for an error message.
package struct InvalidURI: Error, Equatable {
    package let reason: String
}

/// Parses text into the components of a URI (RFC 3986 §3 and appendix B).
///
/// Characters that a component must not contain are percent-encoded. Control characters are refused: a
/// CR or LF in a URL is an injection attempt or a mistake.
package struct URIParser {
    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private var scheme: String?
    private var userInfo: String?
    private var host: String?
    private var port: Int?
    private var path = ""
    private var query: String?
    private var fragment: String?

    /// Parses a URI, or with `isPath` text that has neither scheme nor host, such as `jobs:cancel`.
    package static func parse(_ text: String, isPath: Bool = false) throws(InvalidURI) -> HTTPURL {
        var text = text
        // `withUTF8` rethrows `any Error`; the result keeps the error type.
        let result: Result<HTTPURL, InvalidURI> = text.withUTF8 { bytes in
            do throws(InvalidURI) {
                var parser = URIParser()
                try parser.read(bytes, isPath: isPath)
                return .success(parser.uri)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private var uri: HTTPURL {
        HTTPURL(
            canonicalScheme: scheme, userInfo: userInfo, host: host, port: port, path: path,
            query: query, fragment: fragment)
    }

    private static func invalid(_ reason: String) -> InvalidURI { InvalidURI(reason: reason) }

    private mutating func read(
        _ bytes: UnsafeBufferPointer<UInt8>, isPath: Bool
    ) throws(InvalidURI) {
        if let index = bytes.firstIndex(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw Self.invalid(
                "The URL contains \(Self.name(ofControl: bytes[index])) at byte \(index). "
                    + "Remove it, or percent-encode it if it is intended.")
        }
        var rest = Self.trimmed(bytes[...])
        if let index = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = PercentEncoding.encoded(rest[(index + 1)...], keeping: URIBytes.query)
            rest = rest[..<index]
        }
        if let index = rest.firstIndex(of: UInt8(ascii: "?")) {
            query = PercentEncoding.encoded(rest[(index + 1)...], keeping: URIBytes.query)
            rest = rest[..<index]
        }
        if !isPath, let colon = Self.endOfScheme(rest) {
            scheme = String(lowercasingASCII: rest[..<colon])
            rest = rest[(colon + 1)...]
        }
        if !isPath, rest.starts(with: Self.twoSlashes) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            try read(authority: rest[..<end])
            rest = rest[end...]
        }
        path = PercentEncoding.encoded(rest, keeping: URIBytes.path)
    }

    private mutating func read(authority: Bytes) throws(InvalidURI) {
        guard !authority.contains(UInt8(ascii: "\\")) else {
            // Browsers read it as a slash, other clients as part of the user info: one URL, two different hosts.
            throw Self.invalid("The URL contains a backslash before its path. Use a slash.")
        }
        var rest = authority
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            userInfo = PercentEncoding.encoded(rest[..<at], keeping: URIBytes.userInfo)
            rest = rest[(at + 1)...]
        }
        let isLiteral = rest.first == UInt8(ascii: "[")
        let searched =
            isLiteral ? rest[(rest.lastIndex(of: UInt8(ascii: "]")) ?? rest.endIndex)...] : rest
        if let colon = searched.lastIndex(of: UInt8(ascii: ":")) {
            port = try Self.port(rest[(colon + 1)...])
            rest = rest[..<colon]
        }
        host = try HostName.canonical(rest)
    }

    private static func port(_ digits: Bytes) throws(InvalidURI) -> Int? {
        guard !digits.isEmpty else { return nil }
        var value = 0
        for digit in digits {
            guard ByteSet.digits.contains(digit), value <= 65_535 else {
                value = 0
                break
            }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        guard URIBytes.ports.contains(value) else {
            throw invalid(
                "The URL's port is not a number from 1 to 65535. Write an IPv6 address in brackets: "
                    + "http://[::1]:8080/.")
        }
        return value
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
}
