import ErrandCore
import ErrandSQLite
import Foundation
import Testing

/// The contract of `ResponseStore`, tested with every store.
@Suite(.timeLimit(.minutes(5)))
struct StoreContractTests {
    enum Kind: String, CaseIterable, Sendable {
        case memory, sqlite, sqliteWithoutMemory, sqliteWithoutFile
    }

    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    func store(_ kind: Kind, maximumBytes: Int = 32 << 20) -> any ResponseStore {
        switch kind {
        case .memory: MemoryResponseStore(maximumBytes: maximumBytes)
        case .sqlite:
            SQLiteResponseStore(path: directory.path("a.sqlite"), maximumBytes: maximumBytes)
        case .sqliteWithoutMemory:
            SQLiteResponseStore(
                path: directory.path("a.sqlite"), maximumBytes: maximumBytes, maximumMemoryBytes: 0)
        case .sqliteWithoutFile:
            // A directory is not a file.
            SQLiteResponseStore(
                path: directory.url.path, maximumBytes: maximumBytes,
                maximumMemoryBytes: 32 << 20)
        }
    }

    @Test(arguments: Kind.allCases)
    func emptyStoreHasNoEntries(kind: Kind) async throws {
        let store = store(kind)
        #expect(try await store.entry(for: key("a")) == nil)
        #expect(try await store.entries().isEmpty)
        try await store.remove(key("a"))
        try await store.removeAll(where: nil)
    }

    @Test(arguments: Kind.allCases)
    func entriesAreReadAsStored(kind: Kind) async throws {
        var headers = HTTPFields()
        headers.append(HTTPField(name: .setCookie, value: "a=1"))
        headers.append(HTTPField(name: .setCookie, value: "b=2; Path=/"))
        headers.append(HTTPField(name: .contentType, value: "text/plain; charset=\"ü\": x"))
        let full = StoredResponse(
            status: 203, headers: headers, body: Data((0..<70_000).map { UInt8($0 & 255) }),
            url: "http://test/ä?q=1", storedAt: Date(timeIntervalSinceReferenceDate: 1e8 / 3),
            cacheVersion: -7, appVersion: "1.2 \u{1F980}", identity: "", tag: .min)
        let bare = StoredResponse(
            status: 204, headers: [:], body: Data(), url: "", storedAt: .distantPast,
            cacheVersion: .max)
        let store = store(kind)
        try await store.store(full, for: key("full"))
        try await store.store(bare, for: key("bare"))
        for _ in 0..<2 {
            #expect(try await store.entry(for: key("full")) == full)
            #expect(try await store.entry(for: key("bare")) == bare)
        }
        let cookies = try await store.entry(for: key("full"))?.headers[values: .setCookie]
        #expect(cookies == ["a=1", "b=2; Path=/"])
    }

    @Test(arguments: Kind.allCases)
    func dataSliceIsStoredByItsBytes(kind: Kind) async throws {
        let store = store(kind)
        var sliced = entry("")
        sliced.body = Data("0123456789".utf8)[3..<6]
        try await store.store(sliced, for: key("a"))
        #expect(try await store.entry(for: key("a"))?.body == Data("345".utf8))
    }

    @Test(arguments: Kind.allCases)
    func laterEntryReplacesTheEarlierOne(kind: Kind) async throws {
        let store = store(kind)
        try await store.store(entry("one"), for: key("a"))
        try await store.store(entry("two", tag: 2), for: key("a"))
        #expect(try await store.entry(for: key("a")) == entry("two", tag: 2))
        #expect(try await store.entries().count == 1)
    }

    @Test(arguments: Kind.allCases)
    func keysWithTheSameHashAreDistinguished(kind: Kind) async throws {
        let one = CacheKey(canonical: "8yn0iYCKYHlIj4-BwPqk")
        let other = CacheKey(canonical: "GReLUrM4wMqfg9yzV3KQ")
        try #require(one.hash64 == other.hash64)
        let store = store(kind)
        try await store.store(entry("one"), for: one)
        #expect(try await store.entry(for: other) == nil)
        #expect(try await store.entry(for: one) == entry("one"))
        try await store.store(entry("other"), for: other)
        #expect(try await store.entry(for: other) == entry("other"))
        // One of the two may have been evicted, but neither is returned for the other's key.
        let first = try await store.entry(for: one)
        #expect(first == nil || first == entry("one"))
    }

