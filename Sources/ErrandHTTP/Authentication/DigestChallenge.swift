package import ErrandSystem

/// A hash function of Digest authentication (RFC 7616 §3.2).
package enum DigestAlgorithm: Sendable, Hashable {
    case md5
    case sha256
    case sha512Truncated256

    package func hash(_ bytes: some Collection<UInt8>) -> String {
        switch self {
        case .md5: return MD5.hex(bytes)
        case .sha512Truncated256: return SHA512Truncated256.hex(bytes)
        case .sha256:
            var hash = SHA256()
            hash.update(Data(bytes))
            return hash.finalizeHex()
        }
    }

    package func hash(_ text: String) -> String { hash(Array(text.utf8)) }
}

/// The content of a Digest challenge (RFC 7616 §3.3).
package struct DigestChallenge: Sendable, Hashable {
    package enum Protection: String, Sendable, Hashable {
        case auth
        case authInt = "auth-int"
    }

    var realm: String
    package var nonce: String
    package var opaque: String?
    var algorithm: DigestAlgorithm
    /// The `algorithm` parameter as the server wrote it; `nil` when it sent none.
    var algorithmName: String?
    package var isSession: Bool
    /// The supported values of `qop`; empty when the server sent no `qop` (RFC 2069).
    var protections: [Protection]
    package var isStale: Bool
    var hashesUser: Bool
    var isUTF8: Bool

    /// The Digest challenge with the strongest supported algorithm; of several, the first, because servers list
    /// challenges by preference (RFC 7616 §3.7).
    ///
    /// An attacker who can change responses could otherwise put an MD5 challenge first.
    package static func first(in challenges: [AuthenticationChallenge]) -> DigestChallenge? {
        let supported = challenges.compactMap(DigestChallenge.init)
        return supported.first { $0.algorithm != .md5 } ?? supported.first
    }

    package init?(_ challenge: AuthenticationChallenge) {
        guard challenge.isOf("Digest"), let realm = challenge["realm"],
            let nonce = challenge["nonce"]
        else { return nil }
        self.realm = realm
        self.nonce = nonce
        opaque = challenge["opaque"]
        algorithmName = challenge["algorithm"]
        switch (algorithmName ?? "MD5").lowercasedASCII() {
        case "md5": (algorithm, isSession) = (.md5, false)
        case "md5-sess": (algorithm, isSession) = (.md5, true)
        case "sha-256": (algorithm, isSession) = (.sha256, false)
        case "sha-256-sess": (algorithm, isSession) = (.sha256, true)
        case "sha-512-256": (algorithm, isSession) = (.sha512Truncated256, false)
        case "sha-512-256-sess": (algorithm, isSession) = (.sha512Truncated256, true)
        default: return nil
        }
        protections = []
        if let options = challenge["qop"] {
            protections = options.utf8.split(whereSeparator: ByteSet(", \t").contains)
                .compactMap { Protection(rawValue: Substring($0).lowercasedASCII()) }
            if protections.isEmpty { return nil }
        }
        isStale = challenge["stale"]?.hasSameBytes(ignoringCase: "true") == true
        hashesUser = challenge["userhash"]?.hasSameBytes(ignoringCase: "true") == true
        isUTF8 = challenge["charset"]?.hasSameBytes(ignoringCase: "utf-8") == true
    }
}

/// The client's response to a Digest challenge (RFC 7616 §3.4); a pure function.
package struct DigestResponse {
    package var challenge: DigestChallenge
    package var user: String
    package var password: String
    package var method: String
    /// The path and query of the request, as sent.
    package var target: String
    /// The bytes of the request body; `nil` when they are not in memory.
    package var body: Data?
    package var clientNonce: String
    /// The nonce count (`nc`): the number of uses of the nonce, including this one.
    package var count: UInt32

    package init(
        challenge: DigestChallenge, user: String, password: String, method: String, target: String,
        body: Data?, clientNonce: String, count: UInt32
    ) {
        self.challenge = challenge
        self.user = user
        self.password = password
        self.method = method
        self.target = target
        self.body = body
        self.clientNonce = clientNonce
        self.count = count
    }

    /// The value of the `Authorization` header.
    ///
    /// `nil` when the server requires `auth-int` and the body is not in memory, or when a value contains
    /// characters that a header must not contain.
    package func header() -> String? {
        let hash = challenge.algorithm.hash(_:) as (String) -> String
        let protection: DigestChallenge.Protection?
        if challenge.protections.contains(.auth) || challenge.protections.isEmpty {
            protection = challenge.protections.isEmpty ? nil : .auth
        } else {
            guard body != nil else { return nil }
            protection = .authInt
        }
        let user = challenge.isUTF8 ? normalized(self.user) : self.user
        let password = challenge.isUTF8 ? normalized(self.password) : self.password

        var secret = hash("\(user):\(challenge.realm):\(password)")
        if challenge.isSession { secret = hash("\(secret):\(challenge.nonce):\(clientNonce)") }
        var message = "\(method):\(target)"
        if protection == .authInt, let body {
            message += ":" + challenge.algorithm.hash(body)
        }
        let hex = String(count, radix: 16)
        let padded = String(repeating: "0", count: max(0, 8 - hex.utf8.count)) + hex
        let response: String
        if let protection {
            response = hash(
                "\(secret):\(challenge.nonce):\(padded):\(clientNonce):\(protection.rawValue):\(hash(message))"
            )
        } else {
            response = hash("\(secret):\(challenge.nonce):\(hash(message))")
        }
        return field(user: user, response: response, protection: protection, count: padded)
    }

    private func field(
        user: String, response: String, protection: DigestChallenge.Protection?, count: String
    ) -> String? {
        guard let realm = Credentials.quoted(challenge.realm),
            let nonce = Credentials.quoted(challenge.nonce),
            let target = Credentials.quoted(target)
        else { return nil }
        var parts: [String] = []
        if challenge.hashesUser {
            parts.append("username=\"\(challenge.algorithm.hash("\(user):\(challenge.realm)"))\"")
        } else if challenge.isUTF8, !user.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) {
            parts.append("username*=UTF-8''\(Credentials.escaped(user))")
        } else {
            guard let quoted = Credentials.quoted(user) else { return nil }
            parts.append("username=\(quoted)")
        }
        parts += ["realm=\(realm)", "nonce=\(nonce)", "uri=\(target)", "response=\"\(response)\""]
        if let name = challenge.algorithmName { parts.append("algorithm=\(name)") }
        if let opaque = challenge.opaque {
            guard let quoted = Credentials.quoted(opaque) else { return nil }
            parts.append("opaque=\(quoted)")
        }
        if let protection {
            parts += ["qop=\(protection.rawValue)", "nc=\(count)", "cnonce=\"\(clientNonce)\""]
        } else if challenge.isSession {
            parts.append("cnonce=\"\(clientNonce)\"")
        }
        if challenge.hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// The text in Unicode normalization form C, so that equal names hash equally (RFC 7616 §4).
    private func normalized(_ text: String) -> String { Normalization.canonical(text) }
}
