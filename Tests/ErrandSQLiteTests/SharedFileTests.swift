import ErrandCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandSQLite

/// Reopening, several stores on one file, killed processes, and file attributes.
@Suite(.limited)
struct SharedFileTests {
    let directory: TemporaryFolder
    let path: String

    init() throws {
        directory = try TemporaryFolder()
        path = directory.path("deep/er/a.sqlite")
    }

    @Test func entriesSurviveReopening() async throws {
        do { try await SQLiteResponseStore(path: path).store(entry("x"), for: key("a")) }
        let store = SQLiteResponseStore(path: path)
        #expect(try await store.entry(for: key("a")) == entry("x"))
        #expect(store.problems.isEmpty)
    }

    @Test func truncatedLogKeepsEarlierEntries() async throws {
        let store = SQLiteResponseStore(path: path)
        try await store.store(entry("first"), for: key("first"))
        let before = try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).count
        try await store.store(entry("second"), for: key("second"))
        let whole = try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).count
        for (index, length) in [before, before + 100, whole - 1, whole].enumerated() {
            let copy = directory.path("cut-\(index).sqlite")
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
            }
            truncate(copy + "-wal", length)
            let reopened = SQLiteResponseStore(path: copy)
            #expect(try await reopened.entry(for: key("first")) == entry("first"))
            let second = try await reopened.entry(for: key("second"))
            #expect(second == (length == whole ? entry("second") : nil))
        }
    }

    @Test func storeSeesWritesOfAnotherStore() async throws {
        let one = SQLiteResponseStore(path: path)
        let other = SQLiteResponseStore(path: path)
        try await one.store(entry("1"), for: key("a"))
        #expect(try await other.entry(for: key("a")) == entry("1"))
        #expect(try await other.entry(for: key("a")) == entry("1"))
        #expect(other.memoryHits == 1)
        try await one.store(entry("2"), for: key("a"))
        #expect(try await other.entry(for: key("a")) == entry("2"))
        try await other.remove(key("a"))
        #expect(try await one.entry(for: key("a")) == nil)
    }

    @Test func ownWritesKeepTheMemoryCache() async throws {
        let store = SQLiteResponseStore(path: path)
        try await store.store(entry("a"), for: key("a"))
        try await store.store(entry("b"), for: key("b"))
        #expect(try await store.entry(for: key("a")) == entry("a"))
        try await store.store(entry("c"), for: key("c"))
        let hits = store.memoryHits
        #expect(try await store.entry(for: key("a")) == entry("a"))
        try SQLiteConnection(path: path, busyMilliseconds: 1000)
            .execute("PRAGMA wal_checkpoint(PASSIVE)")
        #expect(try await store.entry(for: key("b")) == entry("b"))
        #expect(store.memoryHits == hits + 2)
    }

    @Test func storesCanWriteConcurrently() async throws {
        let stores = (0..<4).map { _ in SQLiteResponseStore(path: path) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    for number in 0..<50 {
                        try await store.store(entry("x"), for: key("\(index)/\(number)"))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].entries().count == 200)
        #expect(stores.allSatisfy { $0.problems.isEmpty })
    }

    // MARK: - Killed processes

    private func expectIntactFile(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let connection = try SQLiteConnection(path: path, busyMilliseconds: 1000)
        let check = try connection.prepare("PRAGMA integrity_check")
        #expect(try check.step(), sourceLocation: sourceLocation)
        #expect(check.text(0) == "ok", sourceLocation: sourceLocation)
    }

    /// Expects that the killed process blocks no other process.
    private func expectFreeLock() async throws {
        await #expect(processExitsWith: .success) { [path = path as String] in
            // The first attempt must get the lock.
            var limits = StoreLimits(bytes: 64 << 20, memoryBytes: 0)
            limits.busyAttempts = 0
            let store = SQLiteResponseStore(path: path, limits: limits, now: { Date() })
            try await store.store(entry("next"), for: key("next"))
        }
        let store = SQLiteResponseStore(path: path)
        #expect(try await store.entry(for: key("next")) == entry("next"))
        #expect(store.problems.isEmpty)
    }

    /// The process is killed within a transaction that has already written to the log.
    @Test func killWithinATransactionLeavesWhatWasCommitted() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = SQLiteResponseStore(path: path)
            for number in 0..<50 {
                try await store.store(entry("\(number)"), for: key("\(number)"))
            }
            let database = try OpenDatabase(path: path)
            // SQLite then writes changed pages to the log before the commit.
            try database.connection.execute("PRAGMA cache_size = 1")
            try database.write { () throws(SQLiteFailure) in
                for key in [key("0"), key("new")] {
                    let entry = entry(bytes: 1 << 20)
                    try database.store(entry, for: key, id: EntryRow.id(of: key), accessed: 0)
                }
                kill(getpid(), SIGKILL)
            }
        }
        #expect(DatabaseFiles(path: path).log > 1 << 20)
        let store = SQLiteResponseStore(path: path)
        for number in 0..<50 {
            #expect(try await store.entry(for: key("\(number)")) == entry("\(number)"))
        }
        #expect(try await store.entries().count == 50)
        #expect(store.problems.isEmpty)
        try expectIntactFile()
        try await expectFreeLock()
    }

    /// Other content for each number, in several hundred pages.
    private static func largeEntry(_ number: Int) -> StoredResponse {
        entry(String(repeating: "\(number) ", count: 400_000))
    }

    /// One thread kills the process while another one writes.
    @Test(arguments: [1, 2, 4, 8, 16])
    func killDuringWritesLeavesCompleteEntries(count: Int) async throws {
        let list = directory.path("committed")
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, list = list as String, count = count as Int] in
            let commits = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                for _ in 0..<count { commits.wait() }
                kill(getpid(), SIGKILL)
            }
            let descriptor = open(list, O_WRONLY | O_CREAT, 0o600)
            let store = SQLiteResponseStore(path: path)
            var number = 0
            while true {
                try await store.store(Self.largeEntry(number), for: key("\(number)"))
                guard write(descriptor, "x", 1) == 1 else { exit(3) }
                commits.signal()
                number += 1
            }
        }
        let committed = try Data(contentsOf: URL(fileURLWithPath: list)).count
        #expect(committed >= count)
        let store = SQLiteResponseStore(path: path)
        for number in 0..<committed {
            #expect(try await store.entry(for: key("\(number)")) == Self.largeEntry(number))
        }
        // The write in progress is complete or absent.
        let last = try await store.entry(for: key("\(committed)"))
        #expect(last == nil || last == Self.largeEntry(committed))
        #expect(try await store.entries().count == committed + (last == nil ? 0 : 1))
        #expect(store.problems.isEmpty)
        try expectIntactFile()
        try await expectFreeLock()
    }

    #if os(Linux)
        @Test func writeWaitsForTheLockOfAnotherProcess() async throws {
            if let path = TestProcess.role?["path"] {
                let database = try OpenDatabase(path: path)
                try database.connection.execute("BEGIN IMMEDIATE; DELETE FROM entries")
                TestProcess.waitToBeKilled()
            }
            let store = SQLiteResponseStore(path: path)
            try await store.store(entry("old"), for: key("a"))
            let other = try TestProcess(
                running: "SharedFileTests/writeWaitsForTheLockOfAnotherProcess", as: ["path": path])
            try #require(await other.isReady(), "\(other.output)")
            let isWritten = Atomic(false)
            async let written: Void = {
                defer { isWritten.store(true, ordering: .relaxed) }
                try await store.store(entry("new"), for: key("a"))
            }()
            while store.lockedAttempts < 2 {
                let hasEnded = isWritten.load(ordering: .relaxed)
                try #require(!hasEnded)
                await Task.yield()
            }
            // Readers never wait for a writer.
            let reader = SQLiteResponseStore(path: path)
            #expect(try await reader.entry(for: key("a")) == entry("old"))
            #expect(await other.killed() == .signal(SIGKILL))
            try await written
            #expect(try await reader.entry(for: key("a")) == entry("new"))
            try expectIntactFile()
            try await expectFreeLock()
        }
    #endif

    // MARK: - Files

    @Test func filesAreAccessibleToTheOwnerOnly() async throws {
        let store = SQLiteResponseStore(path: path)
        try await store.store(entry("x"), for: key("a"))
        for suffix in ["", "-wal", "-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path + suffix)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test func removeAllErasesTheBytes() async throws {
        let store = SQLiteResponseStore(path: path)
        let secret = String(repeating: "TOP-SECRET ", count: 2000)
        for number in 0..<20 { try await store.store(entry(secret), for: key("\(number)")) }
        try await store.removeAll(where: nil)
        for suffix in ["", "-wal"] {
            let bytes = (try? Data(contentsOf: URL(fileURLWithPath: path + suffix))) ?? Data()
            #expect(bytes.range(of: Data("TOP-SECRET".utf8)) == nil)
        }
        #expect(try await store.totalBytes() < 64 << 10)
    }

    @Test func defaultLocationFollowsTheEnvironment() {
        func location(_ name: String, _ environment: [String: String]) -> String {
            SQLiteResponseStore.defaultURL(named: name, environment: environment).path
        }
        #if os(Linux)
            #expect(location("app", ["XDG_CACHE_HOME": "/x"]) == "/x/errand/app.sqlite")
            #expect(location("app", ["XDG_CACHE_HOME": "y"]).hasSuffix("/.cache/errand/app.sqlite"))
        #endif
        #expect(location("../a/b", [:]).hasSuffix("/errand/default.sqlite"))
        #expect(location("a/b", [:]).hasSuffix("/errand/a_b.sqlite"))
        #expect(location("", [:]).hasSuffix("/errand/default.sqlite"))
    }
}
