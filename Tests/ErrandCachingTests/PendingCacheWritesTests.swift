import ErrandCaching
import Foundation
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
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
}
