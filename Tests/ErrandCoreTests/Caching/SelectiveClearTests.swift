import ErrandCore
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.limited)
struct SelectiveClearTests {
    private let store = FailingStore()
    private let writes = PendingCacheWrites()
    private let selection = StoredEntryInfo.Selection(tag: 1)

    private func key(_ name: String) -> CacheKey { CacheKey(canonical: name) }

    private func entry(_ text: String, tag: Int) -> StoredResponse {
        StoredResponse(
            status: 200, headers: [:], body: Data(text.utf8), url: "http://a/",
            storedAt: Date(timeIntervalSince1970: 0), tag: tag)
    }

    private func stored() async throws -> Set<String> {
        Set(try await store.inner.entries().map(\.key.canonical))
    }

    @Test func entriesOfTheSelectionAreRemovedAndCounted() async throws {
        for (name, tag) in [("a", 1), ("b", 2), ("c", 1)] {
            try await store.inner.store(entry(name, tag: tag), for: key(name))
        }
        #expect(try await writes.clear(selection, in: store, before: 1) == 2)
        #expect(try await stored() == ["b"])
    }

    @Test func queuedAndRunningWritesOfTheSelectionAreDiscarded() async throws {
        let failures = Mutex<[String]>([])
        store.holdWrites()
        for (name, tag) in [("running", 1), ("queued", 1), ("other", 2)] {
            writes.enqueue(.store(entry(name, tag: tag)), for: key(name), in: store) { error in
                if error != nil { failures.withLock { $0.append(name) } }
            }
            if name == "running" { await store.untilHeld() }
        }
        async let count = writes.clear(selection, in: store, before: 1)
        while case .entry = writes.reading(of: key("running")) { await Task.yield() }
        guard case .removed = writes.reading(of: key("running")) else {
            Issue.record("The running write is visible.")
            return
        }
        guard case .entry = writes.reading(of: key("other")) else {
            Issue.record("The other write was discarded.")
            return
        }
        guard case .unknownExcept(let selections) = writes.reading(of: key("queued")) else {
            Issue.record("The selection is not known to readers.")
            return
        }
        #expect(selections == [selection])
        store.releaseWrites()
        _ = try await count
        await writes.flush()
        #expect(try await stored() == ["other"])
        #expect(failures.withLock { $0 } == ["queued"])
        guard case .unknown = writes.reading(of: key("queued")) else {
            Issue.record("The selection is still being removed.")
            return
        }
    }

    @Test func earlierRequestsDoNotStoreEntriesOfTheSelection() async throws {
        _ = try await writes.clear(selection, in: store, before: 10)
        let cases: [(String, tag: Int, ticket: UInt64)] = [
            ("earlier", 1, 9), ("earlierOther", 2, 9), ("later", 1, 10),
        ]
        for (name, tag, ticket) in cases {
            let failure = await writes.write(
                .store(entry(name, tag: tag)), for: key(name), in: store, ticket: ticket)
            #expect((failure != nil) == (name == "earlier"))
        }
        #expect(try await stored() == ["earlierOther", "later"])
    }

    @Test func manySelectionsAreReplacedByOneForAllEntries() async throws {
        for ticket in 1...65 {
            _ = try await writes.clear(
                StoredEntryInfo.Selection(tag: 100 + ticket), in: store, before: UInt64(ticket) * 10
            )
        }
        // The first selection is forgotten, so requests from before it store nothing.
        for (ticket, isStored) in [(9, false), (10, true)] {
            let failure = await writes.write(
                .store(entry("a", tag: 2)), for: key("a"), in: store, ticket: UInt64(ticket))
            #expect((failure == nil) == isStored)
        }
        let second = await writes.write(
            .store(entry("b", tag: 102)), for: key("b"), in: store, ticket: 19)
        #expect(second != nil)
    }

    @Test func failureOfTheStoreIsThrown() async throws {
        store.fail(removals: RequestError(.storeFailed, stage: .cache, "The disk is gone."))
        await #expect(throws: RequestError.self) {
            _ = try await writes.clear(selection, in: store, before: 1)
        }
    }
}
