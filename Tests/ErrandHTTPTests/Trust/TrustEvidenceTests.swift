import ErrandHTTP
import Foundation
import Testing

/// Decisions about certificate chains, as a transport on Apple platforms makes them.
@Suite("Evidence of certificate chains")
struct TrustEvidenceTests {
    private typealias Findings = TrustDecision.Evidence.Findings

    private static let chain = [SampleCertificates.leaf, SampleCertificates.root]
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// The decision about a chain for a host.
    private func decision(
        _ policy: SecurityPolicy, host: String = "example.com", chain: [Data] = chain,
        isValid: Bool = true, isForHost: Bool? = true
    ) -> TrustDecision {
        let rules = TrustRules(policy, host: host, now: Self.now)
        let findings = Findings(chain: chain, isValid: isValid, isForHost: isForHost)
        let evidence = TrustDecision.Evidence(findings, rules, host: host) { pinned in
            // As a library that verifies: the chain leads to a certificate that it contains.
            isValid && !pinned.filter(chain.contains).isEmpty
        }
        return TrustDecision.decide(rules, evidence)
    }

    private func pinned(
        _ keys: [String] = [], certificates: [Data] = [],
        _ change: (inout SecurityPolicy) -> Void = { _ in }
    ) -> SecurityPolicy {
        var policy = SecurityPolicy()
        policy.pins = [
            SecurityPolicy.Pins(
                "example.com", publicKeys: keys,
                certificates: certificates.map { SecurityPolicy.pem(certificates: [$0]) })
        ]
        change(&policy)
        return policy
    }

    private func mismatch(
        _ seen: String..., isReportOnly: Bool = false
    ) -> PinMismatch {
        PinMismatch(host: "example.com", seen: seen, isReportOnly: isReportOnly)
    }

    @Test(arguments: [SampleCertificates.leafPin, SampleCertificates.rootPin])
    func everyKeyOfAVerifiedChainCounts(key: String) {
        #expect(decision(pinned([SampleCertificates.plainPin, key])) == .accept(reporting: []))
    }

    @Test func anotherKeyIsAMismatch() {
        let expected = mismatch(SampleCertificates.leafPin, SampleCertificates.rootPin)
        #expect(
            decision(pinned([SampleCertificates.plainPin])) == .reject(.pinMismatch(expected)))
    }

    @Test func mismatchOfAReportedPinIsAccepted() {
        let policy = pinned([SampleCertificates.plainPin]) { $0.pins[0].isReportOnly = true }
        let expected = mismatch(
            SampleCertificates.leafPin, SampleCertificates.rootPin, isReportOnly: true)
        #expect(decision(policy) == .accept(reporting: [expected]))
    }

    /// A server can append every certificate to its own.
    @Test func onlyTheOwnKeyOfAnUnverifiedChainCounts() {
        let allow: (inout SecurityPolicy) -> Void = { $0.allowInvalidCertificates = true }
        let root = pinned([SampleCertificates.rootPin], allow)
        for isValid in [true, false] {
            #expect(
                decision(root, isValid: isValid, isForHost: nil)
                    == .reject(.pinMismatch(mismatch(SampleCertificates.leafPin))))
        }
        let leaf = pinned([SampleCertificates.leafPin], allow)
        #expect(decision(leaf, isValid: false, isForHost: nil) == .accept(reporting: []))
    }

    @Test func namesOfAnUnverifiedChainAreThoseOfTheCertificate() {
        let policy = pinned([SampleCertificates.plainPin]) {
            $0.allowInvalidCertificates = true
            $0.pins[0].host = "plain.example.org"
        }
        let plain = [SampleCertificates.plain]
        #expect(
            decision(
                policy, host: "plain.example.org", chain: plain, isValid: false, isForHost: nil)
                == .reject(.wrongHost))
        var unnamed = policy
        unnamed.validatesDomainName = false
        #expect(
            decision(
                unnamed, host: "plain.example.org", chain: plain, isValid: false, isForHost: nil)
                == .accept(reporting: []))
    }

    /// The library's verdict about the name comes first: it also knows the names that authorities exclude.
    @Test func verdictOfTheLibraryCountsBeforeTheNames() {
        #expect(decision(SecurityPolicy(), isForHost: false) == .reject(.wrongHost))
        #expect(decision(SecurityPolicy()) == .accept(reporting: []))
        #expect(
            decision(SecurityPolicy(), isValid: false, isForHost: nil) == .reject(.untrusted))
    }

    @Test func chainToAPinnedCertificateIsAccepted() {
        #expect(
            decision(pinned(certificates: [SampleCertificates.plain, SampleCertificates.root]))
                == .accept(reporting: []))
        let other = decision(pinned(certificates: [SampleCertificates.plain]))
        #expect(
            other
                == .reject(
                    .pinMismatch(mismatch(SampleCertificates.leafPin, SampleCertificates.rootPin))))
    }

    @Test func bytesThatAreNoCertificateMatchNothing() {
        let policy = pinned([SampleCertificates.leafPin]) { $0.allowInvalidCertificates = true }
        let decision = decision(policy, chain: [Data([1, 2, 3])], isValid: false, isForHost: nil)
        #expect(decision == .reject(.wrongHost))
        #expect(
            self.decision(pinned([SampleCertificates.leafPin]), chain: [])
                == .reject(.pinMismatch(mismatch())))
    }

    @Test func errorsNameHostAndKeys() {
        let rejected = TrustDecision.Reason.untrusted.error(host: "example.com")
        #expect(rejected.code == .certificateRejected && rejected.message.contains("example.com"))
        let error = TrustDecision.Reason.pinMismatch(mismatch("key")).error(host: "example.com")
        #expect(error.code == .pinMismatch && error.underlying as? PinMismatch == mismatch("key"))
    }
}
