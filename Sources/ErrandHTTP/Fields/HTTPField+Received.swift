package import HTTPTypes

// Field values are bytes (RFC 9110 §5.5): new fields are ASCII, most others UTF-8, old ones ISO 8859-1. `value` replaces
// each byte that is not UTF-8 by U+FFFD, which loses it, so the readers of received fields use these properties.
extension HTTPField {
    /// The value as text: as UTF-8 if it is valid UTF-8, otherwise as ISO 8859-1.
    package var receivedText: String {
        withUnsafeBytesOfValue { bytes in
            String(validating: bytes, as: UTF8.self)
                ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
    }

    /// Whether ``receivedText`` is that of ISO 8859-1.
    package var isLatin1: Bool {
        withUnsafeBytesOfValue { String(validating: $0, as: UTF8.self) == nil }
    }

    /// The value as a URI reference (RFC 3986): bytes that are not ASCII are escaped if the value is not UTF-8.
    ///
    /// The parser of URIs would escape the UTF-8 of each character, which are other bytes.
    package var receivedReference: String {
        guard isLatin1 else { return value }
        return withUnsafeBytesOfValue { bytes in
            bytes.reduce(into: "") { text, byte in
                if byte < 0x80 {
                    text.unicodeScalars.append(Unicode.Scalar(byte))
                } else {
                    text += "%" + String(byte, radix: 16, uppercase: true)
                }
            }
        }
    }
}

extension HTTPField {
    /// The bytes of the value.
    package var bytes: [UInt8] { withUnsafeBytesOfValue { Array($0) } }

    /// The bytes of an entity tag that weak comparison compares (RFC 9110 §8.8.3.2).
    package var opaqueTag: ArraySlice<UInt8> {
        let bytes = bytes
        return bytes.starts(with: "W/".utf8) ? bytes.dropFirst(2) : bytes[...]
    }
}

extension HTTPFields {
    /// Whether the content is coded (RFC 9110 §8.4).
    package var haveContentCoding: Bool {
        guard let coding = self[.contentEncoding] else { return false }
        return !coding.isEmpty && coding.lowercasedASCII() != "identity"
    }

    /// The values of all fields with a name, as URI references.
    package func receivedReferences(_ name: HTTPField.Name) -> [String] {
        self[fields: name].map(\.receivedReference)
    }
}
