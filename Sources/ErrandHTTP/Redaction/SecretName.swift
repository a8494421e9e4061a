/// Decides by the names of header fields, trailers, query arguments, form fields and JSON members which of their values
/// are secret.
///
/// A name is secret if one of its words is, such as `key`, `pin`, `otp`, `sid`, `jwt`, `pwd`, `signature` or `ticket`.
/// Words end at punctuation, at digits, and where the letter case changes: `X-Functions-Key`, `private_key` and
/// `AWSAccessKeyId` contain the word `key`, and `monkey` does not. Longer texts, such as `token`, `secret`, `passw`,
/// `session` and `credential`, are found within words. Names that are known to be harmless, such as `Idempotency-Key`,
/// `Cache-Key` and `Sec-WebSocket-Key`, are not secret.
///
/// ``Configuration/secretNames`` extends the list for the requests of an agent:
///
///     configuration.secretNames.added = ["X-Tenant"]
///     configuration.secretNames.excepted = ["X-Ticket-Count"]
public struct SecretNames: Sendable, Hashable {
    /// Further secret names; letter case does not matter (default none).
    public var added: Set<String> {
        get { lists?.added.written ?? [] }
        set { self = SecretNames(added: newValue, excepted: excepted) }
    }
    /// Names that are not secret, although the list says so; letter case does not matter (default none).
    ///
    /// ``added`` takes precedence. `Authorization`, `Proxy-Authorization`, `Cookie` and `Set-Cookie` remain secret.
    public var excepted: Set<String> {
        get { lists?.excepted.written ?? [] }
        set { self = SecretNames(added: added, excepted: newValue) }
    }

    private struct Names: Sendable, Hashable {
        var written: Set<String> = []
        var lowercase: Set<String> = []

        init(_ names: Set<String> = []) {
            written = names
            lowercase = Set(names.map { $0.lowercased() })
        }
    }

    private final class Lists: Sendable {
        let added: Names
        let excepted: Names

        init(_ added: Names, _ excepted: Names) { (self.added, self.excepted) = (added, excepted) }
    }

    /// `nil` if both lists are empty; one reference, because each request has the names.
    private let lists: Lists?

    /// The names of the list only.
    public static var standard: SecretNames { SecretNames() }

    /// Creates the list with further names and exceptions.
    public init(added: Set<String> = [], excepted: Set<String> = []) {
        let isEmpty = added.isEmpty && excepted.isEmpty
        lists = isEmpty ? nil : Lists(Names(added), Names(excepted))
    }

    /// Whether both lists are equal.
    public static func == (one: Self, other: Self) -> Bool {
        one.lists === other.lists || (one.added == other.added && one.excepted == other.excepted)
    }

    /// Hashes both lists.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(added)
        hasher.combine(excepted)
    }

    /// Whether the value of a header field or trailer is secret.
    package func isSecret(header name: String) -> Bool {
        isSecret(name) { SecretName.isSecret(header: $0) }
    }

    /// Whether the value of an argument is secret.
    package func isSecret(argument name: String) -> Bool {
        isSecret(name) { SecretName.isSecret(argument: $0) }
    }

    private func isSecret(_ name: String, _ standard: (String) -> Bool) -> Bool {
        guard let lists else { return standard(name) }
        let lowercase = name.lowercased()
        if lists.added.lowercase.contains(lowercase) { return true }
        guard lists.excepted.lowercase.contains(lowercase), !SecretName.isCredential(lowercase)
        else {
            return standard(name)
        }
        return false
    }
}

