import ErrandCore
import ErrandTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandSQLite

/// Bodies that are stored in parts.
@Suite(.limited)
struct LargeBodyTests {
    static let megabyte = 1 << 20

    let directory: TemporaryFolder
    let path: String
    let clock = ManualClock()

    init() throws {
        directory = try TemporaryFolder()
        path = directory.path("a.sqlite")
    }

    private func store(
        bytes: Int = 64 << 20, patience: Int64 = 600_000, memoryBytes: Int = 0
    ) -> SQLiteResponseStore {
        var limits = StoreLimits(bytes: bytes, memoryBytes: memoryBytes, accessGranularity: 0)
        limits.unfinishedPatience = patience
        // A log that no writer can empty for so long is a fault.
        limits.checkpointPatience = .seconds(60)
        limits.busyAttempts = 4000
        return SQLiteResponseStore(path: path, limits: limits, now: { [clock] in clock.now })
    }

    private func rows(_ table: String) throws -> Int64 {
        try SQLiteConnection(path: path, busyMilliseconds: 1000)
            .integer("SELECT count(*) FROM \(table)")
    }

    /// A body that is computed while it is read; `ranges` receives the size of each read.
    static func body(
        _ count: Int, seed: Int = 0, onRead: @escaping @Sendable (Range<Int>) -> Void = { _ in }
    ) -> StoredResponse.ChunkedBody {
        StoredResponse.ChunkedBody(count: count) { range throws(RequestError) in
            onRead(range)
            return bytes(range, seed: seed)
        }
    }

    static func bytes(_ range: Range<Int>, seed: Int) -> Data {
        var data = Data(count: range.count)
        data.withUnsafeMutableBytes { bytes in
            for index in bytes.indices {
                let position = range.lowerBound + index
                bytes[index] = UInt8(truncatingIfNeeded: (position >> 10) &* 31 &+ position &+ seed)
            }
        }
        return data
    }

    @Test func bodyIsWrittenAndReadInParts() async throws {
        let sizes = Mutex<[Int]>([])
        let count = 5 * Self.megabyte + 17
        let store = store()
        try await store.store(
            entry(""),
            body: Self.body(count) { range in sizes.withLock { $0.append(range.count) } },
            for: key("a"))
        let largest = sizes.withLock { $0.max() }
        #expect(largest == 256 << 10)
        #expect(sizes.withLock { $0.reduce(0, +) } == count)
        #expect(try rows("parts") == 21)
        let opened = try #require(try await store.open(key("a")))
        #expect(opened.body.count == count)
        for range in [0..<1, 262_143..<262_145, 1_000_000..<1_900_000, (count - 5)..<count] {
            #expect(try await opened.body.bytes(in: range) == Self.bytes(range, seed: 0))
        }
    }

