import ErrandSystem

/// Converts hosts to their canonical form, so that two spellings of one host are equal.
///
/// Names are in lower case and in ASCII (RFC 5891). A host whose last label is a number is an IPv4 address in
/// dotted decimal form, as the WHATWG URL standard requires, because resolvers connect to it. IPv6 addresses
/// have the form of RFC 5952, with brackets.
///
/// The mapping of names is compatibility composition and lower case. For common names it agrees with UTS #46
/// non-transitional processing (ß is kept). ``HostLabelRules`` covers the disallowed characters that
/// general categories can identify.
package enum HostName {
    /// The canonical form of a URI's host; keeps a trailing dot of a name.
    package static func canonical(
        _ bytes: some BidirectionalCollection<UInt8>
    ) throws(InvalidURI) -> String {
        if bytes.first == UInt8(ascii: "[") { return try literal(bytes) }
        guard bytes.allSatisfy(URIBytes.host.contains) else {
            guard !bytes.contains(UInt8(ascii: ":")) else {
                throw InvalidURI(
                    reason: "The URL's host contains a colon. Write an IPv6 address in brackets: "
                        + "http://[::1]:8080/.")
            }
            let name = try ascii(PercentEncoding.decode(bytes))
            return try IPv4Literal.endsInNumber(name.utf8) ? address(name.utf8) : name
        }
        return try IPv4Literal.endsInNumber(bytes)
            ? address(bytes) : String(lowercasingASCII: bytes)
    }

    /// The canonical form, without a trailing dot, of a host that a setting or a header names.
    ///
    /// An IPv6 address may lack its brackets.
    ///
    /// - Returns: `nil` if the text is not a host, for example because it has a port or an empty label.
    package static func named(_ text: String) -> String? {
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        let isBareIPv6 = colons > 1 && text.utf8.first != UInt8(ascii: "[")
        guard let host = try? canonical((isBareIPv6 ? "[\(text)]" : text).utf8) else { return nil }
        let name = withoutTrailingDot(host)
        return hasEmptyLabel(name) ? nil : name
    }

    /// The form of a host in which it is compared with the result of ``named(_:)``.
    ///
    /// Returns the text unchanged, without an allocation, if it is a usual name or an IPv4 address in canonical form.
    package static func compared(_ host: String) -> String {
        let isUsual = host.utf8.withContiguousStorageIfAvailable { bytes in
            IPv4Literal.dottedDecimal(bytes) != nil || isPlainName(bytes)
        }
        return isUsual == true ? host : named(host) ?? host.lowercasedASCII()
    }

    /// The name without one trailing dot, which makes a name absolute in DNS and does not change the host.
    package static func withoutTrailingDot(_ name: String) -> String {
        name.dropping(suffix: ".").map { String($0) } ?? name
    }

    /// Whether the name is empty or has an empty label, which DNS does not allow.
    package static func hasEmptyLabel(_ name: String) -> Bool {
        var isAtStart = true
        for byte in name.utf8 {
            let isDot = byte == UInt8(ascii: ".")
            if isDot && isAtStart { return true }
            isAtStart = isDot
        }
        return isAtStart
    }

    private static func isPlainName(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
        bytes.allSatisfy(plainBytes.contains) && bytes.last != UInt8(ascii: ".")
            && !IPv4Literal.endsInNumber(bytes)
    }

    private static func address(
        _ bytes: some BidirectionalCollection<UInt8>
    ) throws(InvalidURI) -> String {
        guard let address = IPv4Literal.canonical(bytes) else {
            throw InvalidURI(
                reason:
                    "The last label of the URL's host is a number, but the host is not an IPv4 address. "
                    + "Write the address as four numbers from 0 to 255: 192.0.2.1.")
        }
        return address
    }

    private static func literal(
        _ bytes: some BidirectionalCollection<UInt8>
    ) throws(InvalidURI) -> String {
        let inside = bytes.dropFirst().dropLast()
        guard !inside.contains(UInt8(ascii: "%")) else {
            throw InvalidURI(
                reason: "The URL's host contains a zone, such as %25eth0, which is not supported. "
                    + "Use an address without a zone.")
        }
        guard bytes.count > 2, bytes.last == UInt8(ascii: "]"),
            let address = IPv6Literal.canonical(inside)
        else {
            throw InvalidURI(
                reason: "The URL's host starts with a bracket but is not an IPv6 address such as "
                    + "[2001:db8::1].")
        }
        return "[\(address)]"
    }

    /// The name in ASCII; non-ASCII labels become `xn--…`.
    private static func ascii(_ bytes: [UInt8]) throws(InvalidURI) -> String {
        // Normalizing takes quadratic time; no valid name is as long in UTF-8.
        guard bytes.count <= 1024 else { throw nameTooLong }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw InvalidURI(reason: "The URL's host is not valid UTF-8.")
        }
        guard let composed = Normalization.compatibility(text) else {
            throw InvalidURI(
                reason:
                    "The URL's host is not ASCII. Write it in its ASCII form, which begins with xn--, or enable "
                    + "the package trait Foundation in Package.swift, which adds the tables of Unicode."
            )
        }
        // text of hosts: IDNA maps all letters
        let lowercase = composed.lowercased().unicodeScalars.filter { !ignored.contains($0) }
        let mapped = Normalization.canonical(String(lowercase))
        var labels: [String] = []
        for label in mapped.unicodeScalars.split(
            omittingEmptySubsequences: false, whereSeparator: separators.contains)
        {
            labels.append(try ascii(label: String(label)))
        }
        let name = labels.joined(separator: ".")
        guard name.utf8.count <= 253 else { throw nameTooLong }
        return name
    }

    private static func ascii(label: String) throws(InvalidURI) -> String {
        var result = label
        if !label.utf8.allSatisfy({ $0 < 0x80 }) {
            if let problem = HostLabelRules.problem(in: label) {
                throw InvalidURI(
                    reason: "The URL's host contains \(problem). Check its spelling.")
            }
            guard let encoded = Punycode.encode(label) else { throw tooLong }
            result = "xn--" + encoded
        }
        guard result.utf8.allSatisfy(URIBytes.host.contains) else {
            throw InvalidURI(
                reason:
                    "The URL's host contains a character that a host name must not contain, such as a "
                    + "space, a backslash or a bracket.")
        }
        guard result.utf8.count <= 63 else { throw tooLong }
        return result
    }

    private static var nameTooLong: InvalidURI {
        InvalidURI(reason: "The URL's host is longer than 253 bytes, the limit of DNS.")
    }

    private static var tooLong: InvalidURI {
        InvalidURI(
            reason: "A label of the URL's host is longer than 63 bytes, the limit of DNS.")
    }

    private static let plainBytes = ByteSet("abcdefghijklmnopqrstuvwxyz0123456789-._")
    /// The full stop and the ideographic full stops (UTS #46 §4).
    private static let separators: Set<Unicode.Scalar> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]
    /// Characters that UTS #46 maps to nothing: soft hyphen, zero-width characters, variation selectors.
    private static let ignored = Set<Unicode.Scalar>(
        ["\u{AD}", "\u{34F}", "\u{200B}", "\u{2060}", "\u{2064}", "\u{FEFF}"]
            + (0xFE00...0xFE0F).compactMap(Unicode.Scalar.init(_:) as (UInt32) -> Unicode.Scalar?)
            + (0x180B...0x180D).compactMap(Unicode.Scalar.init(_:) as (UInt32) -> Unicode.Scalar?))
}
