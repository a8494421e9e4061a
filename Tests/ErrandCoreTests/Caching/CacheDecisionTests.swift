import ErrandCore
import Foundation
import Testing

/// Decisions of `CacheRules` by age, version, identity and policy.
@Suite struct CacheDecisionTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private static func entry(
        age: Double, version: Int = 0, app: String? = nil, identity: String? = nil
    ) -> StoredResponse {
        StoredResponse(
            status: 200, headers: [:], body: Data(), url: "http://a/",
            storedAt: now.addingTimeInterval(-age), cacheVersion: version, appVersion: app,
            identity: identity)
    }

    struct AgeRow: Sendable {
        var seconds: Int
        var age: Double
        var expected: CacheDecision
        init(_ seconds: Int, _ age: Double, _ expected: CacheDecision) {
            (self.seconds, self.age, self.expected) = (seconds, age, expected)
        }
    }

    @Test(
        "Decision by cache time and age",
        arguments: [
            AgeRow(-1, 0, .miss(.invalidCacheTime)), AgeRow(.min, 5, .miss(.invalidCacheTime)),
            AgeRow(0, 0, .miss(.invalidCacheTime)), AgeRow(0, 1, .miss(.invalidCacheTime)),
            AgeRow(180, 0, .hit(age: .zero)), AgeRow(180, 179.5, .hit(age: .seconds(179.5))),
            AgeRow(180, 180, .hit(age: .seconds(180))), AgeRow(180, 180.001, .miss(.expired)),
            AgeRow(180, -0.001, .miss(.expired)), AgeRow(180, -1e9, .miss(.expired)),
            AgeRow(.max, 1e9, .hit(age: .seconds(1e9))), AgeRow(5, .nan, .miss(.noEntry)),
            AgeRow(5, .infinity, .miss(.noEntry)),
        ])
    func decisionByAge(row: AgeRow) {
        let rules = CacheRules(cacheSeconds: row.seconds)
        #expect(rules.decide(Self.entry(age: row.age), now: Self.now) == row.expected)
    }

    @Test func missReasonsAreCheckedInOrder() {
        // Each step fixes the fault that the previous step reported.
        var rules = CacheRules(
            cacheSeconds: -1, cacheVersion: 2, appVersion: "2.0", identity: "anna")
        func decide(_ entry: StoredResponse?) -> CacheDecision {
            rules.decide(entry, now: Self.now)
        }
        #expect(decide(nil) == .miss(.invalidCacheTime))
        rules.cacheSeconds = 10
        #expect(decide(nil) == .miss(.noEntry))
        #expect(decide(Self.entry(age: 11)) == .miss(.expired))
        #expect(decide(Self.entry(age: 9)) == .miss(.versionMismatch))
        #expect(decide(Self.entry(age: 9, version: 2)) == .miss(.identityMismatch))
        #expect(
            decide(Self.entry(age: 9, version: 2, identity: "anna")) == .miss(.appVersionMismatch))
        #expect(
            decide(Self.entry(age: 9, version: 2, app: "2.0", identity: "anna"))
                == .hit(age: .seconds(9)))
    }

    @Test(
        "A missing value and an empty string differ",
        arguments: [("", nil), (nil, "")] as [(String?, String?)])
    func emptyStringDiffersFromNil(wanted: String?, stored: String?) {
        let byIdentity = CacheRules(cacheSeconds: 10, identity: wanted)
        #expect(
            byIdentity.decide(Self.entry(age: 1, identity: stored), now: Self.now)
                == .miss(.identityMismatch))
        let byApp = CacheRules(cacheSeconds: 10, appVersion: wanted)
        #expect(
            byApp.decide(Self.entry(age: 1, app: stored), now: Self.now)
                == .miss(.appVersionMismatch))
    }

    @Test func acceptsAnyAgeIgnoresOnlyTheAge() {
        let rules = CacheRules(cacheSeconds: 10, cacheVersion: 1)
        func decide(_ entry: StoredResponse?) -> CacheDecision {
            rules.decide(entry, now: Self.now, acceptsAnyAge: true)
        }
        #expect(decide(Self.entry(age: 1e6, version: 1)) == .hit(age: .seconds(1e6)))
        #expect(decide(Self.entry(age: -5, version: 1)) == .hit(age: .zero))
        #expect(decide(Self.entry(age: 1)) == .miss(.versionMismatch))
        #expect(decide(nil) == .miss(.noEntry))
        var off = rules
        off.cacheSeconds = -1
        let stored = Self.entry(age: 1, version: 1)
        #expect(off.decide(stored, now: Self.now, acceptsAnyAge: true) == .miss(.invalidCacheTime))
    }

    struct LookupPlanRow: Sendable {
        var policy: CachePolicy
        var ignores: Bool
        var download: Bool
        var expected: CacheLookupPlan
        init(
            _ policy: CachePolicy, _ ignores: Bool, _ download: Bool, _ expected: CacheLookupPlan
        ) {
            (self.policy, self.ignores) = (policy, ignores)
            (self.download, self.expected) = (download, expected)
        }
    }

    @Test(
        "Lookup plan by policy",
        arguments: [
            LookupPlanRow(.cacheElseLoad, false, false, .lookUpElseLoad),
            LookupPlanRow(.loadElseCache, false, false, .loadElseLookUp),
            LookupPlanRow(.cacheOnly, false, false, .lookUpOnly),
            LookupPlanRow(.reload, false, false, .load),
            LookupPlanRow(.cacheElseLoad, true, false, .load),
            LookupPlanRow(.loadElseCache, true, false, .load),
            LookupPlanRow(.cacheOnly, true, false, .contradiction),
            LookupPlanRow(.reload, true, false, .load),
            LookupPlanRow(.cacheElseLoad, false, true, .load),
            LookupPlanRow(.cacheOnly, true, true, .load),
        ])
    func lookupPlans(row: LookupPlanRow) {
        let rules = CacheRules(
            policy: row.policy, cacheSeconds: 10, ignoresCache: row.ignores,
            isDownload: row.download)
        #expect(rules.lookupPlan == row.expected)
    }

    @Test(arguments: [(-1, false), (0, false), (1, true), (.max, true)])
    func onlyPositiveCacheTimesAreSaved(seconds: Int, storesResponse: Bool) {
        #expect(CacheRules(cacheSeconds: seconds).storesResponse == storesResponse)
        #expect(
            CacheRules(cacheSeconds: seconds, ignoresCache: true).storesResponse == storesResponse)
        #expect(!CacheRules(cacheSeconds: seconds, isDownload: true).storesResponse)
    }

    @Test func onlyTransientFailuresFallBack() throws {
        let rules = CacheRules(cacheSeconds: 10)
        func error(_ code: RequestError.Code, _ stage: RequestError.Stage) -> RequestError {
            RequestError(code, stage: stage, "x")
        }
        #expect(rules.fallsBack(after: error(.cannotConnect, .transport)))
        #expect(rules.fallsBack(after: error(.truncatedBody, .transport)))
        #expect(rules.fallsBack(after: error(.timedOut, .schedule)))
        #expect(!rules.fallsBack(after: .cancelled))
        #expect(!rules.fallsBack(after: error(.agentShutDown, .transport)))
        #expect(!rules.fallsBack(after: error(.unsupported, .transport)))
        #expect(!rules.fallsBack(after: error(.shapeMismatch, .validate)))
        for (status, fallsBack) in [(404, false), (500, true), (501, false), (503, true)] {
            var refused = error(.unacceptableStatus, .validate)
            refused.response = Response(
                status: .init(code: status), url: HTTPURL(scheme: "http", host: "a", path: "/"))
            #expect(rules.fallsBack(after: refused) == fallsBack)
        }
    }
}
