import ErrandSystem

/// Helpers that the authenticators share.
package enum Credentials {
    package static func unusable(_ message: String) -> RequestError {
        RequestError(.authenticationFailed, stage: .adapt, "\(message) Nothing was sent.")
    }

    package static func basic(user: String, password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// Differs in each process, so that keys of stored responses reveal no password, not even to a
    /// search for passwords that have the digest.
    private static let salt = UUID().uuidString

    /// Identifies a user by name and password, in this process.
    package static func identity(user: String, password: String) -> String {
        SHA256.hex(Data("\(salt)\(user.utf8.count):\(user)\(password)".utf8))
    }

    /// Whether one of the texts contains control characters, which `Basic` forbids (RFC 7617 §2).
    package static func containControlCharacters(_ texts: String...) -> Bool {
        texts.contains { $0.utf8.contains { $0 < 0x20 || $0 == 0x7f } }
    }

    /// The text with every character percent-encoded except unreserved ones (RFC 3986 §2.3).
    package static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text as a quoted string (RFC 9110 §5.6.4); `nil` if it contains control characters.
    package static func quoted(_ text: String) -> String? {
        guard !text.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7f }) else {
            return nil
        }
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                bytes.append(UInt8(ascii: "\\"))
            }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }
}
