/// Recognizes names of headers and arguments whose values are secret.
package enum SecretName {
    /// Whether a header's value is secret; the name must be in lower case.
    package static func isSecret(header name: String) -> Bool {
        isSecret(argument: name) || name == "cookie" || name == "set-cookie"
    }

    /// Whether an argument's value is secret.
    package static func isSecret(argument name: String) -> Bool {
        var name = name
        if let isSecret = name.withUTF8({ isSecret($0) }) { return isSecret }
        // Lower case can turn other letters into ASCII, as it does with the Kelvin sign.
        name = name.lowercased()
        return name.withUTF8 { bytes in
            exact.contains { bytes.elementsEqual($0) } || hasFragment(bytes)
        }
    }

    /// Whether an ASCII name is secret, which is asked for every header of a cached request; `nil` if it has other
    /// bytes.
    private static func isSecret(_ name: UnsafeBufferPointer<UInt8>) -> Bool? {
        guard name.allSatisfy({ $0 < 0x80 }) else { return nil }
        if name.count <= longestExact,
            exact.contains(where: { $0.count == name.count && matches($0, name, at: 0) })
        {
            return true
        }
        return hasFragment(name)
    }

    private static func hasFragment(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        fragments.contains { fragment in
            guard name.count >= fragment.count else { return false }
            return (0...(name.count - fragment.count)).contains { matches(fragment, name, at: $0) }
        }
    }

    /// Whether the bytes of a name from an offset on, in lower case, are those of a word.
    private static func matches(
        _ word: [UInt8], _ name: UnsafeBufferPointer<UInt8>, at offset: Int
    ) -> Bool {
        for index in word.indices {
            let byte = name[offset + index]
            let lower = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
            if lower != word[index] { return false }
        }
        return true
    }

    private static let exact = words([
        "key", "code", "sig", "sign", "pin", "otp", "sid", "jwt",
    ])
    private static let longestExact = 4
    /// They are part of the names of headers as well, such as `authorization`.
    private static let fragments = words([
        "token", "secret", "passw", "passphrase", "apikey", "api-key", "api_key", "auth", "session",
        "signature", "credential", "csrf",
    ])

    private static func words(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }
}
