import Testing

@testable import ErrandInspector

@Suite("Inspector: access")
struct AccessCheckTests {
    private let check = AccessCheck(token: "abc123", port: 5000)

    private func fields(_ change: (inout AccessCheck.Fields) -> Void = { _ in })
        -> AccessCheck.Fields
    {
        var fields = AccessCheck.Fields(
            host: "127.0.0.1:5000", authorization: "Bearer abc123", queryToken: "abc123")
        change(&fields)
        return fields
    }

    @Test func callWithTokenIsAllowed() {
        #expect(check.refusal(fields(), isPage: false) == nil)
        #expect(check.refusal(fields { $0.host = "LOCALHOST:5000" }, isPage: false) == nil)
        #expect(check.refusal(fields { $0.authorization = "bearer abc123" }, isPage: false) == nil)
    }

    @Test(arguments: [
        nil, "", "abc123", "Bearer", "Bearer abc12", "Bearer abc1234", "Basic abc123",
    ])
    func callWithoutTheTokenIsRefused(authorization: String?) {
        let fields = fields { $0.authorization = authorization }
        #expect(check.refusal(fields, isPage: false) == .token)
    }

    /// A link can contain the query of a call, but not its header.
    @Test func tokenInTheQueryIsForThePageOnly() {
        #expect(check.refusal(fields { $0.authorization = nil }, isPage: false) == .token)
        #expect(check.refusal(fields { $0.authorization = nil }, isPage: true) == nil)
        #expect(check.refusal(fields { $0.queryToken = nil }, isPage: true) == .token)
    }

    @Test(arguments: [
        nil, "127.0.0.1", "127.0.0.1:5001", "example.com:5000", "127.0.0.1.evil.test:5000",
    ])
    func otherHostsAreRefused(host: String?) {
        #expect(check.refusal(fields { $0.host = host }, isPage: false) == .host)
        #expect(check.refusal(fields { $0.host = host }, isPage: true) == .host)
    }

    @Test func otherOriginsAreRefused() {
        let own = fields { $0.origin = "http://127.0.0.1:5000" }
        #expect(check.refusal(own, isPage: false) == nil)
        for origin in ["null", "https://evil.test", "http://localhost:5000", "http://127.0.0.1:80"]
        {
            #expect(check.refusal(fields { $0.origin = origin }, isPage: false) == .origin)
        }
    }

    @Test func callsOfOtherSitesAreRefused() {
        for site in ["cross-site", "same-site"] {
            #expect(check.refusal(fields { $0.fetchSite = site }, isPage: false) == .origin)
        }
        #expect(check.refusal(fields { $0.fetchSite = "same-origin" }, isPage: false) == nil)
        // A link in a chat, for example.
        #expect(check.refusal(fields { $0.fetchSite = "cross-site" }, isPage: true) == nil)
    }

    @Test func tokensDifferAndHave256Bits() {
        let tokens = (0..<100).map { _ in AccessCheck.makeToken() }
        #expect(Set(tokens).count == 100)
        #expect(tokens.allSatisfy { $0.count == 64 && $0.allSatisfy(\.isHexDigit) })
    }

    @Test func comparisonReadsAllBytes() {
        #expect(AccessCheck.isEqual("äb", "äb"))
        #expect(!AccessCheck.isEqual("xbc", "abc"))
        #expect(!AccessCheck.isEqual("abx", "abc"))
        #expect(!AccessCheck.isEqual("ab", "abc"))
        #expect(AccessCheck.isEqual("", ""))
    }
}
