package import HTTPTypes

/// The options of the `Connection` fields of a message that concern its connection (RFC 9110
/// §7.6.1).
package struct ConnectionOptions: Sendable, Hashable {
    /// Whether the sender closes the connection after this message.
    package private(set) var hasClose = false
    /// Whether an HTTP/1.0 sender keeps the connection.
    package private(set) var hasKeepAlive = false

    package init() {}

    /// Adds the options of a `Connection` field.
    package mutating func add(_ field: HTTPField) {
        field.withUnsafeBytesOfValue { bytes in
            var start = 0
            while start < bytes.count {
                let comma = bytes[start...].firstIndex(of: UInt8(ascii: ",")) ?? bytes.count
                add(token: Self.trimmed(bytes[start..<comma]))
                start = comma + 1
            }
        }
    }

    private mutating func add(token: Slice<UnsafeBufferPointer<UInt8>>) {
        if Self.isEqual(token, "close") {
            hasClose = true
        } else if Self.isEqual(token, "keep-alive") {
            hasKeepAlive = true
        }
    }

    /// The token without the white space around it.
    private static func trimmed(
        _ token: Slice<UnsafeBufferPointer<UInt8>>
    ) -> Slice<UnsafeBufferPointer<UInt8>> {
        var token = token
        while let first = token.first, first == 0x20 || first == 0x09 { token.removeFirst() }
        while let last = token.last, last == 0x20 || last == 0x09 { token.removeLast() }
        return token
    }

    /// Compares without regard to the case of ASCII letters; `name` is in lower case.
    private static func isEqual(
        _ token: Slice<UnsafeBufferPointer<UInt8>>, _ name: StaticString
    ) -> Bool {
        name.withUTF8Buffer { name in
            token.count == name.count
                && zip(token, name).allSatisfy { one, other in
                    one == other || (0x41...0x5A).contains(one) && one | 0x20 == other
                }
        }
    }
}
