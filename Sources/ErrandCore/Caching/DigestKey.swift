package import ErrandHTTP
public import ErrandSystem

extension ResponseStore {
    /// A key of this process: entries with credentials are not found after its end.
    public func digestKey() async throws(RequestError) -> Data { DigestKey.ofProcess }
}

/// The random key of the digests in cache keys.
package enum DigestKey {
    /// The number of bytes.
    package static let count = 32

    /// The key of this process, in place of that of a store that keeps none, or that cannot be used.
    package static let ofProcess = random()

    /// A new key.
    package static func random() -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}

extension CacheKey {
    /// The key as the store has it: the digests in it, of the body and of credentials, are replaced by digests with
    /// the store's key (HMAC).
    ///
    /// Otherwise a copy of the store's keys would be enough to search for a password of few possible values.
    ///
    /// - Parameters:
    ///   - credentials: The digest of the credentials; `nil` if the request has none, or a cache identity.
    ///   - digestKey: The key of the store.
    package func stored(credentials: String?, digestKey: Data) -> CacheKey {
        var key = self
        if let place = bodyDigest {
            let digest = SHA256.hmacHex(Data(canonical.utf8[place]), key: digestKey)
            key = CacheKey(
                canonical: canonical[..<place.lowerBound] + digest + canonical[place.upperBound...])
        }
        return key.adding(
            credentials.map { SHA256.hmacHex(Data($0.utf8), key: digestKey) })
    }

    /// The digest of the body: the last word of the fifth line, before the identity, which can contain line breaks;
    /// `nil` without a body.
    private var bodyDigest: Range<String.Index>? {
        var text = canonical
        let offsets = text.withUTF8 { bytes -> Range<Int>? in
            var (start, end) = (0, -1)
            for _ in 0..<5 {
                start = end + 1
                guard let base = bytes.baseAddress,
                    let found = memchr(base + start, 0x0A, bytes.count - start)
                else { return nil }
                end = UnsafeRawPointer(base).distance(to: UnsafeRawPointer(found))
            }
            if let space = bytes[start..<end].lastIndex(of: UInt8(ascii: " ")) {
                start = space + 1
            }
            return start < end ? start..<end : nil
        }
        guard let offsets else { return nil }
        let start = canonical.utf8.index(canonical.startIndex, offsetBy: offsets.lowerBound)
        return start..<canonical.utf8.index(start, offsetBy: offsets.count)
    }
}
