import ErrandHTTP
import Foundation
import Testing

/// The pins of each host, and policies that are rejected before a request is sent.
@Suite("Security policies")
struct SecurityPolicyTests {
    private static let pin = Data(repeating: 1, count: 32).base64EncodedString()
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    @Test(arguments: [
        ("example.com", "exact"), ("EXAMPLE.com", "exact"), ("example.com.", "exact"),
        ("a.example.com", "below"), ("x.a.example.com", "below"), ("b.example.com", "b"),
        ("x.b.example.com", "below"), ("badexample.com", "all"), ("example.com.evil.net", "all"),
        ("com", "all"), ("10.0.0.1", "address"), ("1.10.0.0.1", "all"),
    ])
    func mostSpecificPinsApply(host: String, expected: String) {
        var policy = SecurityPolicy()
        policy.publicKeyPins = ["all"]
        policy.pins = [
            SecurityPolicy.Pins("example.com", publicKeys: ["exact"]),
            SecurityPolicy.Pins("Example.Com", includesSubdomains: true, publicKeys: ["below"]),
            SecurityPolicy.Pins("b.example.com", publicKeys: ["b"]),
            SecurityPolicy.Pins("10.0.0.1", includesSubdomains: true, publicKeys: ["address"]),
        ]
        let rules = TrustRules(policy, host: host, now: Self.now)
        #expect(rules.enforced.contains { $0.publicKeys == [expected] }, "\(rules.enforced)")
        let isBelow = host.lowercased().hasPrefix("example.com") && expected == "exact"
        #expect(rules.enforced.count == (isBelow ? 2 : 1))
    }

    @Test(arguments: [
        ("bücher.de", "xn--bcher-kva.de"), ("BÜCHER.de", "xn--bcher-kva.de"), ("::1", "[::1]"),
        ("[::1]", "[::1]"), ("2001:DB8::7", "[2001:db8::7]"), ("10.0.0.1", "10.0.0.1"),
        ("10.1", "10.0.0.1"), ("0xa.1", "10.0.0.1"), ("2001:db8:0:0:0:0:0:7", "[2001:db8::7]"),
    ])
    func pinnedHostsAreNormalized(pinned: String, host: String) throws {
        var policy = SecurityPolicy()
        policy.pins = [SecurityPolicy.Pins(pinned, publicKeys: [Self.pin])]
        try policy.check(host: host, isSecure: true, now: Self.now)
        #expect(TrustRules(policy, host: host, now: Self.now).enforced.count == 1)
    }

