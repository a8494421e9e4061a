import ErrandCore
import ErrandTesting
import Foundation
import Testing

@testable import ErrandSQLite

/// The size limit of the database.
@Suite(.timeLimit(.minutes(5)))
struct EvictionTests {
    let directory: TemporaryDirectory
    let clock = ManualClock()

    init() throws { directory = try TemporaryDirectory() }

    private func store(bytes: Int, granularity: Int64 = 0) -> SQLiteResponseStore {
        let limits = StoreLimits(
            bytes: bytes, memoryBytes: 32 << 10, accessGranularity: granularity)
        return SQLiteResponseStore(
            path: directory.path("a.sqlite"), limits: limits, now: { [clock] in clock.now })
    }

    private let kilobyte = String(repeating: "x", count: 1000)

    @Test func databaseStaysBelowItsLimit() async throws {
        let store = store(bytes: 512 << 10)
        for number in 0..<2000 {
            clock.advance(by: .seconds(1))
            try await store.store(entry(kilobyte), for: key("\(number)"))
        }
        #expect(try await store.totalBytes() <= (512 + 64) << 10)
        let count = try await store.entries().count
        #expect(count > 200)
        #expect(try await store.entry(for: key("1999")) != nil)
        #expect(try await store.entry(for: key("0")) == nil)
    }

    @Test func leastRecentlyReadEntriesAreEvicted() async throws {
        let store = store(bytes: 256 << 10)
        for number in 0..<100 {
            clock.advance(by: .seconds(1))
            try await store.store(entry(kilobyte), for: key("\(number)"))
        }
        clock.advance(by: .seconds(1))
        for number in 0..<5 { _ = try await store.entry(for: key("\(number)")) }
        for number in 100..<200 {
            clock.advance(by: .seconds(1))
            try await store.store(entry(kilobyte), for: key("\(number)"))
        }
        let left = Set(try await store.entries().map(\.key))
        #expect(left.count < 200)
        for number in 0..<5 { #expect(left.contains(key("\(number)"))) }
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
        for number in 100..<200 {
            clock.advance(by: .seconds(1))
            try await reopened.store(entry(kilobyte), for: key("\(number)"))
        }
        #expect(try await reopened.entry(for: key("0")) != nil)
        #expect(try await reopened.entry(for: key("1")) == nil)
    }

    @Test func largeEntriesEvictSmallOnes() async throws {
        let store = store(bytes: 256 << 10)
        for number in 0..<50 {
            clock.advance(by: .seconds(1))
            try await store.store(entry(kilobyte), for: key("\(number)"))
        }
        for number in 0..<10 {
            clock.advance(by: .seconds(1))
            let big = String(repeating: "y", count: 100 << 10)
            try await store.store(entry(big), for: key("big\(number)"))
        }
        #expect(try await store.totalBytes() <= 360 << 10)
        #expect(try await store.entry(for: key("big9")) != nil)
    }
}
