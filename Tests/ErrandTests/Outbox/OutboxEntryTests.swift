import Errand
import ErrandOutbox
import ErrandTesting
import Foundation
import TestSupport
import Testing

/// The parts of a request that an outbox entry keeps, and the settings that apply when it is sent.
@Suite(.limited) struct OutboxEntryTests {
    /// The request as sent by a second outbox, and its entry, which is also encoded and decoded once.
    private func sent(
        _ description: RequestDescription, _ configure: (inout Configuration) -> Void = { _ in }
    ) async throws -> (request: TransportRequest, entry: OutboxEntry) {
        let fixture = AgentFixture(configure)
        fixture.transport.on(nil, nil, .json("{}"))
        let store = MemoryOutboxStore()
        let first = Outbox(agent: fixture.agent, store: store)
        try await first.add(description)
        let entry = try #require(first.entries.first)
        let decoded = try JSONDecoder().decode(
            OutboxEntry.self, from: try JSONEncoder().encode(entry))
        #expect(decoded == entry)
        let outbox = Outbox(agent: fixture.agent, store: store)
        try await outbox.start()
        await outbox.untilDelivered()
        await outbox.stop()
        return (try #require(fixture.transport.requests.first), entry)
    }

    private var plain: RequestDescription {
        var description = RequestDescription(endpoint: "Plain", url: "notes")
        description.method = .post
        description.body = .string("text")
        return description
    }

    @Test func entryKeepsHeaderCookieAndNetworkSettings() async throws {
        let name = try #require(HTTPField.Name("X-Shared"))
        func configure(_ configuration: inout Configuration) {
            configuration.sharedHeaders = [name: "shared"]
            configuration.hostHeaders = ["api.example.com": [name: "host"]]
        }
        let defaults = try await sent(plain, configure)
        #expect(defaults.request.headers[name] == "host")
        #expect(defaults.request.options.allowsCellularAccess)
        #expect(defaults.entry.usesCookies)
        var description = plain
        description.uses.remove(.sharedHeaders)
        description.uses.remove(.cookies)
        description.uses.remove(.cellular)
        description.timeouts = Timeouts(connect: .seconds(3), idle: nil, total: .seconds(900))
        description.sending.redirects = RedirectPolicy.none
        let custom = try await sent(description, configure)
        #expect(custom.request.headers[name] == nil)
        #expect(!custom.request.options.allowsCellularAccess)
        #expect(custom.request.timeouts == description.timeouts)
        #expect(!custom.entry.usesCookies)
        #expect(custom.entry.redirectPolicy == RedirectPolicy.none)
    }

    @Test func cookiesAreOmittedWhenDisabled() async throws {
        for usesCookies in [true, false] {
            let fixture = AgentFixture()
            fixture.transport.on(
                nil, nil,
                ScriptedResponse(headers: [.setCookie: "name=value"]), .json("{}"))
            let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
            try await outbox.add(plain)
            var description = plain
            if !usesCookies { description.uses.remove(.cookies) }
            try await outbox.add(description)
            try await outbox.start()
            await outbox.untilDelivered()
            await outbox.stop()
            let cookie = fixture.transport.requests.last?.headers[.cookie]
            #expect(cookie == (usesCookies ? "name=value" : nil))
        }
    }

    @Test func entryKeepsTheRedirectPolicy() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            nil, nil,
            ScriptedResponse(
                status: .temporaryRedirect, headers: [.location: "https://other.example.com/"]),
            .json("{}"))
        let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
        var description = plain
        description.sending.redirects = RedirectPolicy.none
        try await outbox.add(description)
        try await outbox.start()
        await outbox.untilDelivered()
        await outbox.stop()
        #expect(fixture.transport.requests.count == 1)
        #expect(outbox.entries.first?.isParked == true)
    }

    @Test func customRequestReceivesNoSharedHeaders() async throws {
        let name = try #require(HTTPField.Name("X-Shared"))
        var description = RequestDescription(endpoint: "Custom", url: "")
        description.customRequest = CustomRequest(
            url: "https://api.example.com/complete", method: .put,
            headers: [("X-Own", "own"), ("User-Agent", "mine")], body: .string("text"))
        let (request, entry) = try await sent(description) {
            $0.sharedHeaders = [name: "shared"]
            $0.hostHeaders = ["api.example.com": [name: "host"]]
        }
        #expect(!entry.usesSharedHeaders)
        #expect(request.headers[name] == nil)
        #expect(request.headers[.userAgent] == "mine")
        #expect(request.url.string == "https://api.example.com/complete")
        #expect(request.method == .put)
    }

    @Test func requestWithItsOwnSecurityPolicyIsRejected() async throws {
        let outbox = Outbox(agent: AgentFixture().agent, store: MemoryOutboxStore())
        var description = plain
        description.sending.security = SecurityPolicy()
        let error = await #expect(throws: RequestError.self) { try await outbox.add(description) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("configuration") == true)
        #expect(outbox.entries.isEmpty)
    }

    @Test func requestWithTransportOverridesIsRejected() async throws {
        let outbox = Outbox(agent: AgentFixture().agent, store: MemoryOutboxStore())
        var description = plain
        description.sending.transport = TransportOverrides(httpVersion: .http11)
        let error = await #expect(throws: RequestError.self) { try await outbox.add(description) }
        #expect(error?.code == .unsupported)
        #expect(outbox.entries.isEmpty)
    }

    private struct UnchangedInterceptor: Interceptor {
        func intercept(
            _ request: TransportRequest, next: TransportRequest.Next
        ) async throws -> Response { try await next(request) }
    }

    /// An endpoint with hooks, which are closures or objects of the app.
    private final class HookedRequest: BaseRequest {
        let add: (inout RequestDescription) -> Void
        init(_ add: @escaping (inout RequestDescription) -> Void = { _ in }) { self.add = add }
        override var url: EndpointURL { "notes" }
        override var method: HTTPMethod { .post }
        override var body: HTTPBody? { .string("text") }
        override func configure(_ request: inout RequestDescription) {
            super.configure(&request)
            add(&request)
        }
    }

    @Test func requestWithHooksThatCannotBeStoredIsRejected() async throws {
        let fixture = AgentFixture()
        let outbox = Outbox(agent: fixture.agent, store: MemoryOutboxStore())
        let refused = [
            HookedRequest { $0.interceptors.append(UnchangedInterceptor()) },
            HookedRequest { $0.requestProcessors.append { _, _, _ in } },
        ]
        for request in refused {
            let description = request.makeDescription()
            let error = await #expect(throws: RequestError.self) {
                try await outbox.add(description)
            }
            #expect(error?.code == .unsupported && error?.stage == .build)
            #expect(
                error?.message.contains("HookedRequest has interceptors or requestProcessors")
                    == true)
            #expect(error?.message.contains("configuration") == true)
            #expect(outbox.entries.isEmpty)
        }
        // The same endpoint without hooks is accepted.
        let plain = HookedRequest().makeDescription()
        try await outbox.add(plain)
        #expect(outbox.entries.map(\.endpoint) == ["HookedRequest"])
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func hooksOfTheConfigurationRunWhenAnEntryIsSent() async throws {
        let (request, entry) = try await sent(plain) {
            $0.requestProcessors = [
                { request, _, _ in request.headers[.from] = "processor" }
            ]
        }
        #expect(request.headers[.from] == "processor")
        #expect(!entry.headers.contains { $0.name.lowercased() == "from" })
    }

    @Test func entryOfAnEarlierVersionIsDecodedWithDefaults() throws {
        let text = """
            {"id": "9B3E0D5E-40B4-4A63-9C5A-0C3D4D1A7B11", "sequence": 4, "addedAt": 0, "endpoint": "Note",
            "tag": 1, "method": "POST", "url": "https://api.example.com/notes", "headers": [],
            "acceptableStatusCodes": [200, 300], "refusals": 2, "isSetAside": false}
            """
        let entry = try JSONDecoder().decode(OutboxEntry.self, from: Data(text.utf8))
        #expect(entry.sequence == 4 && entry.refusals == 2 && entry.body == nil)
        #expect(entry.acceptableStatusCodes == [200..<300])
        #expect(entry.usesSharedHeaders && entry.usesCookies && entry.allowsCellularAccess)
        #expect(entry.redirectPolicy == nil && entry.timeouts == nil)
    }

    @Test func prepareRunsOnceWhenARequestIsAdded() async throws {
        let (request, entry) = try await sent(plain) {
            $0.prepare = { request in
                request.url = "v2/\(request.url)"
                request.acceptance.statuses = [201]
                request.tag += 1
            }
        }
        #expect(entry.url == "https://api.example.com/v2/notes")
        #expect(entry.acceptableStatusCodes == [201..<202] && entry.tag == plain.tag + 1)
        let stored = try JSONDecoder().decode(
            OutboxEntry.self, from: try JSONEncoder().encode(entry))
        #expect(stored.acceptableStatusCodes == [201..<202])
        #expect(request.url.string == entry.url)
    }

    @Test func hostArgumentsAreAppliedWhenARequestIsAdded() async throws {
        var description = RequestDescription(endpoint: "Plain", url: "notes")
        description.method = .delete
        description.arguments = ["own": 1]
        let (request, entry) = try await sent(description) {
            $0.hostArguments = ["api.example.com": ["app": "a"], "other.example.com": ["not": 1]]
        }
        let all = (entry.url + String(decoding: entry.body ?? Data(), as: UTF8.self))
        #expect(all.contains("app=a") && all.contains("own=1") && !all.contains("not=1"))
        #expect(request.url.string == entry.url)
    }

    @Test func bodyIsEncodedOnceAndSharedHeadersApplyWhenSent() async throws {
        var description = plain
        description.compression = ReversingBodyEncoder()
        let (request, entry) = try await sent(description) {
            $0.sharedHeaders = [.accept: "application/json"]
            $0.bodyEncoder = ReversingBodyEncoder()
        }
        #expect(entry.body == Data("txet".utf8))
        #expect(request.headers[values: .contentEncoding] == ["x-reversed"])
        // Shared headers are applied when the entry is sent, not when it is added.
        #expect(request.headers[.accept] == "application/json")
    }
}
