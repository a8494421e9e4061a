package import ErrandSystem

extension SHA256 {
    /// HMAC-SHA-256 (RFC 2104, FIPS 198-1) as lower-case hexadecimal text.
    ///
    /// For digests of secrets that are stored: a reader without the key can neither search for the secret
    /// nor compare digests of different stores.
    ///
    /// - Parameter key: Random bytes, as many as the digest has; a key above 64 bytes is hashed first.
    package static func hmacHex(_ data: Data, key: Data) -> String {
        var block = Array(key)
        if block.count > 64 {
            var hash = SHA256()
            hash.update(key)
            block = hash.finalize()
        }
        block += [UInt8](repeating: 0, count: 64 - block.count)
        var inner = SHA256()
        inner.update(Data(block.map { $0 ^ 0x36 }))
        inner.update(data)
        var outer = SHA256()
        outer.update(Data(block.map { $0 ^ 0x5C }))
        outer.update(Data(inner.finalize()))
        return outer.finalizeHex()
    }
}
