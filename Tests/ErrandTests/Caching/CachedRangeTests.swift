import Errand
import ErrandTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Ranges under the cache time, whose key has no `Range`.
@Suite(.limited) struct CachedRangeTests {
    private let fixture = AgentFixture()
    private let whole = Data("0123456789".utf8)

    init() {
        fixture.transport.respond { [whole] request in
            guard request.headers.contains(.range) else { return ScriptedResponse(body: whole) }
            return ScriptedResponse(
                status: .partialContent, headers: [.contentRange: "bytes 2-3/10"],
                body: whole[2..<4])
        }
    }

    private func request(_ range: String? = nil, _ policy: CachePolicy? = nil) -> InlineRequest {
        InlineRequest("a") {
            $0.headers[.range] = range
            $0.cacheSeconds = 60
            $0.cache.policy = policy
            $0.cache.writesAsynchronously = false
            $0.acceptance.format = .any
        }
    }

    private func get(
        _ range: String? = nil, _ policy: CachePolicy? = nil
    ) async throws -> Response { try await request(range, policy).send(on: fixture.agent) }

    @Test(arguments: [nil, CachePolicy.reload, .loadElseCache, .cacheThenLoad])
    func partAndWholeAreNotServedForEachOther(policy: CachePolicy?) async throws {
        #expect(try await get("bytes=2-3", policy).status == .partialContent)
        let first = try await get()
        #expect(first.source == .network && first.data == whole)
        let part = try await get("bytes=2-3", policy)
        #expect(part.source == .network && part.data == whole[2..<4])
        #expect(!fixture.events.names.contains("cacheHit"))
        let second = try await get()
        #expect(second.source == .cacheFresh && second.data == whole)
    }

    @Test func wholeDoesNotReplaceAFailedPart() async throws {
        _ = try await get()
        fixture.transport.respond { _ in
            .failure(RequestError(.cannotConnect, stage: .transport, "offline"))
        }
        for policy in [CachePolicy.loadElseCache, .cacheThenLoad] {
            let error = await #expect(throws: RequestError.self) {
                try await get("bytes=2-3", policy)
            }
            #expect(error?.code == .cannotConnect)
            #expect(try await get(nil, policy).data == whole)
        }
    }

    @Test func partIsAMissWithoutTheNetwork() async throws {
        _ = try await get()
        let error = await #expect(throws: RequestError.self) {
            try await get("bytes=2-3", .cacheOnly)
        }
        #expect(error?.code == .cacheMiss && error?.cacheMiss == .noEntry)
        #expect(try await request("bytes=2-3").cachedResponse(on: fixture.agent) == nil)
        #expect(try await get(nil, .cacheOnly).data == whole)
        #expect(fixture.transport.requestCount == 1)
    }

    /// Such as to a `Range` that an authenticator or a retry adds.
    @Test func partWithoutARangeIsNotStored() async throws {
        fixture.transport.respond { _ in
            ScriptedResponse(status: .partialContent, body: Data("23".utf8))
        }
        for _ in 0..<2 { #expect(try await get().source == .network) }
        let address = try HTTPURL(parsing: "https://api.example.com/a")
        for (status, range) in [(206, nil), (200, "bytes=2-3")] {
            let response = Response(
                status: .init(code: status), body: .data(Data("23".utf8)), url: address)
            let error = await #expect(throws: RequestError.self) {
                try await fixture.agent.store(response, for: request(range).makeDescription())
            }
            #expect(error?.code == .invalidCombination)
        }
        #expect(try await fixture.agent.store?.entries().isEmpty == true)
    }
}
