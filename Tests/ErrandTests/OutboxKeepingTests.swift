import Errand
import ErrandTesting
import Foundation
import Testing

/// What an outbox keeps of a request, and what the configuration adds when.
@Suite(.timeLimit(.minutes(5))) struct OutboxKeepingTests {
    private struct Reverse: BodyEncoder {
        var contentCoding: String { "x-reverse" }
        func encode(_ body: Data) throws -> Data { Data(body.reversed()) }
    }

    /// The request as it goes out, and the entry that was kept of it, written down and read in between.
    private func sent(
        _ description: RequestDescription, _ configure: (inout Configuration) -> Void = { _ in }
    ) async throws -> (request: TransportRequest, entry: OutboxEntry) {
        let world = World(configure)
        world.transport.on(nil, nil, .json("{}"))
        let store = MemoryOutboxStore()
        let first = Outbox(agent: world.agent, store: store)
        try await first.add(description)
        let entry = try #require(first.entries.first)
        let read = try JSONDecoder().decode(
            OutboxEntry.self, from: try JSONEncoder().encode(entry))
        #expect(read == entry)
        let outbox = Outbox(agent: world.agent, store: store)
        try await outbox.start()
        await outbox.untilDelivered()
        await outbox.stop()
        return (try #require(world.transport.requests.first), entry)
    }

    private var plain: RequestDescription {
        var description = RequestDescription(endpoint: "Plain", url: "notes")
        description.method = .post
        description.body = .string("text")
        return description
    }

    @Test func whatTheEndpointSaysOfHeadersCookiesAndNetworksHolds() async throws {
        let name = try #require(HTTPField.Name("X-Shared"))
        func configure(_ configuration: inout Configuration) {
            configuration.sharedHeaders = [name: "shared"]
            configuration.hostHeaders = ["api.example.com": [name: "host"]]
        }
        let usual = try await sent(plain, configure)
        #expect(usual.request.headers[name] == "host")
        #expect(usual.request.options.allowsCellularAccess)
        #expect(usual.entry.usesCookies)
        var description = plain
        description.usesSharedHeaders = false
        description.usesCookies = false
        description.allowsCellularAccess = false
        description.timeouts = Timeouts(connect: .seconds(3), idle: nil, total: .seconds(900))
        description.redirectPolicy = RedirectPolicy.none
        let particular = try await sent(description, configure)
        #expect(particular.request.headers[name] == nil)
        #expect(!particular.request.options.allowsCellularAccess)
        #expect(particular.request.timeouts == description.timeouts)
        #expect(!particular.entry.usesCookies)
        #expect(particular.entry.redirectPolicy == RedirectPolicy.none)
    }

    @Test func cookiesStayAwayWhereTheEndpointWantsNone() async throws {
        for usesCookies in [true, false] {
            let world = World()
            world.transport.on(
                nil, nil,
                ScriptedAnswer(headers: [.setCookie: "name=value"]), .json("{}"))
            let outbox = Outbox(agent: world.agent, store: MemoryOutboxStore())
            try await outbox.add(plain)
            var description = plain
            description.usesCookies = usesCookies
            try await outbox.add(description)
            try await outbox.start()
            await outbox.untilDelivered()
            await outbox.stop()
            let cookie = world.transport.requests.last?.headers[.cookie]
            #expect(cookie == (usesCookies ? "name=value" : nil))
        }
    }

    @Test func aRedirectThatTheEndpointDoesNotFollowIsNotFollowed() async throws {
        let world = World()
        world.transport.on(
            nil, nil,
            ScriptedAnswer(
                status: .temporaryRedirect, headers: [.location: "https://other.example.com/"]),
            .json("{}"))
        let outbox = Outbox(agent: world.agent, store: MemoryOutboxStore())
        var description = plain
        description.redirectPolicy = RedirectPolicy.none
        try await outbox.add(description)
        try await outbox.start()
        await outbox.untilDelivered()
        await outbox.stop()
        #expect(world.transport.requests.count == 1)
        #expect(outbox.entries.first?.isSetAside == true)
    }

    @Test func aCompleteRequestGetsNoSharedHeaders() async throws {
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

    @Test func aSecurityPolicyOfItsOwnIsRefused() async throws {
        let outbox = Outbox(agent: World().agent, store: MemoryOutboxStore())
        var description = plain
        description.securityPolicy = SecurityPolicy()
        let error = await #expect(throws: RequestError.self) { try await outbox.add(description) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("configuration") == true)
        #expect(outbox.entries.isEmpty)
    }

    @Test func transportOverridesAreRefused() async throws {
        let outbox = Outbox(agent: World().agent, store: MemoryOutboxStore())
        var description = plain
        description.transportOverrides = TransportOverrides(httpVersion: .http11)
        let error = await #expect(throws: RequestError.self) { try await outbox.add(description) }
        #expect(error?.code == .unsupported)
        #expect(outbox.entries.isEmpty)
    }

    @Test func anEntryOfAnEarlierVersionIsReadWithDefaults() throws {
        let text = """
            {"id": "9B3E0D5E-40B4-4A63-9C5A-0C3D4D1A7B11", "sequence": 4, "addedAt": 0, "endpoint": "Note",
            "tag": 1, "method": "POST", "url": "https://api.example.com/notes", "headers": [],
            "acceptableStatusCodes": [200, 300], "refusals": 2, "isSetAside": false}
            """
        let entry = try JSONDecoder().decode(OutboxEntry.self, from: Data(text.utf8))
        #expect(entry.sequence == 4 && entry.refusals == 2 && entry.body == nil)
        #expect(entry.usesSharedHeaders && entry.usesCookies && entry.allowsCellularAccess)
        #expect(entry.redirectPolicy == nil && entry.timeouts == nil)
    }

    @Test func filtersOfTheEndpointsURLRunOnceAndThoseOfTheFinalOneAtEachAttempt() async throws {
        let (request, entry) = try await sent(plain) {
            $0.urlFilters = [ClosureURLFilter { url, _ in "v2/" + url }]
            $0.absoluteURLFilters = [ClosureURLFilter { url, _ in url + "?time=now" }]
        }
        #expect(entry.url == "https://api.example.com/v2/notes")
        #expect(request.url.string == "https://api.example.com/v2/notes?time=now")
    }

    @Test func argumentsOfTheHostAreTakenWhenARequestIsAdded() async throws {
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

    @Test func aBodyIsEncodedOnceAndTheConfigurationsDefaultsHold() async throws {
        var description = plain
        description.bodyEncoder = Reverse()
        let (request, entry) = try await sent(description) {
            $0.sharedHeaders = [.accept: "application/json"]
            $0.bodyEncoder = Reverse()
        }
        #expect(entry.body == Data("txet".utf8))
        #expect(request.headers[values: .contentEncoding] == ["x-reverse"])
        // Not that of the moment in which it was added.
        #expect(request.headers[.accept] == "application/json")
    }
}
