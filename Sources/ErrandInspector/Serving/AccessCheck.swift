import ErrandHTTP

/// Decides whether a request to the inspector is allowed; pure.
///
/// A web page of another site can send requests to a loopback port, and with DNS rebinding also under a name of its own.
/// It knows neither the token, nor can it set the header `Host` to the address of the inspector.
struct AccessCheck: Sendable {
    /// The reason to refuse a request.
    enum Refusal: Sendable, Equatable {
        /// The token is missing or wrong.
        case token
        /// `Host` is not the address of the inspector.
        case host
        /// The request comes from a page of another origin.
        case origin
    }

    /// The headers that decide.
    struct Fields: Sendable {
        var host: String?
        var origin: String?
        var fetchSite: String?
        var authorization: String?
        /// The token in the query, which only the page itself may use.
        var queryToken: String?
    }

    let token: String
    let port: UInt16

    /// The refusal of a request; `nil` if it is allowed.
    func refusal(_ fields: Fields, isPage: Bool) -> Refusal? {
        let authorities = ["127.0.0.1:\(port)", "localhost:\(port)"]
        guard let host = fields.host?.lowercasedASCII(), authorities.contains(host) else {
            return .host
        }
        if let origin = fields.origin?.lowercasedASCII(), origin != "http://\(host)" {
            return .origin
        }
        // A link of another site may open the page if it has the token; a script of it may not call anything.
        if let site = fields.fetchSite?.lowercasedASCII(), !isPage,
            site != "same-origin", site != "none"
        {
            return .origin
        }
        let given = isPage ? fields.queryToken : Self.bearer(fields.authorization)
        guard let given, Self.isEqual(given, token) else { return .token }
        return nil
    }

    private static func bearer(_ authorization: String?) -> String? {
        guard let authorization, let space = authorization.firstIndex(ofByte: " "),
            authorization[..<space].hasSameBytes(ignoringCase: "bearer")
        else { return nil }
        return String(authorization[authorization.utf8.index(after: space)...])
    }

    /// Compares in a time that depends on the lengths only.
    static func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }

    /// A new token of 256 random bits.
    static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef")
        return (0..<4).map { _ in generator.next() as UInt64 }.map { word in
            String((0..<16).map { digits[Int(truncatingIfNeeded: word >> (UInt64($0) * 4)) & 15] })
        }.joined()
    }
}
