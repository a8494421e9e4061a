package import Foundation

/// Reads certificates from PEM text (RFC 7468).
package enum PEMText {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// The certificates as DER, in order; empty if there is none or if one is not valid base64.
    package static func certificates(in text: String) -> [Data] {
        var rest = text[...]
        var found: [Data] = []
        while let start = rest.range(of: begin) {
            rest = rest[start.upperBound...]
            guard let stop = rest.range(of: end) else { return [] }
            let base64 = rest[..<stop.lowerBound].filter { !$0.isWhitespace }
            guard let data = Data(base64Encoded: base64), !data.isEmpty else { return [] }
            found.append(data)
            rest = rest[stop.upperBound...]
        }
        return found
    }
}
