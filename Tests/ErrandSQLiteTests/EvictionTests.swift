import ErrandCore
import ErrandTesting
import Foundation
import TestSupport
import Testing

@testable import ErrandSQLite

/// The size limit of the database.
@Suite(.limited)
struct EvictionTests {
    let directory: TemporaryFolder
    let clock = ManualClock()

    init() throws { directory = try TemporaryFolder() }

    private func store(bytes: Int, granularity: Int64 = 0) -> SQLiteResponseStore {
        let limits = StoreLimits(
            bytes: bytes, memoryBytes: 32 << 10, accessGranularity: granularity)
        return SQLiteResponseStore(
            path: directory.path("a.sqlite"), limits: limits, now: { [clock] in clock.now })
    }

    private let kilobyte = String(repeating: "x", count: 1000)

    /// Expects the documented bound of `maximumBytes`: the limit, the largest entry, and 128 KiB.
    ///
    /// Its parts are exact: the database, and the log unless one entry exceeds its limit alone.
    private func expectBound(
        of store: SQLiteResponseStore, largest: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let files = DatabaseFiles(path: store.path)
        let total = try await store.totalBytes()
        let limits = StoreLimits(bytes: store.maximumBytes, memoryBytes: 0)
        #expect(
            total <= store.maximumBytes + largest + (128 << 10), sourceLocation: sourceLocation)
        #expect(
            files.log <= max(limits.logBytes, RowCost(bytes: largest + 1024).log),
            sourceLocation: sourceLocation)
        #expect(total - files.log <= limits.fileBytes, sourceLocation: sourceLocation)
    }

    /// Expects that the eviction has removed no more than it must: the limit is used but for its spare part.
    private func expectFullUse(
        of store: SQLiteResponseStore, largest: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let limits = StoreLimits(bytes: store.maximumBytes, memoryBytes: 0)
        let database = try await store.totalBytes() - DatabaseFiles(path: store.path).log
        #expect(
            database + limits.spare + RowCost(bytes: largest + 1024).database
                >= limits.databaseBytes, sourceLocation: sourceLocation)
    }

    @Test(arguments: [64 << 10, 256 << 10, 512 << 10])
    func databaseAndLogStayWithinTheirLimit(bytes: Int) async throws {
        let store = store(bytes: bytes)
        #expect(store.maximumBytes == bytes)
        // Twice as much as the limit admits.
        let count = 2 * bytes / entry(kilobyte).size
        for number in 0..<count {
            clock.advance(by: .seconds(1))
            try await store.store(entry(kilobyte), for: key("\(number)"))
            try await expectBound(of: store, largest: entry(kilobyte).size)
        }
        try await expectFullUse(of: store, largest: entry(kilobyte).size)
        #expect(try await store.entry(for: key("\(count - 1)")) != nil)
        #expect(try await store.entry(for: key("0")) == nil)
    }

    @Test func leastRecentlyReadEntriesAreEvicted() async throws {
        let store = store(bytes: 256 << 10)
        for number in 0..<100 {
            clock.advance(by: .seconds(1))
            try await store.store(entry(kilobyte), for: key("\(number)"))
        }
        clock.advance(by: .seconds(1))
        let read = Set((0..<5).map { key("\($0)") })
        let unread = Set((5..<100).map { key("\($0)") })
        for key in read { _ = try await store.entry(for: key) }
        var left = Set<CacheKey>()
        // How many entries are evicted depends on the size of the log, their order does not.
        for number in 100..<200 {
            clock.advance(by: .seconds(1))
            try await store.store(entry(kilobyte), for: key("\(number)"))
            left = Set(try await store.entries().map(\.key))
            #expect(left.isSuperset(of: read) || left.isDisjoint(with: unread))
        }
        #expect(left.count < 200)
        #expect(!left.contains(key("5")))
        #expect(left.contains(key("199")))
    }

    @Test func accessTimesSurviveReopening() async throws {
        do {
            let store = store(bytes: 256 << 10)
            for number in 0..<100 {
                clock.advance(by: .seconds(1))
                try await store.store(entry(kilobyte), for: key("\(number)"))
            }
            clock.advance(by: .seconds(1))
            _ = try await store.entry(for: key("0"))
        }
        let reopened = store(bytes: 256 << 10)
        let older = Set((1..<100).map { key("\($0)") })
        var left = Set<CacheKey>()
        // How many entries are evicted depends on the size of the log, their order does not.
        for number in 100..<200 {
            clock.advance(by: .seconds(1))
            try await reopened.store(entry(kilobyte), for: key("\(number)"))
            left = Set(try await reopened.entries().map(\.key))
            #expect(left.contains(key("0")) || left.isDisjoint(with: older))
        }
        #expect(!left.contains(key("1")))
    }

    @Test func largeEntriesEvictSmallOnes() async throws {
        let store = store(bytes: 256 << 10)
        for number in 0..<50 {
            clock.advance(by: .seconds(1))
            try await store.store(entry(kilobyte), for: key("\(number)"))
            try await expectBound(of: store, largest: entry(kilobyte).size)
        }
        for number in 0..<10 {
            clock.advance(by: .seconds(1))
            let big = entry(bytes: 100 << 10)
            try await store.store(big, for: key("big\(number)"))
            try await expectBound(of: store, largest: big.size)
            #expect(try await store.entry(for: key("big\(number)")) == big)
        }
        // 192 KiB of database contain one entry of 100 KiB, not two.
        #expect(try await store.entries().count { $0.size > 100 << 10 } == 1)
    }

    /// An entry may have half of the limit.
    @Test func largestPossibleEntriesStayWithinTheLimit() async throws {
        let store = store(bytes: 512 << 10)
        let overhead = entry(bytes: 0).size
        let largest = entry(bytes: store.maximumBytes / 2 - overhead)
        #expect(largest.size == store.maximumBytes / 2)
        for number in 0..<10 {
            clock.advance(by: .seconds(1))
            try await store.store(largest, for: key("\(number)"))
            try await expectBound(of: store, largest: largest.size)
            #expect(try await store.entry(for: key("\(number)")) == largest)
        }
        let error = await #expect(throws: RequestError.self) {
            let larger = entry(bytes: store.maximumBytes / 2 - overhead + 1)
            try await store.store(larger, for: key("x"))
        }
        #expect(error?.code == .storeFailed)
        #expect(try await store.entry(for: key("x")) == nil)
    }
}