    /// Runs in a process of its own, whose peak memory is measured.
    @Test func largeBodyNeedsLittleMemory() async throws {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let variable = ProcessInfo.processInfo.environment["ERRAND_LARGE_BODY_MIB"]
            let count = (variable.flatMap { Int($0) } ?? 96) << 20
            let store = SQLiteResponseStore(
                path: path, maximumBytes: 3 * count, maximumMemoryBytes: 0)
            try await store.store(entry("small"), for: key("small"))
            let before = try Self.peakMemory()
            try await store.store(entry(""), body: Self.body(count), for: key("a"))
            let opened = try #require(try await store.open(key("a")))
            var offset = 0
            while offset < count {
                let range = offset..<min(offset + 100_000, count)
                let found = try await opened.body.bytes(in: range)
                #expect(found.first == Self.bytes(offset..<(offset + 1), seed: 0).first)
                #expect(found.count == range.count)
                offset = range.upperBound
            }
            let growth = try Self.peakMemory() - before
            // A sanitizer multiplies the memory. An expectation that fails does not end the process with a failure.
            if growth >= 34_000_000, getenv("ERRAND_SANITIZER") == nil {
                print("\(growth) bytes")
                exit(3)
            }
        }
    }

    /// The peak of the resident memory of the process, in bytes.
    static func peakMemory() throws -> Int {
        #if os(Linux)
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
            return (Int(line.filter(\.isNumber)) ?? 0) << 10
        #else
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }

    @Test func removalAndReplacementDeleteTheParts() async throws {
        let store = store()
        for number in 0..<3 {
            try await store.store(
                entry(""), body: Self.body(3 * Self.megabyte), for: key("\(number)"))
        }
        try await store.remove(key("0"))
        #expect(try rows("bodies") == 2)
        #expect(try rows("parts") == 24)
        try await store.removeAll { $0.key == key("1") }
        #expect(try rows("parts") == 12)
        clock.advance(by: .seconds(61))
        try await store.store(entry("small"), for: key("2"))
        for _ in 0..<8 { try await store.store(entry("small"), for: key("x")) }
        #expect(try rows("parts") == 0)
        #expect(try rows("bodies") == 0)
    }

    @Test func bodyThatIsReadSurvivesItsReplacement() async throws {
        let store = store()
        try await store.store(entry(""), body: Self.body(2 * Self.megabyte), for: key("a"))
        let opened = try #require(try await store.open(key("a")))
        try await store.store(entry("new"), for: key("a"))
        for number in 0..<4 {
            clock.advance(by: .seconds(61))
            try await store.store(entry("x"), for: key("\(number)"))
        }
        let range = Self.megabyte..<(Self.megabyte + 10)
        #expect(try await opened.body.bytes(in: range) == Self.bytes(range, seed: 0))
        #expect(try await store.entry(for: key("a")) == entry("new"))
    }

    @Test func bodyThatIsReadIsEvictedLast() async throws {
        let store = store(bytes: 16 << 20)
        try await store.store(entry(""), body: Self.body(3 * Self.megabyte), for: key("read"))
        let opened = try #require(try await store.open(key("read")))
        for number in 0..<8 {
            clock.advance(by: .seconds(1))
            try await store.store(
                entry(""), body: Self.body(3 * Self.megabyte), for: key("\(number)"))
        }
        #expect(try await store.entry(for: key("0")) == nil)
        let range = 0..<(3 * Self.megabyte)
        #expect(try await opened.body.bytes(in: range) == Self.bytes(range, seed: 0))
        #expect(try await store.usage().evictions > 0)
    }

    @Test(arguments: ["bytes = zeroblob(length(bytes))", "bytes = x'00'", "checksum = 1", nil])
    func damagedPartIsDetected(assignment: String?) async throws {
        let store = store()
        let connection = try SQLiteConnection(path: path, busyMilliseconds: 1000)
        for opens in [true, false] {
            try await store.store(entry(""), body: Self.body(2 * Self.megabyte), for: key("a"))
            let row = """
                id = (SELECT max(id) FROM parts WHERE id >> 24 = (SELECT body_id FROM entries))
                """
            try connection.execute(
                assignment.map { "UPDATE parts SET \($0) WHERE \(row)" }
                    ?? "DELETE FROM parts WHERE \(row)")
            if opens {
                let opened = try #require(try await store.open(key("a")))
                let error = await #expect(throws: RequestError.self) {
                    try await opened.body.bytes(in: 0..<opened.body.count)
                }
                #expect(error?.code == .storeFailed)
                #expect(try await store.entry(for: key("a")) == nil)
            } else {
                let error = await #expect(throws: RequestError.self) {
                    try await store.entry(for: key("a"))
                }
                #expect(error?.cacheMiss == .invalidData)
                #expect(try await store.entry(for: key("a")) == nil)
            }
        }
        #expect(store.problems.isEmpty)
    }

    // MARK: - Size

    /// The documented slack: the largest row, 1 MiB, and 128 KiB.
    private static let slack = (1 << 20) + (128 << 10)

    @Test func bodiesStayWithinTheLimitAtEveryMoment() async throws {
        let store = store(bytes: 16 << 20)
        let peak = try await DatabaseFiles(path: path).peak {
            for number in 0..<8 {
                clock.advance(by: .seconds(1))
                let body = Self.body(5 * Self.megabyte, seed: number)
                try await store.store(entry(""), body: body, for: key("\(number)"))
                #expect(try await store.open(key("\(number)")) != nil)
            }
        }
        #expect(peak <= store.maximumBytes + Self.slack)
        #expect(try await store.entry(for: key("0")) == nil)
        #expect(store.problems.isEmpty)
    }

    @Test func severalWritersOfBodiesStayWithinTheLimit() async throws {
        let stores = (0..<4).map { _ in store(bytes: 16 << 20) }
        let peak = await DatabaseFiles(path: path).peak {
            await withTaskGroup(of: Void.self) { group in
                // Stores share only the file, as those of several processes do.
                for (writer, store) in stores.enumerated() {
                    group.addTask { await Self.writeBodies(to: store, writer: writer) }
                }
            }
        }
        #expect(peak <= (16 << 20) + Self.slack)
        #expect(peak > 8 << 20)
        #expect(stores.allSatisfy { $0.problems.isEmpty })
    }

    private static func writeBodies(to store: SQLiteResponseStore, writer: Int) async {
        for number in 0..<4 {
            do throws(RequestError) {
                try await store.store(
                    entry(""), body: body(6 << 20), for: key("\(writer)/\(number)"))
            } catch {
                // Four unfinished bodies do not fit: one may be removed for another.
                #expect(error.message.contains("removed to make room"), "\(error)")
            }
        }
    }

    @Test func shortLivedStoresOfBodiesStayWithinTheLimit() async throws {
        let files = DatabaseFiles(path: path)
        for number in 0..<12 {
            try await store(bytes: 16 << 20).store(
                entry(""), body: Self.body(3 * Self.megabyte), for: key("\(number)"))
            #expect(files.total <= (16 << 20) + Self.slack)
        }
        #expect(files.log == 0)
    }

    /// A process that is killed while it writes leaves parts.
    @Test func partsOfAKilledWriterAreRemoved() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let clock = ManualClock()
            let store = SQLiteResponseStore(
                path: path, limits: StoreLimits(bytes: 64 << 20, memoryBytes: 0),
                now: { clock.now })
            try await store.store(entry("previous"), for: key("a"))
            try await store.store(
                entry(""),
                body: Self.body(8 << 20) { range in
                    if range.lowerBound >= 6 << 20 { kill(getpid(), SIGKILL) }
                }, for: key("a"))
        }
        let store = store(bytes: 16 << 20)
        #expect(try await store.entry(for: key("a")) == entry("previous"))
        #expect(try rows("parts") == 24)
        // The writer may be another process that is alive: its parts are kept for some time.
        for number in 0..<4 { try await store.store(entry("x"), for: key("\(number)")) }
        #expect(try rows("parts") == 24)
        clock.advance(by: .seconds(365 * 86_400))
        // Each write removes some of them, unless a checkpoint in the background prevents it.
        var number = 0
        while try rows("parts") > 0, number < 5000 {
            try await store.store(entry("x"), for: key("\(number % 20)"))
            number += 1
        }
        #expect(number >= 8)
        #expect(try rows("parts") == 0)
        #expect(try await store.entry(for: key("a")) == entry("previous"))
    }

    @Test func unfinishedBodyIsRemovedIfThereIsNoOtherRoom() async throws {
        let one = store(bytes: 16 << 20)
        let other = store(bytes: 16 << 20)
        let isFull = Mutex(false)
        let error = await #expect(throws: RequestError.self) {
            let body = StoredResponse.ChunkedBody(count: 7 << 20) { range throws(RequestError) in
                // Before its last part, another writer needs the room.
                if range.upperBound == 7 << 20, !isFull.withLock({ $0 }) {
                    isFull.withLock { $0 = true }
                    try await other.store(entry(""), body: Self.body(7 << 20), for: key("b"))
                }
                return Self.bytes(range, seed: 0)
            }
            try await one.store(entry(""), body: body, for: key("a"))
        }
        #expect(error?.message.contains("removed to make room") == true)
        #expect(try await one.entry(for: key("a")) == nil)
        #expect(try await one.open(key("b"))?.body.count == 7 << 20)
    }

    @Test func fileShrinksAfterRemovals() async throws {
        let store = store()
        for number in 0..<10 {
            try await store.store(
                entry("", tag: 1), body: Self.body(2 * Self.megabyte), for: key("\(number)"))
        }
        try await store.store(entry("kept"), for: key("kept"))
        let connection = try SQLiteConnection(path: path, busyMilliseconds: 1000)
        let before = try connection.integer("PRAGMA page_count")
        #expect(try await store.removeAll(matching: .init(tag: 1)) == 10)
        #expect(try connection.integer("PRAGMA page_count") < before / 4)
        #expect(try await store.entry(for: key("kept")) == entry("kept"))
    }
}
