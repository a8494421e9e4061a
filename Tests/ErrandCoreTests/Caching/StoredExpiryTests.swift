import ErrandCore
import Foundation
import HTTPTypes
import Testing

@Suite struct StoredExpiryTests {
    private let storedAt = Date(timeIntervalSince1970: 1_000_000)

    private func entry(_ headers: HTTPFields) -> StoredResponse {
        var entry = StoredResponse(
            status: 200, headers: headers, body: Data(), url: "http://a/", storedAt: storedAt)
        entry.setExpiry(CachePolicy.HTTPSettings())
        return entry
    }

    @Test func lifetimeMinusAgeIsAdded() {
        #expect(entry([.cacheControl: "max-age=60"]).expiresAt == storedAt + 60)
        #expect(entry([.cacheControl: "max-age=60", .age: "20"]).expiresAt == storedAt + 40)
        #expect(entry([.cacheControl: "max-age=60", .age: "90"]).expiresAt == storedAt - 30)
        #expect(entry([.cacheControl: "max-age=60, no-cache"]).expiresAt == storedAt)
    }

    @Test func cacheTimeIsAdded() throws {
        let response = Response(status: .ok, url: try HTTPURL(parsing: "http://a/"))
        for (seconds, expected) in [(60, 60.0), (0, 0), (-1, 0)] {
            let entry = StoredResponse(
                response, rules: CacheRules(cacheSeconds: seconds), tag: 0, storedAt: storedAt)
            #expect(entry?.expiresAt == storedAt + expected)
        }
    }

    @Test func stalenessIsAccepted() {
        let now = storedAt + 100
        func age(_ headers: HTTPFields, _ acceptance: StaleAcceptance, _ request: HTTPFields = [:])
            -> Duration?
        {
            acceptance.age(
                of: entry(headers), requestHeaders: request, now: now, settings: .init())
        }
        let minute: HTTPFields = [.cacheControl: "max-age=60"]
        #expect(age(minute, .within(.zero)) == nil)
        #expect(age(minute, .within(.seconds(39))) == nil)
        #expect(age(minute, .within(.seconds(40))) == .seconds(100))
        #expect(age(minute, .anyAge) == .seconds(100))
        #expect(age(minute, .anyAge, [.cacheControl: "no-cache"]) == nil)
        #expect(age([.cacheControl: "max-age=60, must-revalidate"], .anyAge) == nil)
        #expect(age([.cacheControl: "no-cache"], .anyAge) == nil)
    }

    @Test func rulesAcceptStaleEntriesByPolicy() {
        var rules = CacheRules(policy: .cacheOnly, cacheSeconds: 60)
        let stored = entry([:])
        func age(at seconds: Double) -> CacheDecision {
            rules.decide(stored, now: storedAt + seconds, accepting: rules.staleAcceptance)
        }
        #expect(age(at: 61) == .miss(.expired))
        rules.maximumStaleness = .seconds(10)
        #expect(age(at: 70) == .hit(age: .seconds(70)))
        #expect(age(at: 71) == .miss(.expired))
        #expect(age(at: -1) == .miss(.expired))
        rules.policy = .cacheThenLoad
        #expect(age(at: 71) == .miss(.expired))
        rules.maximumStaleness = nil
        #expect(age(at: 1_000_000) == .hit(age: .seconds(1_000_000)))
    }
}
