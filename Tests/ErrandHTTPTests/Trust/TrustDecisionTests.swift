import ErrandHTTP
import Foundation
import Testing

/// Trust decisions for all combinations of pins, options and evidence.
@Suite("Trust decisions")
struct TrustDecisionTests {
    enum Mode: CaseIterable, Sendable { case none, publicKey, certificate }

    private static let pin = Data(repeating: 1, count: 32).base64EncodedString()
    private static let other = Data(repeating: 2, count: 32).base64EncodedString()
    private static let pem =
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private func policy(_ mode: Mode, _ change: (inout SecurityPolicy.Pins) -> Void = { _ in })
        -> SecurityPolicy
    {
        var policy = SecurityPolicy()
        guard mode != .none else { return policy }
        var pinned = SecurityPolicy.Pins("example.com")
        if mode == .publicKey { pinned.publicKeys = [Self.other, Self.pin] }
        if mode == .certificate { pinned.certificates = [Self.pem] }
        change(&pinned)
        policy.pins = [pinned]
        return policy
    }

    private func rules(_ policy: SecurityPolicy) -> TrustRules {
        TrustRules(policy, host: "example.com", now: Self.now)
    }

    private func evidence(valid: Bool, named: Bool, matches: Bool) -> TrustDecision.Evidence {
        TrustDecision.Evidence(
            isValid: valid, isForHost: named, keys: matches ? ["leaf", Self.pin] : ["leaf"],
            reached: matches ? [Self.pem] : [])
    }

    private func name(_ decision: TrustDecision) -> String {
        switch decision {
        case .accept(let mismatches): mismatches.isEmpty ? "ok" : "reported"
        case .reject(.contradictory): "contradictory"
        case .reject(.untrusted): "untrusted"
        case .reject(.wrongHost): "host"
        case .reject(.notSecure): "http"
        case .reject(.pinMismatch): "pin"
        }
    }

    /// Each row: the pin mode, whether invalid certificates are allowed, whether the host name is checked, and the
    /// decisions.
    ///
    /// Each pair of decisions is for a peer that matches the pins and for one that does not.
    @Test(arguments: [
        // The pairs: valid chain with the right name and a wrong name; invalid chain with both.
        (Mode.none, false, false, "ok/ok ok/ok untrusted/untrusted untrusted/untrusted"),
        (.none, false, true, "ok/ok host/host untrusted/untrusted untrusted/untrusted"),
        (.none, true, false, "ok/ok ok/ok ok/ok ok/ok"),
        (
            .none, true, true,
            "contradictory/contradictory contradictory/contradictory "
                + "contradictory/contradictory contradictory/contradictory"
        ),
        (.publicKey, false, false, "ok/pin ok/pin untrusted/untrusted untrusted/untrusted"),
        (.publicKey, false, true, "ok/pin host/host untrusted/untrusted untrusted/untrusted"),
        (.publicKey, true, false, "ok/pin ok/pin ok/pin ok/pin"),
        (.publicKey, true, true, "ok/pin host/host ok/pin host/host"),
        (.certificate, false, false, "ok/pin ok/pin untrusted/untrusted untrusted/untrusted"),
        (.certificate, false, true, "ok/pin host/host untrusted/untrusted untrusted/untrusted"),
        (.certificate, true, false, "ok/pin ok/pin ok/pin ok/pin"),
        (.certificate, true, true, "ok/pin host/host ok/pin host/host"),
    ])
    func decisionTable(mode: Mode, allowsInvalid: Bool, checksName: Bool, expected: String) {
        var policy = policy(mode)
        policy.allowInvalidCertificates = allowsInvalid
        policy.validatesDomainName = checksName
        let rules = rules(policy)
        var cells: [String] = []
        for valid in [true, false] {
            for named in [true, false] {
                let pair = [true, false].map { matches in
                    name(
                        TrustDecision.decide(
                            rules, evidence(valid: valid, named: named, matches: matches)))
                }
                cells.append(pair.joined(separator: "/"))
            }
        }
        #expect(cells.joined(separator: " ") == expected)
    }

    @Test(arguments: [Mode.publicKey, .certificate])
    func reportOnlyPinsReportAndAccept(mode: Mode) {
        let policy = policy(mode) { $0.isReportOnly = true }
        let rules = rules(policy)
        #expect(rules.enforced.isEmpty && rules.hasPins)
        let matching = TrustDecision.decide(
            rules, evidence(valid: true, named: true, matches: true))
        #expect(matching == .accept(reporting: []))
        let mismatching = TrustDecision.decide(
            rules, evidence(valid: true, named: true, matches: false))
        let mismatch = PinMismatch(host: "example.com", seen: ["leaf"], isReportOnly: true)
        #expect(mismatching == .accept(reporting: [mismatch]))
        // Report-only pins do not replace a valid chain.
        let invalid = TrustDecision.decide(
            rules, evidence(valid: false, named: true, matches: true))
        #expect(invalid == .reject(.untrusted))
        var lax = policy
        lax.allowInvalidCertificates = true
        #expect(self.rules(lax).isContradictory)
    }

    @Test func reportOnlyPinsBesideEnforcedPins() {
        var policy = policy(.publicKey)
        policy.pins.append(
            SecurityPolicy.Pins("example.com", publicKeys: [Self.other], isReportOnly: true))
        let decision = TrustDecision.decide(
            rules(policy), evidence(valid: true, named: true, matches: true))
        #expect(name(decision) == "reported")
    }

    @Test func expiredPinsFallBackToTheAuthorities() {
        for allowsInvalid in [true, false] {
            var policy = policy(.publicKey) { $0.expires = Self.now }
            policy.allowInvalidCertificates = allowsInvalid
            let rules = rules(policy)
            #expect(!rules.hasPins && rules.requiresValidChain && !rules.isContradictory)
            func decision(valid: Bool) -> String {
                name(
                    TrustDecision.decide(
                        rules, evidence(valid: valid, named: true, matches: false)))
            }
            #expect(decision(valid: true) == "ok")
            #expect(decision(valid: false) == "untrusted")
        }
        let notExpired = policy(.publicKey) { $0.expires = Self.now.addingTimeInterval(1) }
        #expect(
            name(
                TrustDecision.decide(
                    rules(notExpired), evidence(valid: true, named: true, matches: false)))
                == "pin")
    }

    @Test func oneMatchingEntryIsEnough() {
        var policy = policy(.publicKey) { $0.publicKeys = [Self.other] }
        policy.pins.append(SecurityPolicy.Pins("EXAMPLE.com.", certificates: [Self.pem]))
        let decision = TrustDecision.decide(
            rules(policy), evidence(valid: true, named: true, matches: true))
        #expect(name(decision) == "ok")
    }

    @Test func mismatchNamesHostAndKeys() {
        let decision = TrustDecision.decide(
            rules(policy(.publicKey)), evidence(valid: true, named: true, matches: false))
        guard case .reject(.pinMismatch(let mismatch)) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(mismatch.host == "example.com" && mismatch.seen == ["leaf"])
        #expect(!mismatch.isReportOnly)
        #expect(mismatch.description.contains("example.com presented leaf"))
    }
}
