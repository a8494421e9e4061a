import ErrandCore
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.limited)
struct PendingCacheWritesTests {
    private let store = FailingStore()
    private let writes = PendingCacheWrites(maximumBytes: 100)
    private let key = CacheKey(canonical: "a")

    private func entry(_ text: String) -> StoredResponse {
        StoredResponse(
            status: 200, headers: [:], body: Data(text.utf8), url: "http://a/",
            storedAt: Date(timeIntervalSince1970: 0))
    }

    private func read() -> String? {
        guard case .entry(let entry) = writes.reading(of: key) else { return nil }
        return String(decoding: entry.body, as: UTF8.self)
    }

    @Test func laterWriteReplacesEarlierOnes() async throws {
        let ends = Mutex(0)
        store.holdWrites()
        for text in ["one", "two", "three"] {
            writes.enqueue(.store(entry(text)), for: key, in: store) { _ in
                ends.withLock { $0 += 1 }
            }
            #expect(read() == text)
        }
        store.releaseWrites()
        await writes.flush()
        #expect(try await store.inner.entry(for: key)?.body == Data("three".utf8))
        #expect(ends.withLock { $0 } == 3)
        #expect(read() == nil)
    }

    @Test func removalAfterAWriteIsVisibleAtOnceAndPersists() async throws {
        store.holdWrites()
        writes.enqueue(.store(entry("one")), for: key, in: store)
        writes.enqueue(.remove, for: key, in: store)
        guard case .removed = writes.reading(of: key) else {
            Issue.record("The entry is still visible.")
            return
        }
        store.releaseWrites()
        await writes.flush()
        #expect(try await store.inner.entry(for: key) == nil)
    }

    @Test func enqueueReportsThatTheLimitIsExceeded() async {
        store.holdWrites()
        #expect(writes.enqueue(.store(entry("small")), for: key, in: store))
        let large = entry(String(repeating: "x", count: 200))
        #expect(!writes.enqueue(.store(large), for: CacheKey(canonical: "b"), in: store))
        store.releaseWrites()
        await writes.flush()
        #expect(writes.enqueue(.store(entry("small")), for: key, in: store))
        await writes.flush()
    }

    @Test func writeFailureIsReportedAndForgotten() async {
        store.fail(writes: RequestError(.storeFailed, stage: .cache, "x"))
        let error = await writes.write(.store(entry("one")), for: key, in: store)
        #expect(error?.code == .storeFailed)
        #expect(read() == nil)
        store.fail()
        #expect(await writes.write(.store(entry("one")), for: key, in: store) == nil)
    }

    @Test func flushWithoutWritesReturns() async { await writes.flush() }

    // MARK: - Removing everything

    @Test func clearRemovesRunningAndQueuedWrites() async throws {
        let other = CacheKey(canonical: "b")
        let ends = Mutex<[String]>([])
        store.holdWrites()
        for (name, key) in [("running", key), ("queued", other)] {
            writes.enqueue(.store(entry("one")), for: key, in: store) { error in
                ends.withLock { $0.append("\(name) \(error == nil)") }
            }
        }
        await store.untilHeld()
        async let failure = writes.clear(store, before: 7)
        while case .entry = writes.reading(of: key) { await Task.yield() }
        for key in [key, other, CacheKey(canonical: "c")] {
            guard case .removed = writes.reading(of: key) else {
                Issue.record("The entry of \(key) is still visible.")
                continue
            }
        }
        store.releaseWrites()
        #expect(await failure == nil)
        await writes.flush()
        #expect(try await store.inner.entries().isEmpty)
        #expect(ends.withLock { $0.sorted() } == ["queued false", "running true"])
        guard case .unknown = writes.reading(of: key) else {
            Issue.record("The queue still knows the key.")
            return
        }
    }

    @Test func writeAfterClearIsKept() async throws {
        store.holdWrites()
        writes.enqueue(.store(entry("old")), for: key, in: store)
        await store.untilHeld()
        async let first = writes.clear(store, before: 7)
        async let second = writes.clear(store, before: 7)
        while case .entry = writes.reading(of: key) { await Task.yield() }
        writes.enqueue(.store(entry("new")), for: key, in: store, ticket: 7)
        #expect(read() == "new")
        store.releaseWrites()
        let failures = await [first, second]
        #expect(failures.allSatisfy { $0 == nil })
        await writes.flush()
        #expect(try await store.inner.entry(for: key)?.body == Data("new".utf8))
    }

    @Test func writeOfAnEarlierRequestIsDiscarded() async throws {
        #expect(await writes.clear(store, before: 7) == nil)
        let error = await writes.write(.store(entry("x")), for: key, in: store, ticket: 6)
        #expect(error?.code == .storeFailed)
        #expect(await writes.write(.store(entry("x")), for: key, in: store, ticket: 7) == nil)
        #expect(await writes.clear(store, before: 3) == nil)
        let late = await writes.write(.store(entry("x")), for: key, in: store, ticket: 6)
        #expect(late?.code == .storeFailed, "an earlier ticket does not lower the limit")
    }

    @Test func clearFreesTheBytesOfDiscardedWrites() async {
        let large = entry(String(repeating: "x", count: 60))
        store.holdWrites()
        #expect(writes.enqueue(.store(large), for: key, in: store))
        #expect(!writes.enqueue(.store(large), for: CacheKey(canonical: "b"), in: store))
        async let failure = writes.clear(store, before: 0)
        while case .entry = writes.reading(of: key) { await Task.yield() }
        #expect(writes.enqueue(.store(large), for: CacheKey(canonical: "c"), in: store))
        store.releaseWrites()
        _ = await failure
        await writes.flush()
        #expect(writes.enqueue(.store(large), for: key, in: store))
        await writes.flush()
    }

    @Test func failedRemovalIsReported() async {
        store.fail(removals: RequestError(.storeFailed, stage: .cache, "x"))
        #expect(await writes.clear(store, before: 0)?.code == .storeFailed)
        guard case .unknown = writes.reading(of: key) else {
            Issue.record("Reads must see the store again.")
            return
        }
    }

    @Test func cancelledFlushEndsAtOnce() async throws {
        store.holdWrites()
        writes.enqueue(.store(entry("one")), for: key, in: store)
        let flush = Task { [writes] in await writes.flush() }
        flush.cancel()
        await flush.value
        #expect(read() == "one")
        store.releaseWrites()
        await writes.flush()
        #expect(read() == nil)
    }
}
