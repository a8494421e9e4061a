import ErrandHTTP
import Foundation
import Testing

/// The key and the names of certificates, compared with those of openssl.
@Suite("Contents of certificates")
struct CertificateDataTests {
    private func certificate(_ der: Data) throws -> CertificateData {
        try #require(CertificateData(der: der))
    }

    @Test func pinsAreThoseOfOpenSSL() throws {
        #expect(try certificate(SampleCertificates.root).pin == SampleCertificates.rootPin)
        #expect(try certificate(SampleCertificates.leaf).pin == SampleCertificates.leafPin)
        #expect(try certificate(SampleCertificates.plain).pin == SampleCertificates.plainPin)
    }

    @Test func namesAreThoseOfTheExtension() throws {
        #expect(
            try certificate(SampleCertificates.leaf).names == [
                .dns("Example.com"), .dns("*.wild.example.com"), .dns("*.com"),
                .dns("a*.example.net"), .address([192, 0, 2, 7]),
                .address([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]),
            ])
        #expect(try certificate(SampleCertificates.root).names.isEmpty)
        #expect(try certificate(SampleCertificates.plain).names.isEmpty)
    }

    @Test(arguments: [
        "example.com", "a.wild.example.com", "192.0.2.7", "[2001:db8::7]", "2001:db8::7",
    ])
    func hostIsNamed(host: String) throws {
        #expect(try certificate(SampleCertificates.leaf).isIssued(for: host))
    }

    @Test(arguments: [
        "", "www.example.com", "wild.example.com", "a.b.wild.example.com", ".wild.example.com",
        // A wildcard stands for a complete label, and not for the label below a top-level domain.
        "other.com", "ab.example.net", "a*.example.net", "*.com",
        // The common name of the subject, and the address of mail.
        "subject.example.org", "a@example.com",
        "192.0.2.8", "[2001:db8::8]", "[::ffff:192.0.2.7]",
    ])
    func hostIsNotNamed(host: String) throws {
        #expect(try !certificate(SampleCertificates.leaf).isIssued(for: host))
    }

    @Test func certificateWithoutNamesIsForNoHost() throws {
        #expect(try !certificate(SampleCertificates.plain).isIssued(for: "plain.example.org"))
    }

    /// Bytes of a server must not end the process.
    @Test func truncatedCertificatesAreNone() {
        for der in [SampleCertificates.leaf, SampleCertificates.plain] {
            for count in 0..<der.count { #expect(CertificateData(der: der.prefix(count)) == nil) }
            #expect(CertificateData(der: der + [0]) == nil)
            // A slice has other indices.
            #expect(CertificateData(der: ([1, 2] + der).dropFirst(2)) != nil)
        }
    }

    @Test func changedBytesNeverTrap() {
        var pins: Set<String?> = []
        for index in SampleCertificates.leaf.indices {
            for value in [0x00, 0x30, 0x7f, 0x84, 0xff] as [UInt8] {
                var der = SampleCertificates.leaf
                der[index] = value
                let found = CertificateData(der: der)
                pins.insert(found?.pin)
                _ = found?.isIssued(for: "example.com")
            }
        }
        #expect(pins.contains(nil) && pins.contains(SampleCertificates.leafPin))
    }

    @Test(arguments: [
        // A length of five bytes, an indefinite length, a tag of several bytes, a length beyond the end.
        [0x30, 0x85, 0, 0, 0, 0, 1, 0] as [UInt8], [0x30, 0x80, 0, 0], [0x1f, 0x81, 1, 0],
        [0x04, 2, 0], [0x04], [],
    ])
    func invalidValuesAreNone(bytes: [UInt8]) {
        var reader = DERReader(bytes[...])
        #expect(reader.next() == nil)
    }

    @Test func valuesAreReadInOrder() {
        var reader = DERReader([0x02, 1, 5, 0x04, 0x81, 2, 7, 8])
        #expect(reader.next(0x04) == nil)
        let first = reader.next(0x02)
        #expect(first?.contents == [5] && first?.bytes == [0x02, 1, 5])
        #expect(reader.nextTag == 0x04 && !reader.isAtEnd)
        #expect(reader.next()?.contents == [7, 8])
        #expect(reader.isAtEnd && reader.next() == nil)
    }
}
