import Foundation

/// A `Set-Cookie` field, parsed and not yet judged (RFC 6265bis §5.6).
struct SetCookie: Equatable {
    var name: String
    var value: String
    /// `Max-Age` where there is a valid one, else `Expires`; `nil` for a session cookie.
    var expires: Date?
    /// The last `Domain`, in lower case and without its leading dot; empty when there is none.
    var domain = ""
    /// The last `Path`; `nil` takes the request's directory.
    var path: String?
    /// Whether there is an attribute `Path`: `__Host-` asks for one.
    var hasPath = false
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: Cookie.SameSite?

    /// The longest life: longer ones are cut to it.
    static let longestAge: TimeInterval = 400 * 86400
    static let longestPair = 4096
    static let longestAttribute = 1024

    static func parse(_ text: String, now: Date) -> Result<SetCookie, CookieRefusal> {
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
        guard name.utf8.count + value.utf8.count <= longestPair else { return .failure(.tooLong) }
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
            guard value.utf8.count <= Self.longestAttribute else { continue }
            switch Self.trim(name).lowercased() {
            case "expires":
                if let date = CookieDate.parse(String(value)) {
                    expires = min(date, now + Self.longestAge)
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
        // Wherever it stands: Max-Age is stronger than Expires.
        expires = maxAge ?? expires
    }

    /// When a cookie with this `Max-Age` ends; `nil` for text that is no number.
    private static func end(maxAge text: Substring, now: Date) -> Date? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        // More digits than an Int holds are more seconds than anything may live.
        let seconds = isNegative ? 0 : Int(digits).map(Double.init) ?? longestAge
        return seconds <= 0 ? .distantPast : now + min(seconds, longestAge)
    }

    private static func sameSite(_ value: Substring) -> Cookie.SameSite? {
        switch value.lowercased() {
        case "strict": .strict
        case "lax": .lax
        case "none": Cookie.SameSite.none
        default: nil
        }
    }

    /// Takes what stands before the next semicolon, and the semicolon.
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

    /// Every control character but the tab.
    static func isControl(_ byte: UInt8) -> Bool {
        (byte < 0x20 && byte != 0x09) || byte == 0x7f
    }
}