    @Test(arguments: Kind.allCases)
    func removingAKeyKeepsCollidingEntries(kind: Kind) async throws {
        let store = store(kind)
        try await store.store(entry("one"), for: CacheKey(canonical: "8yn0iYCKYHlIj4-BwPqk"))
        try await store.remove(CacheKey(canonical: "GReLUrM4wMqfg9yzV3KQ"))
        let left = try await store.entry(for: CacheKey(canonical: "8yn0iYCKYHlIj4-BwPqk"))
        #expect(left == entry("one"))
    }

    @Test(arguments: Kind.allCases)
    func removesOneSomeOrAllEntries(kind: Kind) async throws {
        let store = store(kind)
        for number in 0..<1200 {
            try await store.store(entry("x", tag: number), for: key("\(number)"))
        }
        try await store.remove(key("7"))
        #expect(try await store.entry(for: key("7")) == nil)
        try await store.removeAll { $0.tag % 3 == 0 }
        #expect(try await store.entry(for: key("9")) == nil)
        #expect(try await store.entry(for: key("8")) != nil)
        #expect(try await store.entries().count == 799)
        try await store.removeAll(where: nil)
        #expect(try await store.entries().isEmpty)
        #expect(try await store.entry(for: key("8")) == nil)
    }

    @Test(arguments: Kind.allCases)
    func entriesDescribeStoredResponses(kind: Kind) async throws {
        let store = store(kind)
        let stored = entry("hello", tag: 5, identity: "me")
        try await store.store(stored, for: key("a"))
        let info = try #require(try await store.entries().first)
        #expect(
            info
                == StoredEntryInfo(
                    key: key("a"), url: stored.url, storedAt: stored.storedAt, size: stored.size,
                    tag: 5, identity: "me"))
    }

    @Test(arguments: Kind.allCases)
    func tooLargeEntryIsRejectedAndRemovesThePreviousOne(kind: Kind) async throws {
        let store = store(kind, maximumBytes: 128 << 10)
        try await store.store(entry("small"), for: key("a"))
        let error = await #expect(throws: RequestError.self) {
            try await store.store(
                entry(String(repeating: "x", count: 200 << 10)), for: key("a"))
        }
        #expect(error?.code == .storeFailed)
        #expect(error?.message.contains("maximumBytes") == true)
        #expect(try await store.entry(for: key("a")) == nil)
    }

    /// A larger entry would evict almost all others.
    @Test func sqliteStoreRefusesEntriesAboveHalfOfItsLimit() async throws {
        let store = store(.sqlite, maximumBytes: 256 << 10)
        let fitting = entry(bytes: (128 << 10) - 100)
        let large = entry(bytes: 128 << 10)
        #expect(fitting.size <= 128 << 10 && large.size > 128 << 10)
        try await store.store(fitting, for: key("a"))
        #expect(try await store.entry(for: key("a")) == fitting)
        let error = await #expect(throws: RequestError.self) {
            try await store.store(large, for: key("a"))
        }
        #expect(error?.code == .storeFailed)
        #expect(try await store.entry(for: key("a")) == nil)
    }

    @Test(arguments: Kind.allCases)
    func concurrentTasksSeeCompleteEntries(kind: Kind) async throws {
        let store = store(kind)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for round in 0..<40 {
                        let text = String(repeating: "\(worker)", count: 500 + round)
                        try await store.store(entry(text), for: key("\(round % 5)"))
                        let body = try await store.entry(for: key("\(round % 3)"))?.body ?? Data()
                        #expect(Set(body).count <= 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.entries().count == 5)
    }
}
