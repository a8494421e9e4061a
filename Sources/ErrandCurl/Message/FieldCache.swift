import ErrandSystem
package import HTTPTypes

/// Parses header lines into fields and caches lines and names.
///
/// Servers repeat the same lines, and a name is validated and lower-cased only once. The two tables
/// are direct-mapped and of fixed size: a later line may replace an earlier one, and the cache
/// never grows.
package struct FieldCache: Sendable {
    /// The meaning of a field for reading the body.
    package enum Meaning: UInt8, Sendable {
        case ordinary, contentLength, transferEncoding, contentEncoding, connection
        /// A field with a secret, which is not cached.
        case secret
    }

    private struct Name: Sendable {
        let bytes: [UInt8]
        let name: HTTPField.Name
        let meaning: Meaning
    }

    private struct Line: Sendable {
        let bytes: [UInt8]
        let field: HTTPField
        let meaning: Meaning
    }

    private static let slots = 256
    private static let longestLine = 160
    private static let longestName = 64

    /// The cache of complete heads.
    var heads = HeadCache()

    private var names = [Name?](repeating: nil, count: slots)
    private var lines = [Line?](repeating: nil, count: slots)

    package init() {}

    /// Returns the field in a line without its end; `nil` for a name that is not a token, which is
    /// ignored.
    package mutating func field(
        in line: UnsafeRawBufferPointer
    ) throws(HeadParseError) -> (field: HTTPField, meaning: Meaning)? {
        let slot = Self.slot(of: line)
        if let known = lines[slot], Self.isSame(known.bytes, line) {
            return (known.field, known.meaning)
        }
        guard let colon = line.firstIndex(of: 0x3A) else { throw .lacksColon }
        guard !line.contains(where: { $0 == 0 || $0 == 0x0D }) else {
            throw HeadParseError("A header line contains NUL or CR.")
        }
        let written = UnsafeRawBufferPointer(rebasing: line[..<colon])
        // Recipients disagree about the name of such a field (RFC 9112 §5.1).
        if let last = written.last, last == 0x20 || last == 0x09 {
            throw HeadParseError("A space precedes the colon of a header line.")
        }
        guard let known = name(written) else {
            // Recipients that accept the name read another length of the body than those that ignore it.
            guard !Self.resemblesFraming(written) else {
                throw HeadParseError("The name of a framing field contains invalid characters.")
            }
            return nil
        }
        let value = Self.trimming(UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]))
        let field = HTTPField(name: known.name, lenientValue: value)
        if line.count <= Self.longestLine, known.meaning != .secret {
            lines[slot] = Line(bytes: Array(line), field: field, meaning: known.meaning)
        }
        return (field, known.meaning)
    }

    private mutating func name(_ bytes: UnsafeRawBufferPointer) -> Name? {
        let slot = Self.slot(of: bytes)
        if let known = names[slot], Self.isSame(known.bytes, bytes) { return known }
        guard let name = HTTPField.Name(String(decoding: bytes, as: UTF8.self)) else { return nil }
        let made = Name(bytes: Array(bytes), name: name, meaning: Meaning(of: name))
        if bytes.count <= Self.longestName { names[slot] = made }
        return made
    }

    /// Whether a name that is not a token is that of a framing field, except for invalid characters.
    private static func resemblesFraming(_ name: UnsafeRawBufferPointer) -> Bool {
        let letters = name.compactMap { byte -> UInt8? in
            if byte == UInt8(ascii: "-") { return byte }
            let lower = byte | 0x20
            return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lower) ? lower : nil
        }
        return letters.elementsEqual("content-length".utf8)
            || letters.elementsEqual("transfer-encoding".utf8)
    }

    private static func slot(of bytes: UnsafeRawBufferPointer) -> Int {
        hash(of: bytes) % slots
    }

    /// Hashes the length and up to 8 bytes at each end; the result is less than 2^16.
    static func hash(of bytes: UnsafeRawBufferPointer) -> Int {
        var hash = UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
        if bytes.count >= 8 {
            hash ^= bytes.loadUnaligned(as: UInt64.self)
            hash = hash &* 0xFF51_AFD7_ED55_8CCD
            hash ^= bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
        } else {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        }
        hash = hash &* 0xC4CE_B9FE_1A85_EC53
        return Int(hash >> 48)
    }

    static func isSame(_ known: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard known.count == bytes.count else { return false }
        guard let right = bytes.baseAddress else { return true }
        return known.withUnsafeBytes { left in
            left.baseAddress.map { memcmp($0, right, bytes.count) == 0 } ?? true
        }
    }

    private static func trimmingEnd(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = bytes.count
        while end > 0, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: bytes[..<end])
    }

    private static func trimming(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var start = 0
        while start < bytes.count, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
        return trimmingEnd(UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }
}

extension FieldCache.Meaning {
    /// Whether an error in this field would change the end of the body.
    package var isFraming: Bool { self == .contentLength || self == .transferEncoding }

    init(of name: HTTPField.Name) {
        switch name.canonicalName {
        case "content-length": self = .contentLength
        case "transfer-encoding": self = .transferEncoding
        case "content-encoding": self = .contentEncoding
        case "connection": self = .connection
        case "set-cookie", "set-cookie2", "location", "authentication-info", "www-authenticate",
            "proxy-authenticate":
            self = .secret
        default: self = .ordinary
        }
    }
}

/// A cache of parsed heads.
///
/// Within one second, the resolution of `Date`, a server sends the same head for the same request,
/// and comparing a head is much cheaper than parsing it. The table is direct-mapped and of fixed
/// size, like ``FieldCache``.
struct HeadCache {
    private static let slots = 32
    private static let longest = 2048

    // Two arrays: the texts are compared without a copy, and the heads are usually copied.
    private var texts = [[UInt8]](repeating: [], count: slots)
    private var heads = [HeadParser.Head?](repeating: nil, count: slots)

    /// The cached head for these bytes, if any.
    func head(in bytes: UnsafeRawBufferPointer) -> HeadParser.Head? {
        guard bytes.count <= Self.longest else { return nil }
        let slot = Self.slot(of: bytes)
        return FieldCache.isSame(texts[slot], bytes) ? heads[slot] : nil
    }

    /// Caches a head with a copy of its bytes.
    mutating func insert(_ head: HeadParser.Head, copying bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Self.longest else { return }
        let slot = Self.slot(of: bytes)
        texts[slot].removeAll(keepingCapacity: true)
        texts[slot].append(contentsOf: bytes)
        heads[slot] = head
    }

    private static func slot(of bytes: UnsafeRawBufferPointer) -> Int {
        FieldCache.hash(of: bytes) % slots
    }
}
