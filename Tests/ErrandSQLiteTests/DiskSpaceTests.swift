import ErrandCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandSQLite

/// The size of the database and its log on the disk, at every moment.
@Suite(.limited)
struct DiskSpaceTests {
    static let bound = 1 << 20
    static let entryBytes = 20_000
    /// The documented slack: the largest entry, and 128 KiB.
    static let slack = entryBytes + (128 << 10)

    let directory: TemporaryFolder
    let path: String
    let files: DatabaseFiles

    init() throws {
        directory = try TemporaryFolder()
        path = directory.path("a.sqlite")
        files = DatabaseFiles(path: path)
    }

    private func store(bytes: Int = bound, patience: Duration = .seconds(2)) -> SQLiteResponseStore
    {
        let limits = StoreLimits(
            bytes: bytes, memoryBytes: 64 << 10, checkpointPatience: patience,
            checkpointPause: .zero)
        return SQLiteResponseStore(path: path, limits: limits, now: { Date() })
    }

    @Test func steadyWritesStayWithinTheLimit() async throws {
        let store = store()
        for number in 0..<400 {
            try await store.store(entry(bytes: Self.entryBytes), for: key("\(number)"))
            #expect(files.total <= Self.bound + Self.slack)
        }
        #expect(try await store.totalBytes() <= Self.bound + Self.slack)
        #expect(try await store.entry(for: key("399")) != nil)
        #expect(store.problems.isEmpty)
    }

    @Test func repeatedWritesOfOneKeyStayWithinTheLimit() async throws {
        let store = store()
        for number in 0..<400 {
            let size = number.isMultiple(of: 2) ? Self.entryBytes : 100
            try await store.store(entry(bytes: size), for: key("a"))
            #expect(files.total <= Self.bound + Self.slack)
        }
        #expect(store.problems.isEmpty)
    }

