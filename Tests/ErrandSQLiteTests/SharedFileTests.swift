import ErrandCore
import Foundation
import Testing

@testable import ErrandSQLite

/// Reopening, several stores on one file, killed processes, and file attributes.
@Suite(.timeLimit(.minutes(5)))
struct SharedFileTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("deep/er/a.sqlite")
    }

    @Test func entriesSurviveReopening() async throws {
        do { try await SQLiteResponseStore(path: path).store(entry("x"), for: key("a")) }
        let store = SQLiteResponseStore(path: path)
        #expect(try await store.entry(for: key("a")) == entry("x"))
        #expect(store.problems.isEmpty)
    }

    @Test func entriesSurviveAKilledProcess() async throws {
        let store = SQLiteResponseStore(path: path)
        for number in 0..<50 { try await store.store(entry("\(number)"), for: key("\(number)")) }
        // The files that a killed process leaves: the database and its log, not closed.
        let copy = directory.path("copy.sqlite")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        // An incomplete write at the end of the log.
        let log = try FileHandle(forUpdating: URL(fileURLWithPath: copy + "-wal"))
        try log.seekToEnd()
        try log.write(contentsOf: Data(repeating: 7, count: 1000))
        try log.close()
        let reopened = SQLiteResponseStore(path: copy)
        for number in 0..<50 {
            #expect(try await reopened.entry(for: key("\(number)")) == entry("\(number)"))
        }
        #expect(reopened.problems.isEmpty)
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

    @Test func writeWaitsForALockedDatabase() async throws {
        let store = SQLiteResponseStore(path: path)
        try await store.store(entry("old"), for: key("a"))
        let other = try SQLiteConnection(path: path, busyMilliseconds: 1000)
        try other.execute("BEGIN IMMEDIATE")
        async let written: Void = store.store(entry("new"), for: key("a"))
        // Readers never wait for a writer.
        #expect(try await store.entry(for: key("a")) == entry("old"))
        try other.execute("ROLLBACK")
        try await written
        #expect(try await store.entry(for: key("a")) == entry("new"))
    }

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
        #expect(try await store.totalBytes() < 32 << 10)
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
