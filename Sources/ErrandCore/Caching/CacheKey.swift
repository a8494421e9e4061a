import ErrandSystem

/// Identifies a stored response by the canonical form of the final request.
///
/// Keys are equal if their texts have the same UTF-8 bytes, in every store. `String` itself also treats
/// texts as equal that only look alike, such as the two spellings of "é", which are different URLs and
/// different users.
public struct CacheKey: Sendable, Hashable {
    /// Method, final URL, `Accept`, `Accept-Language`, body digest and identity, one per line.
    public let canonical: String

    /// Creates a key from its canonical text.
    public init(canonical: String) { self.canonical = canonical }

    /// Whether both texts have the same bytes.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        var (one, other) = (left.canonical, right.canonical)
        guard one.utf8.count == other.utf8.count else { return false }
        return one.withUTF8 { one in
            other.withUTF8 { other in
                guard let left = one.baseAddress, let right = other.baseAddress else { return true }
                return memcmp(left, right, one.count) == 0
            }
        }
    }

    /// Hashes the bytes of the text.
    public func hash(into hasher: inout Hasher) {
        var text = canonical
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// A 64-bit hash of the text (FNV-1a); equal on every machine and in every process.
    public var hash64: UInt64 {
        var text = canonical
        return text.withUTF8 { bytes in
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for byte in bytes {
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
            }
            return hash
        }
    }
}

extension CacheKey: CustomStringConvertible, CustomReflectable {
    /// The hash of the text; the text itself contains the query.
    public var description: String { "CacheKey \(String(hash64, radix: 16))" }
    /// No children, because the text contains the query.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
