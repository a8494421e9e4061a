import ErrandSystem
import HTTPTypes

/// The names of the fields in rows that were read, so that a name is not checked for each row again.
///
/// The table is direct-mapped and of fixed size: a later name may replace an earlier one.
struct FieldNames {
    private struct Name {
        let bytes: [UInt8]
        let name: HTTPField.Name
    }

    private static let slots = 64
    private static let longest = 64
    private var names = [Name?](repeating: nil, count: slots)

    /// The name with these bytes; `nil` if they are not a token.
    mutating func name(_ bytes: UnsafeRawBufferPointer) -> HTTPField.Name? {
        guard let first = bytes.first, let last = bytes.last else { return nil }
        let slot = (bytes.count &* 31 ^ Int(first) &* 7 ^ Int(last)) % Self.slots
        if let known = names[slot], known.bytes.count == bytes.count,
            known.bytes.withUnsafeBytes({ Self.isEqual($0, bytes) })
        {
            return known.name
        }
        guard let name = HTTPField.Name(String(decoding: bytes, as: UTF8.self)) else { return nil }
        if bytes.count <= Self.longest { names[slot] = Name(bytes: Array(bytes), name: name) }
        return name
    }

    private static func isEqual(
        _ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer
    ) -> Bool {
        guard let left = one.baseAddress, let right = other.baseAddress else { return true }
        return memcmp(left, right, one.count) == 0
    }
}
