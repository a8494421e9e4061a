import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

@Suite(.limited)
struct CacheStepTests {
    private let offline = RequestError(.cannotConnect, stage: .transport, "The host is down.")

    @Test func freshEntryIsReturnedWithoutANetworkRequest() async throws {
        let fixture = try CacheStepFixture()
        fixture.network.respond(with: "one")
        let first = try await fixture.run()
        #expect(first.source == .network)
        await fixture.writes.flush()
        fixture.clock.advance(by: .seconds(60))
        let second = try await fixture.run()
        #expect(second.source == .cacheFresh)
        #expect(second.attempts == 0)
        #expect(second.data == Data("one".utf8))
        #expect(second.headers == first.headers)
        #expect(second.status == .ok)
        #expect(fixture.network.requests.count == 1)
        let size = "one".utf8.count + "Content-Type".utf8.count + "text/plain".utf8.count
        #expect(
            fixture.events.summaries == ["miss noEntry", "stored \(size)", "hit 60 cacheFresh"])
    }

    @Test func expiredEntryIsFetchedAgain() async throws {
        let fixture = try CacheStepFixture()
        fixture.network.respond(with: "one")
        _ = try await fixture.run()
        await fixture.writes.flush()
        fixture.clock.advance(by: .seconds(60.5))
        fixture.network.respond(with: "two")
        #expect(try await fixture.run().data == Data("two".utf8))
        #expect(fixture.events.summaries.contains("miss expired"))
    }

    @Test func negativeCacheTimeDisablesReadingAndStoring() async throws {
        let fixture = try CacheStepFixture()
        fixture.describe { $0.cacheSeconds = -1 }
        fixture.network.respond(with: "one")
        _ = try await fixture.run()
        _ = try await fixture.run()
        await fixture.writes.flush()
        #expect(fixture.network.requests.count == 2)
        #expect(try await fixture.store?.entries().isEmpty == true)
        #expect(fixture.events.summaries.isEmpty)
    }

    @Test func missingStoreUsesTheNetwork() async throws {
        let fixture = try CacheStepFixture(store: nil)
        fixture.network.respond(with: "one")
        #expect(try await fixture.run().source == .network)
        fixture.describe { $0.cache.policy = .cacheOnly }
        let error = await #expect(throws: RequestError.self) { try await fixture.run() }
        #expect(error?.code == .cacheMiss)
    }

    @Test func pendingWriteIsVisibleToTheNextRead() async throws {
        let store = FailingStore()
        let fixture = try CacheStepFixture(store: store)
        store.holdWrites()
        fixture.network.respond(with: "one")
        _ = try await fixture.run()
        #expect(try await fixture.run().source == .cacheFresh)
        #expect(try await store.inner.entries().isEmpty)
        store.releaseWrites()
        await fixture.writes.flush()
        #expect(try await store.inner.entries().count == 1)
    }

    @Test func synchronousWriteEndsBeforeTheResponseIsReturned() async throws {
        let fixture = try CacheStepFixture()
        fixture.describe { $0.cache.writesAsynchronously = false }
        fixture.network.respond(with: "one")
        _ = try await fixture.run()
        #expect(try await fixture.store?.entries().count == 1)
    }

    @Test func ignoresCacheFetchesAndStores() async throws {
        let fixture = try CacheStepFixture()
        fixture.network.respond(with: "one")
        _ = try await fixture.run()
        fixture.describe { $0.ignoresCache = true }
        fixture.network.respond(with: "two")
        #expect(try await fixture.run().data == Data("two".utf8))
        fixture.describe { $0.ignoresCache = false }
        #expect(try await fixture.run().data == Data("two".utf8))
        fixture.describe { ($0.ignoresCache, $0.cache.policy) = (true, .cacheOnly) }
        let error = await #expect(throws: RequestError.self) { try await fixture.run() }
        #expect(error?.code == .invalidCombination)
    }

    @Test func reloadFetchesAndStores() async throws {
        let fixture = try CacheStepFixture()
        fixture.describe { $0.cache.policy = .reload }
        fixture.network.respond(with: "one")
        _ = try await fixture.run()
        fixture.network.respond(with: "two")
        #expect(try await fixture.run().source == .network)
        fixture.describe { $0.cache.policy = .cacheElseLoad }
        #expect(try await fixture.run().data == Data("two".utf8))
    }

    @Test func cacheOnlyNeverSends() async throws {
        let fixture = try CacheStepFixture()
        fixture.describe { $0.cache.policy = .cacheOnly }
        let error = await #expect(throws: RequestError.self) { try await fixture.run() }
        #expect(error?.code == .cacheMiss)
        #expect(error?.cacheMiss == .noEntry)
        #expect(fixture.network.requests.isEmpty)
    }

    @Test func loadElseCacheReturnsAStaleEntryWhenTheNetworkFails() async throws {
        let fixture = try CacheStepFixture()
        fixture.describe { $0.cache.policy = .loadElseCache }
        fixture.network.respond(with: "one")
        _ = try await fixture.run()
        fixture.clock.advance(by: .seconds(1e6))
        fixture.network.respond(with: .failure(offline))
        let stale = try await fixture.run()
        #expect(stale.source == .cacheStale)
        #expect(stale.data == Data("one".utf8))
        // Not necessarily the last one: the event of the first write may come later.
        #expect(fixture.events.summaries.contains("hit 1000000 cacheStale"))
        fixture.network.respond(with: "two")
        #expect(try await fixture.run().data == Data("two".utf8))
    }

    @Test func loadElseCacheWithoutAnEntryThrowsTheNetworkError() async throws {
        let fixture = try CacheStepFixture()
        fixture.describe { $0.cache.policy = .loadElseCache }
        fixture.network.respond(with: .failure(offline))
        let error = await #expect(throws: RequestError.self) { try await fixture.run() }
        #expect(error?.code == .cannotConnect)
        fixture.network.respond(with: .failure(.cancelled))
        let cancelled = await #expect(throws: RequestError.self) { try await fixture.run() }
        #expect(cancelled?.code == .cancelled)
        #expect(fixture.events.summaries == ["miss noEntry"])
    }

    @Test func rejectedEntryIsRemovedAndFetchedAgain() async throws {
        let fixture = try CacheStepFixture()
        fixture.network.respond(with: "one")
        _ = try await fixture.run()
        await fixture.writes.flush()
        fixture.rejectEverything(with: RequestError(.shapeMismatch, stage: .validate, "x"))
        fixture.network.respond(with: .failure(offline))
        _ = try? await fixture.run()
        await fixture.writes.flush()
        #expect(fixture.events.summaries.last == "miss rejectedByValidator")
        #expect(try await fixture.store?.entries().isEmpty == true)
        #expect(fixture.network.requests.count == 2)
    }

    @Test func cacheOnlyReportsTheValidatorError() async throws {
        let fixture = try CacheStepFixture()
        fixture.network.respond(with: "one")
        _ = try await fixture.run()
        fixture.describe { $0.cache.policy = .cacheOnly }
        fixture.rejectEverything(with: RequestError(.undecodable, stage: .validate, "x"))
        let error = await #expect(throws: RequestError.self) { try await fixture.run() }
        #expect(error?.code == .cacheMiss)
        #expect(error?.cacheMiss == .invalidData)
        #expect((error?.underlying as? RequestError)?.code == .undecodable)
    }

    @Test func failedResponseIsNotStored() async throws {
        let fixture = try CacheStepFixture()
        fixture.network.respond(with: .failure(RequestError(.shapeMismatch, stage: .validate, "x")))
        _ = try? await fixture.run()
        await fixture.writes.flush()
        #expect(try await fixture.store?.entries().isEmpty == true)
    }

    @Test func storeFailureDoesNotFailTheRequest() async throws {
        let store = FailingStore()
        let fixture = try CacheStepFixture(store: store)
        let broken = RequestError(.storeFailed, stage: .cache, "Broken.")
        store.fail(reads: broken, writes: broken)
        fixture.network.respond(with: "one")
        #expect(try await fixture.run().source == .network)
        await fixture.writes.flush()
        #expect(fixture.events.summaries == ["miss storeFailed", "writeFailed storeFailed"])
        fixture.describe { $0.cache.policy = .cacheOnly }
        let error = await #expect(throws: RequestError.self) { try await fixture.run() }
        #expect(error?.code == .storeFailed)
        #expect(error?.cacheMiss == .storeFailed)
    }

    @Test func invalidStoredDataIsAMiss() async throws {
        let store = FailingStore()
        let fixture = try CacheStepFixture(store: store)
        store.fail(reads: .cacheMiss(.invalidData))
        fixture.network.respond(with: "one")
        _ = try await fixture.run()
        #expect(fixture.events.summaries.first == "miss invalidData")
    }

    @Test func identitiesHaveSeparateEntries() async throws {
        let fixture = try CacheStepFixture()
        for name in ["anna", "bob"] {
            fixture.describe { $0.cache.identity = name }
            fixture.network.respond(with: name)
            _ = try await fixture.run()
        }
        fixture.network.respond(with: "other")
        for name in ["anna", "bob", "anna"] {
            fixture.describe { $0.cache.identity = name }
            #expect(try await fixture.run().data == Data(name.utf8))
        }
    }

    @Test func downloadsAndCachedResponsesAreNotStored() async throws {
        let fixture = try CacheStepFixture()
        var response = ScriptedStep.response("one")
        response.source = .cacheStale
        fixture.network.respond(with: .success(response))
        _ = try await fixture.run()
        fixture.describe {
            $0.download = DownloadPlan(to: URL(fileURLWithPath: "/nowhere"))
        }
        fixture.network.respond(with: "two")
        _ = try await fixture.run()
        await fixture.writes.flush()
        #expect(try await fixture.store?.entries().isEmpty == true)
    }
}
