import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandSQLite

/// The maximum number of entries, and the removal of expired entries.
@Suite(.limited)
struct EntryLimitTests {
    let directory: TemporaryFolder
    let clock = ManualClock()

    init() throws { directory = try TemporaryFolder() }

    private func store(
        entries: Int? = nil, keepsExpired: Double? = nil, isFile: Bool = true
    ) -> SQLiteResponseStore {
        var limits = StoreLimits(bytes: 32 << 20, memoryBytes: 1 << 20, accessGranularity: 0)
        limits.maximumEntries = entries
        limits.keepsExpired = keepsExpired
        let path = isFile ? directory.path("a.sqlite") : directory.url.path
        return SQLiteResponseStore(path: path, limits: limits, now: { [clock] in clock.now })
    }

    @Test(arguments: [true, false])
    func numberOfEntriesStaysWithinItsLimit(isFile: Bool) async throws {
        let store = store(entries: 20, isFile: isFile)
        for number in 0..<100 {
            clock.advance(by: .seconds(1))
            try await store.store(entry("x"), for: key("\(number)"))
            if number == 50 { #expect(try await store.entry(for: key("45")) != nil) }
            let usage = try await store.usage()
            #expect(usage.entries <= 20)
            #expect(usage.maximumEntries == 20)
        }
        let usage = try await store.usage()
        #expect(usage.entries >= 18)
        #expect(usage.evictions == 100 - usage.entries)
        #expect(try await store.entry(for: key("99")) == entry("x"))
        #expect(try await store.entry(for: key("0")) == nil)
        // A replacement is no further entry.
        for _ in 0..<5 { try await store.store(entry("y"), for: key("99")) }
        #expect(try await store.usage().entries == usage.entries)
    }

    @Test func memoryStoreHoldsItsNumberOfEntries() async throws {
        let store = MemoryResponseStore(maximumEntries: 3)
        for number in 0..<5 {
            try await store.store(entry("x"), for: key("\(number)"))
            _ = try await store.entry(for: key("0"))
        }
        #expect(try await Set(store.entries().map(\.key)) == [key("0"), key("3"), key("4")])
        #expect(try await store.usage().evictions == 2)
        #expect(try await store.usage().maximumEntries == 3)
    }

    @Test func entriesThatExpiredLongAgoAreRemovedByLaterWrites() async throws {
        let store = store(keepsExpired: 7 * 86_400)
        for number in 0..<40 {
            var expiring = entry("x", tag: 1)
            expiring.expiresAt = clock.now + 3600
            try await store.store(expiring, for: key("\(number)"))
        }
        try await store.store(entry("kept"), for: key("kept"))
        clock.advance(by: .seconds(6 * 86_400))
        for _ in 0..<10 { try await store.store(entry("y"), for: key("new")) }
        #expect(try await store.usage().entries == 42)
        clock.advance(by: .seconds(3 * 86_400))
        try await store.store(entry("y"), for: key("new"))
        // In small steps.
        #expect(try await store.usage().entries == 42 - 16)
        for _ in 0..<10 { try await store.store(entry("y"), for: key("new")) }
        #expect(try await store.usage().entries == 2)
        #expect(try await store.entry(for: key("kept")) == entry("kept"))
        #expect(try await store.usage().evictions == 0)
    }

    @Test func expiredEntriesAreKeptWithoutALimit() async throws {
        let store = store(keepsExpired: nil)
        var expiring = entry("x")
        expiring.expiresAt = clock.now
        try await store.store(expiring, for: key("a"))
        clock.advance(by: .seconds(365 * 86_400))
        for _ in 0..<5 { try await store.store(entry("y"), for: key("new")) }
        #expect(try await store.entry(for: key("a")) == expiring)
    }
}
