import ErrandHTTP
import Foundation
import Testing

/// Facts about a security policy that are found once must be those that each request would find.
@Suite("Shared security policies")
struct SharedSecurityTests {
    private static let pin = Data(repeating: 1, count: 32).base64EncodedString()
    private static let expiry = Date(timeIntervalSince1970: 1_000_000)

    private static let policies: [(name: String, policy: SecurityPolicy)] = [
        policy("default") { _ in },
        policy("insecure") { $0 = .insecureForTests },
        policy("contradictory") { $0.allowInvalidCertificates = true },
        policy("no name") { $0.validatesDomainName = false },
        policy("file") { $0.authorityFile = "/authorities.pem" },
        policy("file and text") {
            $0.authorityFile = "/authorities.pem"
            $0.authorities = "text"
        },
        policy("empty path") { $0.authorityFile = "" },
        policy("NUL in a path") { $0.clientCertificateFile = "a\0b" },
        policy("key without a certificate") { $0.clientKeyFile = "/key.pem" },
        policy("public key") { $0.publicKeyPins = [pin] },
        policy("invalid public key") { $0.publicKeyPins = ["short"] },
        policy("pinned host") { $0.pins = [SecurityPolicy.Pins("example.com", publicKeys: [pin])] },
        policy("pin that expires") {
            var host = SecurityPolicy.Pins("example.com", publicKeys: [pin])
            host.expires = expiry
            $0.pins = [host]
            $0.allowInvalidCertificates = true
        },
    ]

    private static func policy(
        _ name: String, _ change: (inout SecurityPolicy) -> Void
    ) -> (String, SecurityPolicy) {
        var policy = SecurityPolicy()
        change(&policy)
        return (name, policy)
    }

    @Test(arguments: policies.map(\.name))
    func checksAndRulesAreThoseOfThePolicy(name: String) throws {
        let policy = try #require(Self.policies.first { $0.name == name }).policy
        let shared = SharedSecurity(policy)
        for host in ["", "example.com", "example.org", "192.0.2.1"] {
            for now in [Self.expiry - 1, Self.expiry + 1] {
                for isSecure in [true, false] {
                    #expect(
                        error { try shared.check(host: host, isSecure: isSecure, now: now) }
                            == error { try policy.check(host: host, isSecure: isSecure, now: now) })
                }
                let found = shared.rules(for: host, now: now)
                let expected = TrustRules(policy, host: host, now: now)
                #expect(found.requiresValidChain == expected.requiresValidChain)
                #expect(found.requiresName == expected.requiresName)
                #expect(found.isContradictory == expected.isContradictory)
                #expect(found.enforced == expected.enforced)
                #expect(found.reported == expected.reported)
                #expect(found.host == expected.host || !expected.hasPins)
            }
        }
    }

    private func error(_ body: () throws -> Void) -> String? {
        do { try body() } catch { return "\(error)" }
        return nil
    }

    @Test func filesAreExaminedUntilAllCanBeRead() {
        var policy = SecurityPolicy()
        policy.authorityFile = "/authorities.pem"
        policy.clientCertificateFile = "/certificate.pem"
        policy.clientKeyFile = "/key.pem"
        let shared = SharedSecurity(policy)
        #expect(shared.files == ["/authorities.pem", "/certificate.pem", "/key.pem"])
        for _ in 0..<2 {
            #expect(shared.unreadableFile { $0 != "/key.pem" } == "/key.pem")
        }
        #expect(shared.unreadableFile { _ in true } == nil)
        let last = shared.unreadableFile { path in
            Issue.record("\(path) is examined again")
            return true
        }
        #expect(last == nil)
    }

    @Test func equalPoliciesAreEqual() {
        var other = SecurityPolicy()
        other.minimumVersion = .tls13
        let shared = SharedSecurity(SecurityPolicy())
        #expect(shared == shared)
        #expect(shared == SharedSecurity(SecurityPolicy()))
        #expect(shared.hashValue == SharedSecurity(SecurityPolicy()).hashValue)
        #expect(shared != SharedSecurity(other))
    }
}
