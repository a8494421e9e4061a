package import ErrandSystem

/// A parsed `Set-Cookie` field, before ``CookieAcceptance`` evaluates it (RFC 6265bis §5.6).
package struct SetCookie: Equatable {
    package var name: String
    package var value: String
    /// The expiry from `Max-Age` if valid, otherwise from `Expires`; `nil` for a session cookie.
    package var expires: Date?
    /// The last `Domain` in lower case without a leading dot; empty if there is none.
    package var domain = ""
    /// The last `Path`; `nil` uses the directory of the request's path.
    package var path: String?
    /// Whether there is a `Path` attribute, which `__Host-` requires.
    package var hasPath = false
    package var isSecure = false
    package var isHTTPOnly = false
    package var sameSite: Cookie.SameSite?

    /// The maximum lifetime in seconds; longer ones are shortened to it.
    static let maximumAge: TimeInterval = 400 * 86400
    static let maximumPairLength = 4096
    static let maximumAttributeLength = 1024

    package static func parse(_ text: String, now: Date) -> Result<SetCookie, CookieRefusal> {
        if text.utf8.contains(where: isControl) { return .failure(.controlCharacter) }
        var rest = text[...]
        let pair = cut(&rest)
        var name = Substring()
        var value = pair
        if let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) {
            name = pair[..<equals]
            value = pair[pair.utf8.index(after: equals)...]
        }
        name = trim(name)
        value = trim(value)
        guard name.utf8.count + value.utf8.count <= maximumPairLength else {
            return .failure(.tooLong)
        }
        if name.isEmpty, value.isEmpty { return .failure(.empty) }
        var cookie = SetCookie(name: String(name), value: String(value))
        cookie.readAttributes(rest, now: now)
        return .success(cookie)
    }

    private mutating func readAttributes(_ text: Substring, now: Date) {
        var rest = text
        var maxAge: Date?
        while !rest.isEmpty {
            let attribute = Self.cut(&rest)
            var name = attribute
            var value = Substring()
            if let equals = attribute.utf8.firstIndex(of: UInt8(ascii: "=")) {
                name = attribute[..<equals]
                value = attribute[attribute.utf8.index(after: equals)...]
            }
            value = Self.trim(value)
            guard value.utf8.count <= Self.maximumAttributeLength else { continue }
            switch Self.trim(name).lowercasedASCII() {
            case "expires":
                if let date = CookieDate.parse(String(value)) {
                    expires = min(date, now + Self.maximumAge)
                }
            case "max-age": maxAge = Self.end(maxAge: value, now: now) ?? maxAge
            case "domain": domain = CookieDomain.canonical(String(value))
            case "path":
                hasPath = true
                path = value.utf8.first == UInt8(ascii: "/") ? String(value) : nil
            case "secure": isSecure = true
            case "httponly": isHTTPOnly = true
            case "samesite": sameSite = Self.sameSite(value)
            default: break
            }
        }
        // `Max-Age` takes precedence over `Expires`, in any order.
        expires = maxAge ?? expires
    }

    /// The expiry date for a `Max-Age` value; `nil` if the text is not a number.
    private static func end(maxAge text: Substring, now: Date) -> Date? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        // A number that overflows Int is longer than the maximum lifetime.
        let seconds = isNegative ? 0 : Int(digits).map(Double.init) ?? maximumAge
        return seconds <= 0 ? .distantPast : now + min(seconds, maximumAge)
    }

    private static func sameSite(_ value: Substring) -> Cookie.SameSite? {
        switch value.lowercasedASCII() {
        case "strict": .strict
        case "lax": .lax
        case "none": Cookie.SameSite.none
        default: nil
        }
    }

    /// Removes and returns the text up to the next semicolon, and removes the semicolon.
    private static func cut(_ rest: inout Substring) -> Substring {
        guard let end = rest.utf8.firstIndex(of: UInt8(ascii: ";")) else {
            defer { rest = Substring() }
            return rest
        }
        defer { rest = rest[rest.utf8.index(after: end)...] }
        return rest[..<end]
    }

    private static func trim(_ text: Substring) -> Substring {
        var bytes = text.utf8
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return Substring(bytes)
    }

    /// Whether the byte is a control character other than the tab.
    static func isControl(_ byte: UInt8) -> Bool {
        (byte < 0x20 && byte != 0x09) || byte == 0x7f
    }
}
