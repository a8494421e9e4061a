import ErrandCore
import ErrandJSON
import ErrandRecording
import ErrandTesting
import ErrandTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ErrandInspector

@Suite("Inspector: calls of the page", .limited)
struct InspectorAPITests {
    private func recorded() async -> InspectorFixture {
        let fixture = InspectorFixture()
        fixture.transport.on(
            .post, "/login",
            ScriptedResponse(
                headers: [.contentType: "application/json", .setCookie: "sid=hunter2"],
                body: Data(#"{"token":"hunter2","user":{"name":"Ada","age":36},"tags":["a"]}"#.utf8)
            ))
        await fixture.run("/login?api_key=hunter2&page=1") {
            $0.method = .post
            $0.body = .string(
                #"{"password":"hunter2","name":"ada"}"#, contentType: "application/json")
            $0.headers = [.authorization: "Bearer hunter2", .accept: "application/json"]
        }
        return fixture
    }

    @Test func changesContainTheRow() async throws {
        let fixture = await recorded()
        let changes = try await fixture.get("changes", ["since": "0"])
        let row = changes["rows"][0]
        #expect(row["id"].int == 1)
        #expect(row["method"].string == "POST")
        #expect(row["url"].string == "https://api.example.com/login?api_key=REDACTED&page=1")
        #expect(row["state"].string == "done")
        #expect(row["status"].int == 200)
        #expect(row["source"].string == "network")
        #expect(row["type"].string == "application/json")
        #expect(row["attempts"].int == 1)
        #expect(changes["first"].int == 1)
        #expect(changes["more"].bool == false)
        let revision = try #require(changes["revision"].int)
        let later = try await fixture.get("changes", ["since": "\(revision)"])
        #expect(later["rows"].count == 0)
        #expect(later["revision"].int == revision)
        #expect(later["session"].string == changes["session"].string)
    }

    @Test func manyChangesArriveInParts() async throws {
        let fixture = InspectorFixture(limits: .init(requests: 3000))
        for index in 0..<2500 {
            var description = fixture.description("/\(index)")
            _ = fixture.recorder.willStart(&description, as: UUID())
            fixture.recorder.handle(
                RequestEvent(
                    taskID: UUID(), endpoint: "A", tag: 0, uptime: .zero, kind: .started,
                    metadata: description.metadata))
        }
        var (since, ids) = (0, [Int]())
        for more in [true, true, false] {
            let changes = try await fixture.get("changes", ["since": "\(since)"])
            #expect(changes["more"].bool == more)
            since = try #require(changes["revision"].int)
            ids += changes["rows"].array?.compactMap { $0["id"].int } ?? []
        }
        #expect(ids == Array(1...2500))
    }

    @Test func callWaitsForAChange() async throws {
        let fixture = await recorded()
        let revision = fixture.recorder.revision
        async let changes = fixture.api.changes(after: revision, wait: .seconds(10))
        await fixture.run("/login") { $0.method = .post }
        #expect(await changes.rows.map(\.id) == [2])
    }

    /// Nothing that the page can get contains a secret.
    @Test func secretsDoNotLeaveTheProcess() async throws {
        let fixture = await recorded()
        for path in [
            ("changes", ["since": "0"]), ("requests/1", [:]), ("requests/1/copy", ["as": "curl"]),
            ("requests/1/copy", ["as": "swift"]), ("requests/1/copy", ["as": "har"]), ("har", [:]),
            ("state", [:]), ("store", [:]), ("rules", [:]),
        ] {
            let text = await fixture.text(path.0, path.1)
            #expect(!text.contains("hunter2"), "\(path.0)")
            #expect(!text.contains("\"error\":"), "\(text)")
        }
        let all = InspectorFixture(redaction: .none)
        all.transport.on(nil, nil, .json(#"{"token":"hunter2"}"#))
        await all.run("/a")
        #expect(await all.text("requests/1", [:]).contains("hunter2"))
    }

    @Test func detailHasMessagesAndEvents() async throws {
        let fixture = await recorded()
        let detail = try await fixture.get("requests/1")
        let entry = detail["transfers"][0]["entry"]
        #expect(
            entry["request"]["postData"]["text"].string == #"{"password":"REDACTED","name":"ada"}"#)
        #expect(
            entry["response"]["content"]["text"].string?.hasPrefix(#"{"token":"REDACTED""#) == true)
        let events = detail["events"].array?.compactMap { $0["text"].string } ?? []
        #expect(events.first == "Started")
        #expect(events.last == "Ended")
        #expect(events.contains("Passed validation"))
        #expect(detail["cache"].string == "The cache was not used.")
        #expect(detail["canReplay"].bool == true)
        try await _ = fixture.get("requests/9", status: 404)
        try await _ = fixture.get("nothing", status: 404)
    }

    @Test func curlCommandAndArchive() async throws {
        let fixture = await recorded()
        let curl = await fixture.text("requests/1/copy", ["as": "curl"])
        #expect(curl.hasPrefix("curl --request POST --url 'https://api.example.com/login?"))
        #expect(curl.contains(#"--data-raw '{"password":"REDACTED","name":"ada"}'"#))
        let archive = try await fixture.get("har")
        #expect(archive["log"]["version"].string == "1.2")
        #expect(archive["log"]["entries"].count == 1)
        #expect(try await fixture.get("har", ["ids": "2"])["log"]["entries"].count == 0)
    }

    @Test func swiftClass() async {
        let fixture = await recorded()
        let text = await fixture.text("requests/1/copy", ["as": "swift"])
        let expected = #"""
            final class GetIssue: BaseRequest, DecodableOutput {
                struct Output: Decodable {
                    var tags: [String]
                    var token: String
                    var user: User
                    struct User: Decodable {
                        var age: Int
                        var name: String
                    }
                }

                override var url: EndpointURL { "https://api.example.com/login?api_key=REDACTED&page=1" }
                override var method: HTTPMethod { .post }
                override func configure(_ request: inout RequestDescription) {
                    super.configure(&request)
                    request.headers = [
                        .custom("Accept"): "application/json",
                    ]
                }
                override var body: HTTPBody? {
                    .string("{\"password\":\"REDACTED\",\"name\":\"ada\"}", contentType: "application/json")
                }
                // Set `authorization`, or an authenticator of the configuration.
            }

            """#
        #expect(
            text.replacing(#/            "accept-language.*\n/#.ignoresCase(), with: "") == expected
        )
    }

    @Test func literals() {
        #expect(SwiftEndpointSource.literal("a") == #""a""#)
        #expect(SwiftEndpointSource.literal("a\"\\\n\u{7}") == #""a\"\\\n\u{7}""#)
    }

    @Test func replayKeepsSecretsAndAppliesChanges() async throws {
        let fixture = await recorded()
        try await fixture.post(
            "replay",
            #"""
            {"id":1,"method":"put","url":"https://api.example.com/login?api_key=REDACTED&page=2",
             "headers":[{"name":"Authorization","value":"Bearer REDACTED"},{"name":"Content-Type","value":"application/json"},
             {"name":"X-New","value":"1"},{"name":"Host","value":"evil.test"}]}
            """#)
        fixture.transport.on(.put, "/login", .json("{}"))
        _ = await fixture.until(2) { $0.outcome != nil }
        let request = try #require(fixture.transport.requests.last)
        #expect(request.method == .put)
        #expect(request.url.string == "https://api.example.com/login?api_key=hunter2&page=2")
        #expect(request.headers[.authorization] == "Bearer hunter2")
        #expect(request.headers[HTTPField.Name("X-New")!] == "1")
        #expect(request.headers[.accept] == "*/*")
        #expect(
            try await request.collectedBody() == Data(#"{"password":"hunter2","name":"ada"}"#.utf8))
        #expect(fixture.recorder.record(2)?.request.replayOf == 1)
    }

    /// Fields with one name have their values again, in their order.
    @Test func replayKeepsTheOrderOfSecretsWithOneName() async throws {
        let fixture = InspectorFixture()
        let name = try #require(HTTPField.Name("X-Api-Key"))
        await fixture.run("/a") {
            $0.headers.append(HTTPField(name: name, value: "first"))
            $0.headers.append(HTTPField(name: name, value: "second"))
        }
        for headers in [
            #"{"name":"X-Api-Key","value":"REDACTED"},{"name":"x-api-key","value":"REDACTED"}"#,
            #"{"name":"X-Api-Key","value":"REDACTED"},{"name":"X-Api-Key","value":"new"},"#
                + #"{"name":"X-Api-Key","value":"REDACTED"}"#,
        ] {
            let count = fixture.transport.requestCount
            try await fixture.post(
                "replay",
                #"{"id":1,"method":"GET","url":"https://api.example.com/a","headers":[\#(headers)]}"#
            )
            _ = await fixture.until(count + 1) { $0.outcome != nil }
            let sent = try #require(fixture.transport.requests.last).headers[values: name]
            #expect(sent.filter { $0 != "new" } == ["first", "second"])
        }
    }

    @Test func replayToAnotherServerGetsNoSecretArguments() async throws {
        let fixture = await recorded()
        fixture.transport.on(nil, "/x", .json("{}", status: .notFound))
        try await fixture.post(
            "replay",
            #"{"id":1,"method":"POST","url":"https://evil.test/x?api_key=REDACTED","headers":[],"body":"new"}"#
        )
        let replayed = await fixture.until(2) { $0.outcome != nil }
        // Every status is a result.
        #expect(replayed.outcome == .response(status: 404, source: .network))
        let request = try #require(fixture.transport.requests.last)
        #expect(request.url.string == "https://evil.test/x?api_key=REDACTED")
        #expect(try await request.collectedBody() == Data("new".utf8))
    }

    /// Each part that the page has seen as `REDACTED`, with another scheme, host or port.
    @Test(arguments: [
        "https://evil.test/login", "http://api.example.com/login",
        "https://api.example.com:8443/login", "https://api.example.com.evil.test/",
    ])
    func replayToAnotherServerGetsNoSecrets(url: String) async throws {
        let fixture = await recorded()
        let sent = fixture.transport.requests.count
        for (parts, name) in [
            (
                #""headers":[{"name":"authorization","value":"Bearer REDACTED"}],"body":"new""#,
                "authorization"
            ),
            (#""headers":[]"#, "body"),
            (
                #""headers":[{"name":"Content-Type","value":"application/json"}],"body":"{\"password\":\"REDACTED\",\"name\":\"ada\"}""#,
                "body"
            ),
        ] {
            let reply = try await fixture.post(
                "replay", #"{"id":1,"method":"POST","url":"\#(url)",\#(parts)}"#, status: 422)
            #expect(reply["error"].string?.lowercased().contains(name) == true, "\(reply)")
            #expect(reply["error"].string?.contains("hunter2") == false)
        }
        #expect(fixture.transport.requests.count == sent)
    }

    @Test(arguments: [
        (#"{"id":1,"method":"GE T","url":"https://a.test/","headers":[]}"#, "is not a method"),
        (#"{"id":1,"method":"GET","url":"https://a b/","headers":[]}"#, "is not valid"),
        (
            #"{"id":1,"method":"PUT","url":"https://a.test/","headers":[],"body":"{\"p\":\"REDACTED\"}"}"#,
            "Enter the values"
        ),
    ])
    func replayProblems(body: String, problem: String) async throws {
        let fixture = await recorded()
        let reply = try await fixture.post("replay", body, status: 422)
        #expect(reply["error"].string?.contains(problem) == true, "\(reply)")
    }

    @Test func rulesAreCheckedAndReturned() async throws {
        let fixture = InspectorFixture()
        let rule = #"{"id":"1","isEnabled":true,"pattern":"*","action":"fault","fault":"timedOut"}"#
        let state = try await fixture.post("rules", #"{"rules":[\#(rule)]}"#)
        #expect(state["rules"][0]["fault"].string == "timedOut")
        #expect(await fixture.run("/a")?.code == .timedOut)
        #expect(try await fixture.get("rules")["uses"]["1"].int == 1)
        let refused = rule.replacing("\"*\"", with: "\"\"")
        try await fixture.post("rules", #"{"rules":[\#(refused)]}"#, status: 422)
        try await fixture.post("rules", #"{"rules":7}"#, status: 400)
        #expect(fixture.recorder.rules.rules.rules.count == 1)
    }

    @Test func queueHasReasons() async throws {
        let fixture = InspectorFixture { $0.limits = RequestLimits(total: 1) }
        fixture.transport.on(.get, "/a", .silence)
        let first = fixture.agent.start(fixture.description("/a"))
        _ = try await fixture.transport.nextRequest()
        let second = fixture.agent.start(fixture.description("/a") { $0.sending.priority = .high })
        _ = await fixture.until(2) { $0.activity == .queued }
        let state = try await fixture.get("state")
        #expect(state["inProgress"].int == 2)
        #expect(state["waiting"].count == 1)
        #expect(state["waiting"][0]["id"].int == 2)
        #expect(state["waiting"][0]["reason"].string == "All 1 permits are taken (limits.total)")
        #expect(state["limits"][0].string == "1 in total")
        let rows = try await fixture.get("changes", ["since": "0"])["rows"].array ?? []
        #expect(rows.compactMap { $0["state"].string } == ["active", "waiting"])
        try await fixture.post("requests/2/cancel")
        #expect(await second.outcome().error?.code == .cancelled)
        try await fixture.post("requests/2/cancel", status: 409)
        try await fixture.post("requests/1/suspend")
        #expect(first.phase == .suspended)
        _ = await fixture.until(1) { $0.activity == .suspended }
        try await fixture.post("requests/1/resume")
        first.cancel()
        _ = await first.outcome()
    }

    @Test func storeEntriesAreListedAndRemoved() async throws {
        let fixture = InspectorFixture()
        fixture.transport.on(.get, "/a", .json("{}"))
        await fixture.run("/a?token=hunter2") { $0.cacheSeconds = 60 }
        await fixture.agent.flushCache()
        let store = try await fixture.get("store")
        #expect(store["count"].int == 1)
        #expect(store["entries"][0]["url"].string == "https://api.example.com/a?token=REDACTED")
        let hash = try #require(store["entries"][0]["hash"].string)
        try await fixture.post("store/\(hash)")
        #expect(try await fixture.get("store")["count"].int == 0)
    }

    @Test func circuitsAndPeers() async throws {
        let fixture = InspectorFixture { $0.circuitBreaker = CircuitBreakerPolicy(failures: 1) }
        fixture.transport.on(
            .get, "/a", .failure(RequestError(.connectionLost, stage: .transport, "x")))
        await fixture.run("/a")
        let state = try await fixture.get("state")
        #expect(state["circuits"][0]["host"].string == "api.example.com")
        #expect(state["circuits"][0]["state"].string == "open")
        #expect(state["peers"][0]["host"].string == "api.example.com")
        #expect(state["transport"].string == "scripted")
        #expect(state["recorded"].int == 1)
        try await fixture.post("clear")
        #expect(try await fixture.get("state")["recorded"].int == 0)
    }
}
