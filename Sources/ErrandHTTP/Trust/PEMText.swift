package import Foundation

/// Reads certificates from PEM text (RFC 7468).
package enum PEMText {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// Whether the text may be PEM: it contains the first line of an object.
    package static func isPossible(_ text: String) -> Bool { text.contains(bytes: "-----BEGIN ") }

    /// Whether the text contains an encrypted private key (RFC 5958 §3, RFC 1421 §4.6.1.1).
    package static func isEncrypted(_ text: String) -> Bool {
        text.contains(bytes: "-----BEGIN ENCRYPTED PRIVATE KEY-----")
            || text.contains(bytes: "Proc-Type: 4,ENCRYPTED")
    }

    /// The certificates as DER, in order; empty if there is none or if one is not valid base64.
    package static func certificates(in text: String) -> [Data] {
        var rest = text[...]
        var found: [Data] = []
        while let start = rest.firstRange(ofBytes: begin) {
            rest = rest[start.upperBound...]
            guard let stop = rest.firstRange(ofBytes: end) else { return [] }
            let base64 = rest[..<stop.lowerBound].utf8.filter { !ByteSet(" \t\r\n").contains($0) }
            guard let data = Data(base64Encoded: Data(base64)), !data.isEmpty else { return [] }
            found.append(data)
            rest = rest[stop.upperBound...]
        }
        return found
    }
}