    @Test(arguments: [
        "example.com:8443", "[::1]:443", "user@example.com", "example.com/path", "example.com?q",
        "example.com#f", "a b.com", "exa%20mple.com", "example.com:",
    ])
    func invalidPinnedHostsAreRejected(pinned: String) {
        #expect(
            refusal { $0.pins = [SecurityPolicy.Pins(pinned, publicKeys: [Self.pin])] }?.code
                == .invalidConfiguration)
    }

    @Test(arguments: ["127.1", "0x7f.1", "2130706433", "127。1", "127.0.0.1."])
    func pinsApplyToAddressesInAnySpelling(spelling: String) throws {
        var policy = SecurityPolicy()
        policy.pins = [SecurityPolicy.Pins("127.0.0.1", publicKeys: [Self.pin])]
        let host = try #require(try HTTPURL(parsing: "http://\(spelling)/").host)
        #expect(TrustRules(policy, host: host, now: Self.now).enforced.count == 1)
        let error = #expect(throws: RequestError.self) {
            try policy.check(host: host, isSecure: false, now: Self.now)
        }
        #expect(error?.message.contains("not https") == true)
    }

    @Test func expiredPinsOfAHostDoNotFallBackToGeneralPins() {
        var policy = SecurityPolicy()
        policy.publicKeyPins = [Self.pin]
        policy.pins = [
            SecurityPolicy.Pins("example.com", publicKeys: [Self.pin], expires: Self.now)
        ]
        #expect(!TrustRules(policy, host: "example.com", now: Self.now).hasPins)
    }

    @Test func nothingIsPinnedByDefault() {
        let rules = TrustRules(SecurityPolicy(), host: "example.com", now: Self.now)
        #expect(!rules.hasPins && rules.requiresName && rules.requiresValidChain)
        let open = TrustRules(.insecureForTests, host: "example.com", now: Self.now)
        #expect(!open.requiresName && !open.requiresValidChain && !open.isContradictory)
    }

    private func refusal(
        host: String = "example.com", isSecure: Bool = true,
        _ change: (inout SecurityPolicy) -> Void
    ) -> RequestError? {
        var policy = SecurityPolicy()
        change(&policy)
        do throws(RequestError) {
            try policy.check(host: host, isSecure: isSecure, now: Self.now)
            return nil
        } catch {
            return error
        }
    }

    private static let certificate = "-----BEGIN CERTIFICATE-----\n"
    private static let lockedKey = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"

    @Test func pathsInPlaceOfTextNameTheOtherInitializer() {
        let path = refusal { $0.clientIdentity = .pem(certificate: "/a.pem", key: "/a.key") }
        #expect(path?.message.contains(".pem(certificateFile:keyFile:password:)") == true)
        let authorities = refusal { $0.authorities = "/a.pem" }
        #expect(authorities?.message.contains("authorityFile") == true)
        let locked = refusal {
            $0.clientIdentity = .pem(certificate: Self.certificate, key: Self.lockedKey)
        }
        #expect(locked?.message.contains("Pass its password") == true)
        #expect(
            refusal {
                $0.clientIdentity = .pem(
                    certificate: Self.certificate, key: Self.lockedKey, password: "s")
            } == nil)
    }

    @Test func invalidPoliciesAreRejected() {
        let bad: [(inout SecurityPolicy) -> Void] = [
            { $0.publicKeyPins = ["nonsense"] },
            { $0.pins = [SecurityPolicy.Pins("example.com")] },
            { $0.pins = [SecurityPolicy.Pins("", publicKeys: [Self.pin])] },
            { $0.pins = [SecurityPolicy.Pins("*.example.com", publicKeys: [Self.pin])] },
            { $0.pins = [SecurityPolicy.Pins("https://example.com/", publicKeys: [Self.pin])] },
            { $0.pins = [SecurityPolicy.Pins("example.com", publicKeys: ["short"])] },
            { $0.pins = [SecurityPolicy.Pins("example.com", certificates: ["no PEM"])] },
            {
                $0.pins = [
                    SecurityPolicy.Pins("co.uk", includesSubdomains: true, publicKeys: [Self.pin])
                ]
            },
            {
                $0.pins = [
                    SecurityPolicy.Pins("com", includesSubdomains: true, publicKeys: [Self.pin])
                ]
            },
            { $0.allowInvalidCertificates = true },
            {
                $0.clientIdentity = .pkcs12(file: "a", password: "b")
                $0.clientCertificateFile = "c"
            },
            {
                $0.authorities = "PEM"
                $0.authorityFile = "c"
            },
            { $0.authorityFile = "" },
            { $0.authorityFile = "a\0b" },
            { $0.clientCertificateFile = "a\0b" },
            { $0.clientIdentity = .pkcs12(file: "a\0b", password: "c") },
            { $0.clientIdentity = .pkcs12(file: "a", password: "b\0c") },
            { $0.clientIdentity = .pem(certificate: "/etc/client.pem", key: Self.lockedKey) },
            { $0.clientIdentity = .pem(certificate: Self.certificate, key: "client.key") },
            { $0.clientIdentity = .pem(certificate: Self.certificate, key: Self.lockedKey) },
            { $0.authorities = "/etc/root.pem" },
        ]
        for (index, change) in bad.enumerated() {
            let error = refusal(change)
            #expect(error?.code == .invalidConfiguration, "case \(index)")
            #expect(error?.stage == .build)
        }
        #expect(refusal { $0 = .insecureForTests } == nil)
        #expect(refusal { $0.publicKeyPins = [Self.pin] } == nil)
        #expect(
            refusal {
                $0.publicKeyPins = [Self.pin]
                $0.allowInvalidCertificates = true
            } == nil)
    }

    /// No request is sent to a pinned host without TLS.
    @Test func pinnedHostsRequireTLS() {
        let pinned: (inout SecurityPolicy) -> Void = {
            $0.pins = [SecurityPolicy.Pins("example.com", publicKeys: [Self.pin])]
        }
        #expect(refusal(isSecure: false, pinned)?.code == .invalidConfiguration)
        #expect(refusal(host: "other.com", isSecure: false, pinned) == nil)
        #expect(
            refusal(isSecure: false) { $0.publicKeyPins = [Self.pin] }?.code
                == .invalidConfiguration)
        #expect(
            refusal(isSecure: false) {
                $0.pins = [
                    SecurityPolicy.Pins("example.com", publicKeys: [Self.pin], isReportOnly: true)
                ]
            } == nil)
        // Certificate options have no effect without TLS.
        #expect(refusal(isSecure: false) { $0.allowInvalidCertificates = true } == nil)
    }

    @Test func pemCertificatesAreParsed() {
        let one = "-----BEGIN CERTIFICATE-----\nAAEC\r\nAwQ=\n-----END CERTIFICATE-----\n"
        #expect(PEMText.certificates(in: one) == [Data([0, 1, 2, 3, 4])])
        #expect(PEMText.certificates(in: "text\n" + one + "between\n" + one).count == 2)
        #expect(PEMText.certificates(in: "") == [])
        for count in [1, 47, 48, 49, 1_000] {
            let certificate = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) })
            let text = SecurityPolicy.pem(certificates: [certificate, Data([0x30, 0xFF])])
            #expect(PEMText.certificates(in: text) == [certificate, Data([0x30, 0xFF])])
            #expect(text.split(separator: "\n").allSatisfy { $0.utf8.count <= 64 })
            // Text stays text, also without a line end.
            let lines = Data(text.utf8.dropLast())
            #expect(SecurityPolicy.pem(certificates: [lines]) == text)
        }
        #expect(PEMText.certificates(in: "-----BEGIN CERTIFICATE-----\nAAEC") == [])
        #expect(
            PEMText.certificates(
                in: "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----") == [])
    }

    @Test func descriptionsContainNoSecrets() {
        var policy = SecurityPolicy()
        let all: [ClientIdentity] = [
            .pkcs12(file: "/a.p12", password: "s3cret"), .pkcs12(Data([1]), password: "s3cret"),
            .pem(certificateFile: "/a.pem", keyFile: "/b.pem", password: "s3cret"),
            .pem(certificate: "a", key: "s3cret", password: "s3cret"),
        ]
        for identity in all {
            policy.clientIdentity = identity
            var dumped = ""
            dump(policy, to: &dumped)
            let texts = [dumped, "\(policy)", String(reflecting: policy), "\(identity)"]
            #expect(!texts.contains { $0.contains("s3cret") }, "\(texts)")
        }
        #expect(all[2].files == ["/a.pem", "/b.pem"])
    }
}
