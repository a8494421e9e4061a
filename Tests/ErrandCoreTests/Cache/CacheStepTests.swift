import ErrandCore
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CacheStepTests {
    private let offline = RequestError(.cannotConnect, stage: .transport, "Nobody is there.")

    @Test func aFreshEntryAnswersAndNothingIsSent() async throws {
        let world = try CacheWorld()
        world.network.answer("one")
        let first = try await world.run()
        #expect(first.source == .network)
        await world.writes.flush()
        world.clock.advance(60)
        let second = try await world.run()
        #expect(second.source == .cacheFresh)
        #expect(second.attempts == 0)
        #expect(second.data == Data("one".utf8))
        #expect(second.headers == first.headers)
        #expect(second.status == .ok)
        #expect(world.network.seen.count == 1)
        let size = "one".utf8.count + "Content-Type".utf8.count + "text/plain".utf8.count
        #expect(world.events.all == ["miss noEntry", "stored \(size)", "hit 60 cacheFresh"])
    }

    @Test func anOldEntryDoesNot() async throws {
        let world = try CacheWorld()
        world.network.answer("one")
        _ = try await world.run()
        await world.writes.flush()
        world.clock.advance(60.5)
        world.network.answer("two")
        #expect(try await world.run().data == Data("two".utf8))
        #expect(world.events.all.contains("miss expired"))
    }

    @Test func withoutCacheTimeNothingIsReadOrStored() async throws {
        let world = try CacheWorld()
        world.describe { $0.cacheSeconds = -1 }
        world.network.answer("one")
        _ = try await world.run()
        _ = try await world.run()
        await world.writes.flush()
        #expect(world.network.seen.count == 2)
        #expect(try await world.store?.entries().isEmpty == true)
        #expect(world.events.all == ["miss invalidCacheTime", "miss invalidCacheTime"])
    }

    @Test func withoutAStoreTheNetworkIsAsked() async throws {
        let world = try CacheWorld(store: nil)
        world.network.answer("one")
        #expect(try await world.run().source == .network)
        world.describe { $0.cachePolicy = .cacheOnly }
        let error = await #expect(throws: RequestError.self) { try await world.run() }
        #expect(error?.code == .cacheMiss)
    }

    @Test func theNextReaderSeesAWriteThatIsNotDoneYet() async throws {
        let store = FailingStore()
        let world = try CacheWorld(store: store)
        store.closeForWrites()
        world.network.answer("one")
        _ = try await world.run()
        #expect(try await world.run().source == .cacheFresh)
        #expect(try await store.inner.entries().isEmpty)
        store.openForWrites()
        await world.writes.flush()
        #expect(try await store.inner.entries().count == 1)
    }

    @Test func aSynchronousWriteIsDoneWhenTheAnswerComes() async throws {
        let world = try CacheWorld()
        world.describe { $0.writesCacheAsynchronously = false }
        world.network.answer("one")
        _ = try await world.run()
        #expect(try await world.store?.entries().count == 1)
    }

    @Test func ignoringTheCacheLoadsAndStores() async throws {
        let world = try CacheWorld()
        world.network.answer("one")
        _ = try await world.run()
        world.describe { $0.ignoresCache = true }
        world.network.answer("two")
        #expect(try await world.run().data == Data("two".utf8))
        world.describe { $0.ignoresCache = false }
        #expect(try await world.run().data == Data("two".utf8))
        world.describe { ($0.ignoresCache, $0.cachePolicy) = (true, .cacheOnly) }
        let error = await #expect(throws: RequestError.self) { try await world.run() }
        #expect(error?.code == .invalidCombination)
    }

    @Test func reloadAsksTheNetworkAndStores() async throws {
        let world = try CacheWorld()
        world.describe { $0.cachePolicy = .reload }
        world.network.answer("one")
        _ = try await world.run()
        world.network.answer("two")
        #expect(try await world.run().source == .network)
        world.describe { $0.cachePolicy = .cacheElseLoad }
        #expect(try await world.run().data == Data("two".utf8))
    }

    @Test func cacheOnlyNeverSends() async throws {
        let world = try CacheWorld()
        world.describe { $0.cachePolicy = .cacheOnly }
        let error = await #expect(throws: RequestError.self) { try await world.run() }
        #expect(error?.code == .cacheMiss)
        #expect(error?.cacheMiss == .noEntry)
        #expect(world.network.seen.isEmpty)
    }

    @Test func loadElseCacheTakesWhatThereIsWhenTheNetworkFails() async throws {
        let world = try CacheWorld()
        world.describe { $0.cachePolicy = .loadElseCache }
        world.network.answer("one")
        _ = try await world.run()
        world.clock.advance(1e6)
        world.network.answer(.failure(offline))
        let stale = try await world.run()
        #expect(stale.source == .cacheStale)
        #expect(stale.data == Data("one".utf8))
        // Not the last one for sure: that the first answer is stored is told when it is.
        #expect(world.events.all.contains("hit 1000000 cacheStale"))
        world.network.answer("two")
        #expect(try await world.run().data == Data("two".utf8))
    }

    @Test func loadElseCacheWithoutAnEntryTellsTheFailure() async throws {
        let world = try CacheWorld()
        world.describe { $0.cachePolicy = .loadElseCache }
        world.network.answer(.failure(offline))
        let error = await #expect(throws: RequestError.self) { try await world.run() }
        #expect(error?.code == .cannotConnect)
        world.network.answer(.failure(.cancelled))
        let cancelled = await #expect(throws: RequestError.self) { try await world.run() }
        #expect(cancelled?.code == .cancelled)
        #expect(world.events.all == ["miss noEntry"])
    }

    @Test func anEntryTheValidatorRejectsGoesAndTheNetworkIsAsked() async throws {
        let world = try CacheWorld()
        world.network.answer("one")
        _ = try await world.run()
        await world.writes.flush()
        world.rejectEverything(with: RequestError(.shapeMismatch, stage: .validate, "x"))
        world.network.answer(.failure(offline))
        _ = try? await world.run()
        await world.writes.flush()
        #expect(world.events.all.last == "miss rejectedByValidator")
        #expect(try await world.store?.entries().isEmpty == true)
        #expect(world.network.seen.count == 2)
    }

    @Test func cacheOnlyTellsWhatTheValidatorSaid() async throws {
        let world = try CacheWorld()
        world.network.answer("one")
        _ = try await world.run()
        world.describe { $0.cachePolicy = .cacheOnly }
        world.rejectEverything(with: RequestError(.undecodable, stage: .validate, "x"))
        let error = await #expect(throws: RequestError.self) { try await world.run() }
        #expect(error?.code == .cacheMiss)
        #expect(error?.cacheMiss == .invalidData)
        #expect((error?.underlying as? RequestError)?.code == .undecodable)
    }

    @Test func anAnswerThatFailsIsNotStored() async throws {
        let world = try CacheWorld()
        world.network.answer(.failure(RequestError(.shapeMismatch, stage: .validate, "x")))
        _ = try? await world.run()
        await world.writes.flush()
        #expect(try await world.store?.entries().isEmpty == true)
    }

    @Test func aStoreThatFailsFailsNoRequest() async throws {
        let store = FailingStore()
        let world = try CacheWorld(store: store)
        let broken = RequestError(.storeFailed, stage: .cache, "Broken.")
        store.fail(reads: broken, writes: broken)
        world.network.answer("one")
        #expect(try await world.run().source == .network)
        await world.writes.flush()
        #expect(world.events.all == ["miss storeFailed", "writeFailed storeFailed"])
        world.describe { $0.cachePolicy = .cacheOnly }
        let error = await #expect(throws: RequestError.self) { try await world.run() }
        #expect(error?.code == .storeFailed)
        #expect(error?.cacheMiss == .storeFailed)
    }

    @Test func damageIsAMissOfItsOwn() async throws {
        let store = FailingStore()
        let world = try CacheWorld(store: store)
        store.fail(reads: .cacheMiss(.invalidData))
        world.network.answer("one")
        _ = try await world.run()
        #expect(world.events.all.first == "miss invalidData")
    }

    @Test func twoUsersHaveASlotEach() async throws {
        let world = try CacheWorld()
        for name in ["anna", "bob"] {
            world.describe { $0.cacheIdentity = name }
            world.network.answer(name)
            _ = try await world.run()
        }
        world.network.answer("nobody")
        for name in ["anna", "bob", "anna"] {
            world.describe { $0.cacheIdentity = name }
            #expect(try await world.run().data == Data(name.utf8))
        }
    }

    @Test func downloadsAndCachedAnswersAreNotStored() async throws {
        let world = try CacheWorld()
        var answer = ScriptedStep.response("one")
        answer.source = .cacheStale
        world.network.answer(.success(answer))
        _ = try await world.run()
        world.describe {
            $0.download = DownloadPlan(destination: URL(fileURLWithPath: "/nowhere"))
        }
        world.network.answer("two")
        _ = try await world.run()
        await world.writes.flush()
        #expect(try await world.store?.entries().isEmpty == true)
    }
}
