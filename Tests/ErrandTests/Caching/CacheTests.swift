import Errand
import ErrandTesting
import Foundation
import TestSupport
import Testing

final class CachedRequest: BaseRequest {
    var seconds = 60
    var version = 0
    var identity: String?
    var nonce = 0
    var shape: JSONShape?
    var policy: CachePolicy?

    override var url: EndpointURL { "cached" }
    override var arguments: Arguments? { ["q": "x", "nonce": nonce] }
    override var cacheSeconds: Int { seconds }
    override var cacheVersion: Int { version }
    override func configure(_ request: inout RequestDescription) {
        super.configure(&request)
        request.cache.identity = identity
        request.cache.policy = policy
        request.cache.writesAsynchronously = false
        request.cache.arguments = ["q": "x"]
    }
    override var validator: JSONShape? { shape }
}

@Suite(.limited) struct CacheTests {
    private let fixture = AgentFixture()

    init() {
        fixture.transport.on(
            .get, "/cached", .json(#"{"n":1}"#), .json(#"{"n":2}"#), .json(#"{"n":3}"#))
    }

    @Test func freshEntryIsServedWithoutSendingAndIsValidatedAgain() async throws {
        #expect(try await number() == 1)
        let request = fixture.with(CachedRequest())
        let hit = try await request.send()
        #expect(hit.source == .cacheFresh)
        #expect(hit.status == 200)
        #expect(hit.headers[.contentType] == "application/json")
        #expect(hit.attempts == 0)
        #expect(try await number { $0.shape = ["missing": .number] } == nil)
        #expect(fixture.transport.requests.count == 2)
    }

    @Test func entryIsFreshUpToAndIncludingItsMaximumAge() async throws {
        #expect(try await number() == 1)
        fixture.clock.advance(by: .seconds(60))
        #expect(try await number() == 1)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await number() == 2)
    }

    @Test func versionsAndIdentitiesHaveSeparateEntries() async throws {
        #expect(try await number() == 1)
        #expect(try await number { $0.version = 1 } == 2)
        #expect(try await number { $0.identity = "bob" } == 3)
        #expect(try await number { $0.version = 1 } == 2)
    }

    @Test(arguments: [CachePolicy.cacheElseLoad, .http])
    func entriesOfAnotherAppVersionAreNotUsed(policy: CachePolicy) async throws {
        let fixture = AgentFixture { $0.appVersion = "1.0" }
        fixture.transport.respond { _ in
            ScriptedResponse(
                headers: [.contentType: "application/json", .cacheControl: "max-age=60"],
                body: Data("{}".utf8))
        }
        func isFromCache() async throws -> Bool {
            let request = fixture.with(CachedRequest())
            request.policy = policy
            return try await request.send().isFromCache
        }
        #expect(try await !isFromCache())
        #expect(try await isFromCache())
        fixture.agent.reconfigure { $0.appVersion = "1.1" }
        #expect(try await !isFromCache())
        #expect(try await isFromCache())
        let reasons = fixture.events.events.compactMap { event -> CacheMissReason? in
            if case .cacheMiss(let reason) = event.kind { reason } else { nil }
        }
        #expect(reasons == [.noEntry, .appVersionMismatch])
        // An entry of a version is not used without one, either.
        fixture.agent.reconfigure { $0.appVersion = nil }
        #expect(try await !isFromCache())
        #expect(fixture.transport.requestCount == 3)
    }

    @Test func cacheOnlyMissNamesTheAppVersion() async throws {
        fixture.agent.reconfigure { $0.appVersion = "1.0" }
        #expect(try await number() == 1)
        fixture.agent.reconfigure { $0.appVersion = "1.1" }
        let request = fixture.with(CachedRequest())
        request.policy = .cacheOnly
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.code == .cacheMiss && error?.cacheMiss == .appVersionMismatch)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func cacheArgumentsExcludeOtherArgumentsFromTheKey() async throws {
        #expect(try await number { $0.nonce = 1 } == 1)
        #expect(try await number { $0.nonce = 2 } == 1)
    }

    @Test func ignoringTheCacheStillStoresTheResponse() async throws {
        #expect(try await number() == 1)
        #expect(try await number { $0.ignoresCache = true } == 2)
        #expect(try await number() == 2)
    }

    @Test func responseOfARequestWithoutCacheTimeIsNotStored() async throws {
        for seconds in [0, -1] {
            let request = fixture.with(CachedRequest())
            request.seconds = seconds
            try await request.send()
        }
        #expect(try await fixture.agent.store?.entries().isEmpty == true)
        #expect(try await number() == 3)
        #expect(try await fixture.agent.store?.entries().count == 1)
    }

    @Test func cacheOnlyMissNamesItsReason() async throws {
        let request = fixture.with(CachedRequest())
        request.policy = .cacheOnly
        let error = await #expect(throws: RequestError.self) { try await request.send() }
        #expect(error?.code == .cacheMiss)
        #expect(error?.cacheMiss == .noEntry)
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func loadElseCacheServesAStaleEntryOnFailure() async throws {
        let fixture = AgentFixture()
        fixture.transport.on(
            .get, "/cached", .json(#"{"n":1}"#),
            .failure(RequestError(.connectionLost, stage: .transport, "gone")))
        let request = fixture.with(CachedRequest())
        try await request.send()
        fixture.clock.advance(by: .seconds(3600))
        request.policy = .loadElseCache
        #expect(try await request.send().source == .cacheStale)
        request.policy = nil
        #expect(
            await #expect(throws: RequestError.self) { try await request.send() }?.code
                == .connectionLost)
    }

    private func number(_ configure: (CachedRequest) -> Void = { _ in }) async throws -> Int? {
        let request = fixture.with(CachedRequest())
        configure(request)
        return try? await request.send().json["n"].int
    }
}
