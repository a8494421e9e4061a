import ErrandHTTP
import Foundation
import Testing

/// Certificates and keys in DER, which become PEM text.
@Suite("Certificates in DER")
struct DERIdentityTests {
    private func text(_ source: ClientIdentity.Source?) -> String {
        guard case .bytes(let data) = source else { return "a file" }
        return String(decoding: data, as: UTF8.self)
    }

    @Test(arguments: [
        ([0x30, 5, 2, 1, 0, 0x30, 0] as [UInt8], "PRIVATE KEY"),
        ([0x30, 4, 0x30, 0, 4, 0], "ENCRYPTED PRIVATE KEY"),
        ([0x30, 6, 2, 1, 0, 2, 1, 3], "RSA PRIVATE KEY"),
        ([0x30, 5, 2, 1, 1, 4, 0], "EC PRIVATE KEY"),
    ])
    func formOfTheKeyIsFound(key: [UInt8], label: String) throws {
        let identity = ClientIdentity.der(certificate: SampleCertificates.leaf, key: Data(key))
        let base64 = Data(key).base64EncodedString()
        #expect(
            text(identity.key) == "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n")
        #expect(PEMText.certificates(in: text(identity.certificate)) == [SampleCertificates.leaf])
        #expect(identity.password == nil && identity.form == .pem)
    }

    @Test(arguments: [
        [] as [UInt8], [0x30, 0], [0x30, 3, 2, 1, 0], [0x30, 2, 0x30, 0], [0x30, 2, 4, 0],
        [0x30, 5, 2, 1, 0, 0x30, 0, 9], Array("-----BEGIN PRIVATE KEY-----".utf8),
    ])
    func otherBytesAreRefusedAsAKey(key: [UInt8]) {
        var policy = SecurityPolicy()
        policy.clientIdentity = .der(certificate: SampleCertificates.leaf, key: Data(key))
        let error = #expect(throws: RequestError.self) {
            try policy.check(host: "example.com", isSecure: true, now: Date())
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("The key of the clientIdentity is neither PEM") == true)
    }

    @Test func otherBytesAreRefusedAsACertificate() {
        var policy = SecurityPolicy()
        policy.clientIdentity = .der(
            certificate: Data([0x30, 0]), key: Data([0x30, 5, 2, 1, 1, 4, 0]))
        let error = #expect(throws: RequestError.self) {
            try policy.check(host: "example.com", isSecure: true, now: Date())
        }
        #expect(error?.message.contains("The certificate of the clientIdentity is neither") == true)
    }

    @Test func encryptedKeyNeedsItsPassword() {
        var policy = SecurityPolicy()
        let key = Data([0x30, 4, 0x30, 0, 4, 0])
        policy.clientIdentity = .der(certificate: SampleCertificates.leaf, key: key)
        let error = #expect(throws: RequestError.self) {
            try policy.check(host: "example.com", isSecure: true, now: Date())
        }
        #expect(error?.message.contains("is encrypted") == true)
        policy.clientIdentity = .der(
            certificate: SampleCertificates.leaf, key: key, password: "secret")
        #expect(throws: Never.self) {
            try policy.check(host: "example.com", isSecure: true, now: Date())
        }
    }

    @Test func filesOfBothFormsAreRead() {
        let text = SecurityPolicy.pem(
            certificates: [SampleCertificates.leaf, SampleCertificates.root])
        #expect(PEMText.certificates(ofFile: SampleCertificates.root) == [SampleCertificates.root])
        #expect(
            PEMText.certificates(ofFile: Data(text.utf8)) == [
                SampleCertificates.leaf, SampleCertificates.root,
            ])
        #expect(PEMText.certificates(ofFile: Data([0x30, 0])).isEmpty)
        #expect(PEMText.certificates(ofFile: Data()).isEmpty)
    }
}
