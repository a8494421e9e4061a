import ErrandCore
import Foundation
import Testing

/// The table of decisions (rows TLS-1 to TLS-4), cell by cell.
@Suite("Trust: decisions")
struct TrustDecisionTests {
    enum Mode: CaseIterable, Sendable { case none, publicKey, certificate }

    private static let pin = Data(repeating: 1, count: 32).base64EncodedString()
    private static let other = Data(repeating: 2, count: 32).base64EncodedString()
    private static let pem =
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private func policy(_ mode: Mode, _ change: (inout PinnedHost) -> Void = { _ in })
        -> SecurityPolicy
    {
        var policy = SecurityPolicy()
        guard mode != .none else { return policy }
        var pinned = PinnedHost("example.com")
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
        case .accept(let mismatches): mismatches.isEmpty ? "yes" : "told"
        case .reject(.contradictory): "contradictory"
        case .reject(.untrusted): "untrusted"
        case .reject(.wrongHost): "host"
        case .reject(.notSecure): "http"
        case .reject(.pinMismatch): "pin"
        }
    }

    /// All cells: mode, invalid allowed, names checked; then for chain valid and invalid, name right and wrong, what
    /// becomes of a peer that holds what is pinned and of one that does not.
    @Test(arguments: [
        // Chain and name right, name wrong; chain invalid with name right, with name wrong: pinned/not pinned.
        (Mode.none, false, false, "yes/yes yes/yes untrusted/untrusted untrusted/untrusted"),
        (.none, false, true, "yes/yes host/host untrusted/untrusted untrusted/untrusted"),
        (.none, true, false, "yes/yes yes/yes yes/yes yes/yes"),
        (
            .none, true, true,
            "contradictory/contradictory contradictory/contradictory "
                + "contradictory/contradictory contradictory/contradictory"
        ),
        (.publicKey, false, false, "yes/pin yes/pin untrusted/untrusted untrusted/untrusted"),
        (.publicKey, false, true, "yes/pin host/host untrusted/untrusted untrusted/untrusted"),
        (.publicKey, true, false, "yes/pin yes/pin yes/pin yes/pin"),
        (.publicKey, true, true, "yes/pin host/host yes/pin host/host"),
        (.certificate, false, false, "yes/pin yes/pin untrusted/untrusted untrusted/untrusted"),
        (.certificate, false, true, "yes/pin host/host untrusted/untrusted untrusted/untrusted"),
        (.certificate, true, false, "yes/pin yes/pin yes/pin yes/pin"),
        (.certificate, true, true, "yes/pin host/host yes/pin host/host"),
    ])
    func table(mode: Mode, allowsInvalid: Bool, checksName: Bool, expected: String) {
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
    func reportOnlyTellsAndGoesOn(mode: Mode) {
        let policy = policy(mode) { $0.isReportOnly = true }
        let rules = rules(policy)
        #expect(rules.enforced.isEmpty && rules.hasPins)
        let fits = TrustDecision.decide(
            rules, evidence(valid: true, named: true, matches: true))
        #expect(fits == .accept(reporting: []))
        let misses = TrustDecision.decide(
            rules, evidence(valid: true, named: true, matches: false))
        let told = PinMismatch(host: "example.com", seen: ["leaf"], isReportOnly: true)
        #expect(misses == .accept(reporting: [told]))
        // What reports only vouches for nobody.
        let invalid = TrustDecision.decide(
            rules, evidence(valid: false, named: true, matches: true))
        #expect(invalid == .reject(.untrusted))
        var lax = policy
        lax.allowInvalidCertificates = true
        #expect(self.rules(lax).isContradictory)
    }

    @Test func reportingBesideEnforcing() {
        var policy = policy(.publicKey)
        policy.pins.append(
            PinnedHost("example.com", publicKeys: [Self.other], isReportOnly: true))
        let decision = TrustDecision.decide(
            rules(policy), evidence(valid: true, named: true, matches: true))
        #expect(name(decision) == "told")
    }

    @Test func expiredPinsLeaveTheAuthorities() {
        for allowsInvalid in [true, false] {
            var policy = policy(.publicKey) { $0.expires = Self.now }
            policy.allowInvalidCertificates = allowsInvalid
            let rules = rules(policy)
            #expect(!rules.hasPins && rules.requiresValidChain && !rules.isContradictory)
            func judged(valid: Bool) -> String {
                name(
                    TrustDecision.decide(
                        rules, evidence(valid: valid, named: true, matches: false)))
            }
            #expect(judged(valid: true) == "yes")
            #expect(judged(valid: false) == "untrusted")
        }
        let still = policy(.publicKey) { $0.expires = Self.now.addingTimeInterval(1) }
        #expect(
            name(
                TrustDecision.decide(
                    rules(still), evidence(valid: true, named: true, matches: false)))
                == "pin")
    }

    @Test func oneOfSeveralEntriesIsEnough() {
        var policy = policy(.publicKey) { $0.publicKeys = [Self.other] }
        policy.pins.append(PinnedHost("EXAMPLE.com.", certificates: [Self.pem]))
        let decision = TrustDecision.decide(
            rules(policy), evidence(valid: true, named: true, matches: true))
        #expect(name(decision) == "yes")
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
        #expect(mismatch.description.contains("example.com showed leaf"))
    }
}
