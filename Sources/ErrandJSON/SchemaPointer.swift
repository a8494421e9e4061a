/// A reference of a schema: a JSON pointer in a fragment (RFC 6901 §6).
struct SchemaPointer {
    let keys: [String]

    /// Parses a reference; `nil` if it is none of the same document.
    init?(_ reference: String) {
        guard reference.utf8.first == UInt8(ascii: "#") else { return nil }
        let pointer = Self.decoded(reference.utf8.dropFirst())
        guard !pointer.isEmpty else {
            keys = []
            return
        }
        guard pointer[0] == UInt8(ascii: "/") else { return nil }
        keys = pointer.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .dropFirst().map { Self.unescaped($0) }
    }

    private static func decoded(_ bytes: Substring.UTF8View) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(Substring(digits)), radix: 16)
            {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func unescaped(_ key: ArraySlice<UInt8>) -> String {
        var result: [UInt8] = []
        var rest = key
        while let byte = rest.popFirst() {
            let next = rest.first
            if byte == UInt8(ascii: "~"), next == UInt8(ascii: "0") || next == UInt8(ascii: "1") {
                rest.removeFirst()
                result.append(next == UInt8(ascii: "0") ? byte : UInt8(ascii: "/"))
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The last key; `nil` for the whole document.
    var name: String? { keys.last }

    /// The place as a path.
    var path: ShapePath { keys.reduce(ShapePath()) { $0.appending(.key($1)) } }

    /// The member or the item of a key; absent if there is none.
    static func child(_ key: String, of value: JSON) -> JSON {
        value.kind == .array ? Int(key).map { value[$0] } ?? .absent : value[key]
    }
}
