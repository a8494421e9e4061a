public import ErrandSystem

/// Reads certificates from PEM text (RFC 7468).
package enum PEMText {
    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"

    /// A certificate as text; one that is text already stays as it is.
    fileprivate static func text(of certificate: Data) -> String {
        if let text = String(validating: certificate, as: UTF8.self), isPossible(text) {
            return text.utf8.last == UInt8(ascii: "\n") ? text : text + "\n"
        }
        return Self.text("CERTIFICATE", certificate)
    }

    /// Whether the text may be PEM: it contains the first line of an object.
    package static func isPossible(_ text: String) -> Bool { text.contains(bytes: "-----BEGIN ") }

    /// Whether the text contains an encrypted private key (RFC 5958 §3, RFC 1421 §4.6.1.1).
    package static func isEncrypted(_ text: String) -> Bool {
        text.contains(bytes: "-----BEGIN ENCRYPTED PRIVATE KEY-----")
            || text.contains(bytes: "Proc-Type: 4,ENCRYPTED")
    }

    /// An object of DER as text, such as a private key.
    ///
    /// - Parameter label: The name of the object, as in RFC 7468 §4.
    package static func text(_ label: String, _ object: Data) -> String {
        let base64 = object.base64EncodedString(
            options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }

    /// The certificates of a file in PEM, or the certificate of a file in DER; empty if there is none.
    package static func certificates(ofFile contents: Data) -> [Data] {
        if isCertificate(contents) { return [contents] }
        return certificates(in: String(decoding: contents, as: UTF8.self))
    }

    /// Whether the bytes are a certificate in DER.
    package static func isCertificate(_ bytes: Data) -> Bool {
        bytes.first == DERReader.Tag.sequence && CertificateData(der: bytes) != nil
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

extension SecurityPolicy {
    /// The PEM text (RFC 7468) of certificates in DER, such as `.cer` and `.crt` files.
    ///
    /// For ``authorities`` and ``SecurityPolicy/Pins/certificates``, which take PEM text:
    ///
    ///     policy.authorities = SecurityPolicy.pem(certificates: [try Data(contentsOf: file)])
    ///
    /// - Parameter certificates: The bytes of the certificates; some of these files contain PEM text, which stays as
    ///   it is. The bytes are not examined: a request with a policy whose text is no certificate fails.
    public static func pem(certificates: [Data]) -> String {
        certificates.map(PEMText.text).joined()
    }
}
