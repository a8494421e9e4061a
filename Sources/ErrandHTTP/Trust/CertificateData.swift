package import ErrandSystem

/// The parts of a certificate (RFC 5280 §4.1) that trust decisions use, read from its DER.
///
/// It verifies nothing: the transport's TLS library does.
package struct CertificateData: Sendable, Hashable {
    /// A name of the subjectAltName extension (RFC 5280 §4.2.1.6).
    package enum Name: Sendable, Hashable {
        case dns(String)
        /// An IPv4 address of 4 bytes, or an IPv6 address of 16.
        case address([UInt8])
    }

    /// The SubjectPublicKeyInfo (DER).
    package let publicKey: Data
    /// The DNS names and addresses for which it was issued.
    package let names: [Name]

    /// Reads a certificate; `nil` if the bytes are no certificate in DER.
    package init?(der: Data) {
        var outer = DERReader(ArraySlice(der))
        guard var certificate = outer.sequence(), outer.isAtEnd, var body = certificate.sequence()
        else { return nil }
        // [0] version, serialNumber, signature, issuer, validity, subject
        _ = body.next(0xa0)
        guard body.next(DERReader.Tag.integer) != nil, body.sequence() != nil,
            body.sequence() != nil, body.sequence() != nil, body.sequence() != nil,
            let key = body.next(DERReader.Tag.sequence)
        else { return nil }
        publicKey = Data(key.bytes)
        // [1] issuerUniqueID, [2] subjectUniqueID, [3] extensions
        while let tag = body.nextTag, tag != 0xa3 {
            guard body.next() != nil else { return nil }
        }
        guard let wrapped = body.next(0xa3) else {
            names = []
            return
        }
        var wrapper = DERReader(wrapped.contents)
        guard var extensions = wrapper.sequence() else { return nil }
        var names: [Name] = []
        while !extensions.isAtEnd {
            guard var item = extensions.sequence(),
                let identifier = item.next(DERReader.Tag.identifier)
            else { return nil }
            _ = item.next(DERReader.Tag.boolean)
            guard let value = item.next(DERReader.Tag.octets) else { return nil }
            guard identifier.contents.elementsEqual(Self.subjectAltName) else { continue }
            guard let found = Self.names(in: value.contents) else { return nil }
            names += found
        }
        self.names = names
    }

    /// The identifier 2.5.29.17.
    private static let subjectAltName: [UInt8] = [0x55, 0x1d, 0x11]

    private static func names(in bytes: ArraySlice<UInt8>) -> [Name]? {
        var outer = DERReader(bytes)
        guard var list = outer.sequence() else { return nil }
        var names: [Name] = []
        while !list.isAtEnd {
            guard let name = list.next() else { return nil }
            switch name.tag {
            case 0x82: names.append(.dns(String(decoding: name.contents, as: UTF8.self)))
            case 0x87: names.append(.address(Array(name.contents)))
            default: break
            }
        }
        return names
    }

    /// The SHA-256 digest of the public key in base64, as pins have it.
    package var pin: String {
        var hash = SHA256()
        hash.update(publicKey)
        return Data(hash.finalize()).base64EncodedString()
    }

    /// Whether it was issued for a host, by its subjectAltName (RFC 9110 §4.3.4, RFC 9525 §6).
    ///
    /// A wildcard is a complete label, the first one, and stands for one label; two labels follow it. The common name of
    /// the subject does not count.
    ///
    /// - Parameter host: A host in canonical form, as in ``TrustRules/host``.
    package func isIssued(for host: String) -> Bool {
        if let address = Self.address(host) { return names.contains(.address(address)) }
        return names.contains { name in
            guard case .dns(let pattern) = name else { return false }
            let known = HostName.withoutTrailingDot(pattern).lowercasedASCII()
            guard known.contains(byte: "*") else {
                return !host.isEmpty && known.hasSameBytes(as: host)
            }
            guard let domain = known.dropping(prefix: "*."), domain.contains(byte: "."),
                let dot = host.firstIndex(ofByte: "."), dot != host.startIndex
            else { return false }
            return host[host.utf8.index(after: dot)...].hasSameBytes(as: domain)
        }
    }

    /// The bytes of an address; `nil` for a name.
    private static func address(_ host: String) -> [UInt8]? {
        if let address = IPv4Literal.dottedDecimal(host.utf8) {
            return withUnsafeBytes(of: address.bigEndian) { Array($0) }
        }
        let inner = host.dropping(prefix: "[")?.dropping(suffix: "]") ?? host[...]
        return IPv6Literal.bytes(of: inner.utf8)
    }
}
