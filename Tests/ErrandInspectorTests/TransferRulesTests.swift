import ErrandCore
import Testing

@testable import ErrandInspector

@Suite("Inspector: rules")
struct TransferRulesTests {
    private let url = "https://api.example.com/repos/a/issues?page=2"

    private func rule(
        _ id: String = "1", _ pattern: String = "issues", _ action: TransferRule.Action,
        _ change: (inout TransferRule) -> Void = { _ in }
    ) -> TransferRule {
        var rule = TransferRule(id: id, pattern: pattern, action: action)
        change(&rule)
        return rule
    }

    @Test(arguments: [
        ("issues", true), ("API.example", true), ("page=2", true), ("users", false),
        ("*", true), ("https://*/issues*", true), ("*/issues", false), ("*/issues?page=*", true),
        ("*repos*issues*", true), ("*issues*repos*", false), ("https://*.com/*/a/*=2", true),
        ("**issues**", true), ("", false),
    ])
    func patterns(pattern: String, matches: Bool) {
        #expect(rule("1", pattern, .pause).matches(method: "GET", url: url) == matches)
    }

    @Test func methodAndSwitchCount() {
        #expect(rule("1", "*", .pause) { $0.method = "post" }.matches(method: "POST", url: url))
        #expect(!rule("1", "*", .pause) { $0.method = "POST" }.matches(method: "GET", url: url))
        #expect(rule("1", "*", .pause) { $0.method = "" }.matches(method: "GET", url: url))
        #expect(!rule("1", "*", .pause) { $0.isEnabled = false }.matches(method: "GET", url: url))
    }

    @Test func delaysAddUpAndTheFirstResultCounts() throws {
        var rules = TransferRules()
        rules.replace([
            rule("1", "*", .throttle) {
                $0.latency = 100
                $0.bytesPerSecond = 5000
            },
            rule("2", "api", .throttle) {
                $0.latency = 50
                $0.bytesPerSecond = 1000
            },
            rule("3", "issues", .pause), rule("4", "issues", .mock) { $0.status = 404 },
            rule("5", "issues", .fault),
        ])
        let found = rules.plan(method: "GET", url: url)
        let plan = try #require(found)
        #expect(plan.latency == .milliseconds(150))
        #expect(plan.bytesPerSecond == 1000)
        #expect(plan.isHeld)
        #expect(plan.result?.id == "4")
        #expect(
            plan.names == ["throttle *", "throttle api", "pause issues", "mock issues: 404"])
        #expect(plan.time(for: 500) == .milliseconds(500))
        #expect(plan.time(for: 0) == .zero)
        #expect(rules.uses == ["1": 1, "2": 1, "3": 1, "4": 1])
    }

    @Test func noRuleMatches() {
        var rules = TransferRules()
        #expect(!rules.isActive)
        rules.replace([rule("1", "users", .pause)])
        #expect(rules.isActive)
        let plan = rules.plan(method: "GET", url: url)
        #expect(plan == nil)
        rules.replace([rule("1", "issues", .pause) { $0.isEnabled = false }])
        #expect(!rules.isActive)
    }

    @Test func limitCountsTransfersAndAChangedRuleCountsAgain() {
        var rules = TransferRules()
        let fault = rule("1", "issues", .fault) { $0.limit = 2 }
        rules.replace([fault])
        for expected in [true, true, false] {
            let plan = rules.plan(method: "GET", url: url)
            #expect((plan != nil) == expected)
        }
        rules.replace([fault, rule("2", "users", .pause)])
        let used = rules.plan(method: "GET", url: url)
        #expect(used == nil)
        rules.replace([rule("1", "issues", .fault) { $0.limit = 3 }])
        #expect(rules.uses == [:])
        let changed = rules.plan(method: "GET", url: url)
        #expect(changed != nil)
    }

    @Test func faultDuringTheBodyUsesTheNetwork() throws {
        var rules = TransferRules()
        func plan(_ rule: TransferRule) -> TransferRules.Plan? {
            rules.replace([rule])
            return rules.plan(method: "GET", url: url)
        }
        let late = plan(rule("1", "issues", .fault) { $0.afterBytes = 7 })
        #expect(late?.isSimulated == false)
        #expect(late?.names == ["fault issues: connectionLost after 7 bytes"])
        #expect(plan(rule("1", "issues", .fault))?.isSimulated == true)
        // The number belongs to faults only.
        #expect(plan(rule("1", "issues", .mock) { $0.afterBytes = 7 })?.isSimulated == true)
        #expect(plan(rule("1", "issues", .throttle))?.isSimulated == false)
    }

    @Test func problemsNameTheValue() {
        #expect(rule("1", "", .pause).problem?.contains("pattern is empty") == true)
        #expect(rule("1", "a", .pause) { $0.limit = 0 }.problem?.contains("is 0") == true)
        #expect(
            rule("1", "a", .throttle) { $0.latency = -1 }.problem?.contains("delay is -1") == true)
        #expect(
            rule("1", "a", .throttle) { $0.bytesPerSecond = 0 }.problem?.contains("speed is 0")
                == true)
        #expect(
            rule("1", "a", .mock) { $0.status = 100 }.problem?.contains("status is 100") == true)
        #expect(
            rule("1", "a", .mock) { $0.headers = [.init(name: "a b", value: "")] }.problem?
                .contains("header a b") == true)
        #expect(rule("1", "a", .mock) { $0.status = 599 }.problem == nil)
        #expect(rule("1", "a", .fault).problem == nil)
        #expect(rule("1", "a", .fault) { $0.afterBytes = 1 }.problem == nil)
        #expect(
            rule("1", "a", .fault) { $0.afterBytes = 0 }.problem?.contains("bytes is 0") == true)
    }

    @Test(arguments: [
        (204, "x", "", "", "status 204 has no body"), (304, "x", "", "", "status 304 has no body"),
        (204, "", "", "", nil), (200, "ab", "content-length", "3", "the body has 2 bytes"),
        (200, "ab", "Content-Length", "2", nil),
        (200, "ab", "Content-Encoding", "gzip", "not encoded"),
        (200, "ab", "Transfer-Encoding", "chunked", "not encoded"), (200, "ab", "X-A", "b", nil),
    ])
    func mockIsAPossibleMessage(
        status: Int, body: String, name: String, value: String, problem: String?
    ) {
        var mock = rule("1", "a", .mock)
        (mock.status, mock.body) = (status, body)
        if !name.isEmpty { mock.headers = [.init(name: name, value: value)] }
        guard let problem else {
            #expect(mock.problem == nil)
            return
        }
        #expect(mock.problem?.contains(problem) == true)
    }
}