/// Recognizes names whose values are secret, by the list of ``SecretNames`` without an author's names.
package enum SecretName {
    /// Whether a header's value is secret.
    package static func isSecret(header name: String) -> Bool { isSecret(argument: name) }

    /// Whether an argument's value is secret.
    package static func isSecret(argument name: String) -> Bool {
        var name = name
        // Asked for every header of a cached request.
        if name.withUTF8({ scan.excludes($0) }) { return false }
        if let isSecret = name.withUTF8({ isSecret($0) }) { return isSecret }
        // Lower case can turn other letters into ASCII, as it does with the Kelvin sign. Other bytes end words.
        let plain = name.withUTF8 { isSecretText($0) }
        name = name.lowercased()
        return plain || name.withUTF8 { isSecretText($0) }
    }

    /// Whether a header's value differs for each request, because it proves that the sender has a key: signatures,
    /// and the proofs of DPoP (RFC 9449).
    ///
    /// `Accept-Signature` asks for a signature (RFC 9421 §5.1). `OAuth` is a proof with the parameters of OAuth 1 only.
    package static func isProof(header name: String, value: String) -> Bool {
        if name.hasSameBytes(ignoringCase: "accept-signature") { return false }
        let scheme = value.prefix(upToByte: " ").lowercasedASCII()
        if scheme == "oauth", !value.contains(bytes: "oauth_signature") { return false }
        var name = name
        return name.withUTF8 { bytes in
            if isCredential(bytes) { return proofSchemes.contains(scheme) }
            return [true, false].contains { splitsCase in
                words(of: bytes, splitsCase).contains { proofWords.contains(lowercase(bytes[$0])) }
            }
        }
    }

    /// Whether an argument of a query or form differs for each request, as signatures do.
    package static func isProof(argument name: String) -> Bool {
        isProof(header: name, value: "")
    }

    /// Whether a name in lower case is that of a field for credentials or cookies.
    static func isCredential(_ name: String) -> Bool { credentialFields.contains(Array(name.utf8)) }

    private static func isCredential(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        credentialFields.contains { $0.count == name.count && matches($0, name, at: 0) }
    }

    /// Whether an ASCII name is secret; `nil` if it has other bytes.
    private static func isSecret(_ name: UnsafeBufferPointer<UInt8>) -> Bool? {
        guard name.allSatisfy({ $0 < 0x80 }) else { return nil }
        return isSecretText(name)
    }

    private static func isSecretText(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard !name.isEmpty else { return false }
        if isCredential(name)
            || exact.contains(where: { $0.count == name.count && matches($0, name, at: 0) })
        {
            return true
        }
        if hasFragment(name) { return !hasOnlyHarmlessFragments(name) || hasSecretWord(name) }
        return hasSecretWord(name)
    }

    // MARK: - Fragments

    private static func hasFragment(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        fragments.contains { fragment in
            guard name.count >= fragment.count else { return false }
            return (0...(name.count - fragment.count)).contains { matches(fragment, name, at: $0) }
        }
    }

    /// Whether all fragments of a name are in words that only look like one, such as `author` and `secretary`.
    private static func hasOnlyHarmlessFragments(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        let words = words(of: name, true)
        guard words.contains(where: { harmlessWords.contains(lowercase(name[$0])) }) else {
            return false
        }
        // The rest of the name, with a separator in place of each harmless word.
        var rest: [UInt8] = []
        var end = name.startIndex
        for word in words where harmlessWords.contains(lowercase(name[word])) {
            rest += name[end..<word.lowerBound] + [UInt8(ascii: ".")]
            end = word.upperBound
        }
        rest += name[end...]
        return !rest.withUnsafeBufferPointer { hasFragment($0) }
    }

    // MARK: - Words

    private static func hasSecretWord(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        // Most names have none: the bytes are compared before anything is allocated.
        guard secretWords.contains(where: { contains($0, name) }) else { return false }
        // `DPoP` is one word, although its case changes.
        return hasSecretWord(name, words(of: name, true))
            || hasSecretWord(name, words(of: name, false))
    }

    private static func hasSecretWord(
        _ name: UnsafeBufferPointer<UInt8>, _ words: [Range<Int>]
    ) -> Bool {
        for (index, word) in words.enumerated() {
            let text = lowercase(name[word])
            let previous = index > 0 ? lowercase(name[words[index - 1]]) : []
            let next = index + 1 < words.count ? lowercase(name[words[index + 1]]) : []
            if text == code {
                if secretCodes.contains(previous) { return true }
            } else if secretWords.contains(text) {
                if text == key, harmlessKeys.contains(previous) { continue }
                if text == sign, signActions.contains(next) { continue }
                return true
            }
        }
        return false
    }

    private static func contains(_ word: [UInt8], _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard name.count >= word.count else { return false }
        return (0...(name.count - word.count)).contains { matches(word, name, at: $0) }
    }

    /// The ranges of the words of a name: letters without a change from lower to upper case.
    ///
    /// The last of several capitals begins a word that continues in lower case: `AWSKey` is `AWS` and `Key`.
    private static func words(
        of name: UnsafeBufferPointer<UInt8>, _ splitsCase: Bool
    ) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var start: Int?
        for index in name.indices {
            let byte = name[index]
            guard isLetter(byte) else {
                if let begin = start { words.append(begin..<index) }
                start = nil
                continue
            }
            if splitsCase, let begin = start, index > begin, isUpper(byte) {
                let followsLower = !isUpper(name[index - 1])
                let endsCapitals =
                    index + 1 < name.count && isLetter(name[index + 1]) && !isUpper(name[index + 1])
                if followsLower || endsCapitals {
                    words.append(begin..<index)
                    start = index
                }
            }
            if start == nil { start = index }
        }
        if let start { words.append(start..<name.count) }
        return words
    }

    private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func lowercase(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> [UInt8] {
        bytes.map { isUpper($0) ? $0 | 0x20 : $0 }
    }

    /// Whether the bytes of a name from an offset on, in lower case, are those of a word.
    private static func matches(
        _ word: [UInt8], _ name: UnsafeBufferPointer<UInt8>, at offset: Int
    ) -> Bool {
        for index in word.indices {
            let byte = name[offset + index]
            let lower = isUpper(byte) ? byte | 0x20 : byte
            if lower != word[index] { return false }
        }
        return true
    }

    // MARK: - Lists

    private static let credentialFields = list([
        "authorization", "proxy-authorization", "cookie", "set-cookie",
    ])
    /// Whole names.
    private static let exact = list(["cookie2", "set-cookie2", "code", "wresult"])
    /// They are part of the names of headers as well, such as `authorization`.
    private static let fragments = list([
        "token", "secret", "passw", "passphrase", "passcode", "apikey", "api-key", "api_key",
        "auth", "session", "sessid", "signature", "credential", "csrf", "xsrf", "saml", "accesskey",
        "appkey", "licensekey", "masterkey", "privatekey", "subscriptionkey", "hmac",
    ])
    /// Words that contain a fragment and are not secret.
    private static let harmlessWords = Set(
        list([
            "author", "authors", "authored", "authority", "authorities", "authorship", "authoring",
            "secretary", "secretaries",
        ]))
    private static let secretWords = Set(
        list([
            "key", "code", "pin", "otp", "totp", "sid", "sess", "jwt", "oidc", "sig", "sign",
            "pwd", "pw", "pass", "assertion", "dpop", "ticket", "bearer", "verifier", "psk", "cvv",
            "cvc",
        ]))
    /// A name that contains none of the listed texts is not secret.
    private static let scan = NameScan(
        credentialFields + exact + fragments + Array(secretWords))
    private static let key = Array("key".utf8)
    private static let code = Array("code".utf8)
    private static let sign = Array("sign".utf8)
    /// Words before `key` that make it a name of data: a server or database finds something by it, or it is public.
    private static let harmlessKeys = Set(
        list([
            "cache", "idempotency", "idempotence", "idempotent", "dedup", "deduplication",
            "content", "object", "message", "ordering", "row", "websocket", "socket", "public",
            "surrogate", "partition",
            "primary",
            "foreign", "sort", "routing", "kms",
        ]))
    /// Words before `code` that make it a secret; other codes are those of states, countries and currencies.
    private static let secretCodes = Set(
        list([
            "access", "backup", "confirmation", "device", "login", "mfa", "recovery", "security",
            "sms", "user", "verification",
        ]))
    private static let signActions = Set(list(["in", "up", "on", "off", "out"]))
    private static let proofWords = Set(
        list(["dpop", "signature", "sig", "sign", "hmac"]))
    /// Schemes of `Authorization` whose values are made for one request.
    private static let proofSchemes: Set<String> = [
        "dpop", "negotiate", "ntlm", "kerberos", "signature", "oauth", "hawk", "digest", "mac",
        "hmac", "gnap", "http-signature",
        "aws4-hmac-sha256", "aws4-ecdsa-p256-sha256", "aws", "sharedkey", "sharedkeylite",
        "hmac-sha256", "hmac-sha1", "google4-hmac-sha256", "acs3-hmac-sha256", "tc3-hmac-sha256",
        "eg1-hmac-sha256", "sso-hmac-sha256", "wechatpay2-sha256-rsa2048",
    ]

    private static func list(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }
}