    @Test func severalWritersStayWithinTheLimit() async throws {
        let peak = try await files.peak {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    // Stores share only the file, as those of several processes do.
                    let store = store(patience: .seconds(60))
                    group.addTask {
                        for number in 0..<100 {
                            try await store.store(
                                entry(bytes: Self.entryBytes), for: key("\(writer)/\(number)"))
                        }
                        #expect(store.problems.isEmpty)
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(peak <= Self.bound + Self.slack)
    }

    @Test(arguments: [true, false])
    func readerThatNeverEndsStopsWritesAtTheLimit(readerHasLog: Bool) async throws {
        let store = store(patience: .zero)
        try await store.store(entry("first"), for: key("first"))
        let reader = try SQLiteConnection(path: path, busyMilliseconds: 0)
        if !readerHasLog { try reader.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        try reader.execute("BEGIN; SELECT count(*) FROM entries")

        var errors: [RequestError] = []
        for number in 0..<60 {
            do throws(RequestError) {
                try await store.store(entry(bytes: Self.entryBytes), for: key("\(number)"))
            } catch { errors.append(error) }
            #expect(files.total <= Self.bound + Self.slack)
        }
        #expect(errors.count > 40)
        #expect(errors.allSatisfy { $0.code == .storeFailed })
        #expect(errors.last?.message.contains("read transaction that does not end") == true)
        #expect(store.problems.count == 1)
        #expect(store.problems.first?.message.contains("stores no more responses") == true)
        // Reads and removals continue.
        #expect(try await store.entry(for: key("first")) == entry("first"))
        #expect(try await store.entry(for: key("0")) == entry(bytes: Self.entryBytes))
        try await store.remove(key("0"))
        #expect(try await store.entry(for: key("0")) == nil)

        try reader.execute("COMMIT")
        try await store.store(entry("after"), for: key("after"))
        #expect(try await store.entry(for: key("after")) == entry("after"))
        #expect(files.log < 64 << 10)
        #expect(store.problems.count == 1)
    }

    @Test func writerWaitsForAReaderThatEnds() async throws {
        let store = store(patience: .seconds(60))
        try await store.store(entry("first"), for: key("first"))
        let reader = try SQLiteConnection(path: path, busyMilliseconds: 0)
        try reader.execute("BEGIN; SELECT count(*) FROM entries")
        let isEnded = Atomic(false)
        async let writes: Void = {
            for number in 0..<40 {
                try await store.store(entry(bytes: Self.entryBytes), for: key("\(number)"))
            }
            isEnded.store(true, ordering: .relaxed)
        }()
        // The log is full when the writes pause.
        while files.log < StoreLimits(bytes: Self.bound, memoryBytes: 0).logBytes * 3 / 4 {
            let hasEnded = isEnded.load(ordering: .relaxed)
            try #require(!hasEnded)
            await Task.yield()
        }
        try reader.execute("COMMIT")
        try await writes
        #expect(store.problems.isEmpty)
    }

    @Test func manyShortLivedStoresStayWithinTheLimit() async throws {
        for number in 0..<120 {
            let store = store()
            try await store.store(entry(bytes: 60_000), for: key("\(number)"))
            #expect(files.total <= Self.bound + 60_000 + (128 << 10))
        }
        #expect(files.log == 0)
    }

    @Test func manyStoresThatAreNeverClosedStayWithinTheLimit() async throws {
        // A process that exits closes nothing.
        var open: [SQLiteResponseStore] = []
        for number in 0..<60 {
            let store = store()
            try await store.store(entry(bytes: 60_000), for: key("\(number)"))
            #expect(files.total <= Self.bound + 60_000 + (128 << 10))
            open.append(store)
        }
        #expect(open.allSatisfy { $0.problems.isEmpty })
    }

    @Test func fileOfALargerLimitIsShrunkByTheFirstWrite() async throws {
        do {
            let store = store(bytes: 8 << 20)
            for number in 0..<200 {
                try await store.store(entry(bytes: Self.entryBytes), for: key("\(number)"))
            }
        }
        try #require(files.total > 3 << 20)
        let store = store()
        try await store.store(entry(bytes: Self.entryBytes), for: key("new"))
        #expect(files.total <= Self.bound + Self.slack)
        #expect(try await store.entry(for: key("new")) != nil)
    }

    @Test func largeLogIsEmptiedWhenTheStoreOpens() async throws {
        try await store().store(entry("a"), for: key("a"))
        let other = try fillLog()
        try #require(files.log > 2 << 20)
        let store = store()
        #expect(try await store.entry(for: key("a")) == nil)
        #expect(files.log == 0)
        withExtendedLifetime(other) {}
    }

    @Test func largeLogIsEmptiedWhenTheStoreIsClosed() async throws {
        let store = store()
        try await store.store(entry("a"), for: key("a"))
        // The other connection stays open, so that SQLite does not empty the log by itself.
        let other = try fillLog()
        try #require(files.log > 2 << 20)
        _ = consume store
        #expect(files.log == 0)
        withExtendedLifetime(other) {}
    }

    /// Lets another connection write a log that exceeds the limit.
    private func fillLog() throws -> SQLiteConnection {
        let other = try SQLiteConnection(path: path, busyMilliseconds: 1000)
        try other.execute(
            """
            PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE waste (bytes BLOB);
            INSERT INTO waste VALUES (zeroblob(3000000));
            DELETE FROM entries;
            """)
        return other
    }

    @Test func removalOfAllEntriesNeedsLittleLog() async throws {
        // This store waits while its own checkpoint runs in the background.
        let filling = store(bytes: 8 << 20)
        for number in 0..<200 {
            try await filling.store(entry(bytes: Self.entryBytes), for: key("\(number)"))
        }
        let store = store(bytes: 8 << 20, patience: .zero)
        let reader = try SQLiteConnection(path: path, busyMilliseconds: 1000)
        // The log must have room, because it cannot be emptied during the reader's transaction.
        try reader.execute("PRAGMA wal_checkpoint(TRUNCATE); BEGIN; SELECT count(*) FROM entries")
        let log = files.log
        try await store.removeAll(where: nil)
        #expect(files.log < log + (256 << 10))
        #expect(try await store.entries().isEmpty)
        try reader.execute("COMMIT")
    }

    @Test func removalOfAllEntriesErasesTheBytesAfterAReaderEnds() async throws {
        let store = store(patience: .seconds(60))
        try await store.store(entry("TOP-SECRET"), for: key("a"))
        let reader = try SQLiteConnection(path: path, busyMilliseconds: 1000)
        // The entry is in the database, and the reader needs it there.
        try reader.execute("PRAGMA wal_checkpoint(TRUNCATE); BEGIN; SELECT count(*) FROM entries")
        async let removed: Void = store.removeAll(where: nil)
        while try await !store.entries().isEmpty { await Task.yield() }
        try reader.execute("COMMIT")
        try await removed
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.range(of: Data("TOP-SECRET".utf8)) == nil)
        #expect(files.log == 0)
    }

    @Test func removalByPredicateStaysWithinTheLimit() async throws {
        let store = store()
        for number in 0..<30 {
            try await store.store(entry(bytes: Self.entryBytes), for: key("\(number)"))
        }
        try await store.removeAll { _ in true }
        #expect(files.log <= StoreLimits(bytes: Self.bound, memoryBytes: 0).logBytes)
        #expect(try await store.entries().isEmpty)
    }

    @Test func accessTimesStayWithinTheLimit() async throws {
        let limits = StoreLimits(bytes: 8 << 20, memoryBytes: 0, accessGranularity: -1)
        let store = SQLiteResponseStore(path: path, limits: limits, now: { Date() })
        for number in 0..<5000 { try await store.store(entry("x"), for: key("\(number)")) }
        for number in 0..<5000 { _ = try await store.entry(for: key("\(number)")) }
        #expect(files.log <= limits.logBytes)
    }
}
