import ErrandSystem

/// The form of a private key; the raw value is its label in PEM (RFC 7468 §10 and §11, RFC 5915 §4).
enum PrivateKeyForm: String {
    case pkcs8 = "PRIVATE KEY"
    case encrypted = "ENCRYPTED PRIVATE KEY"
    case rsa = "RSA PRIVATE KEY"
    case ec = "EC PRIVATE KEY"

    /// Finds the form of a key in DER; `nil` if the bytes are no private key.
    init?(der: Data) {
        var outer = DERReader(ArraySlice(der))
        guard var key = outer.sequence(), outer.isAtEnd else { return nil }
        // EncryptedPrivateKeyInfo: the algorithm, and octets.
        if key.nextTag == DERReader.Tag.sequence {
            guard key.next() != nil, key.next(DERReader.Tag.octets) != nil else { return nil }
            self = .encrypted
            return
        }
        // All others begin with a version.
        guard key.next(DERReader.Tag.integer) != nil else { return nil }
        switch key.nextTag {
        case DERReader.Tag.sequence: self = .pkcs8
        case DERReader.Tag.octets: self = .ec
        case DERReader.Tag.integer: self = .rsa
        default: return nil
        }
    }
}
