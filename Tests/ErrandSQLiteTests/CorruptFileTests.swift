import CSQLite
import Errand
import ErrandCore
import ErrandOutbox
import ErrandWorkflows
import Foundation
import TestSupport
import Testing

@testable import ErrandDownloadQueue
@testable import ErrandSQLite

/// Files that are corrupt or belong to another application.
@Suite(.limited)
struct CorruptFileTests {
    let directory: TemporaryFolder
    let path: String

    init() throws {
        directory = try TemporaryFolder()
        path = directory.path("a.sqlite")
    }

    private func expectWorking(_ store: SQLiteResponseStore) async throws {
        try await store.store(entry("new"), for: key("new"))
        #expect(try await store.entry(for: key("new")) == entry("new"))
    }

    @Test func fileThatIsNotADatabaseIsReplaced() async throws {
        let text = String(repeating: "This is no database. ", count: 500)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let store = SQLiteResponseStore(path: path)
        #expect(try await store.entry(for: key("a")) == nil)
        try await expectWorking(store)
        #expect(try String(contentsOfFile: path + ".broken-1", encoding: .utf8) == text)
        #expect(store.problems.count == 1)
        #expect(store.problems.first?.message.contains("broken-1") == true)
        // The lock file of the replacement is removed.
        #expect(directory.names.allSatisfy { !$0.hasSuffix(".repair") })
    }

    @Test func emptyMemoryReadsFromTheFileAgain() async throws {
        let store = SQLiteResponseStore(path: path)
        try await store.store(entry("a"), for: key("a"))
        #expect(try await store.entry(for: key("a")) == entry("a"))
        #expect(store.memoryHits == 1)
        store.emptyMemory()
        #expect(try await store.entry(for: key("a")) == entry("a"))
        #expect(store.memoryHits == 1)
    }

    @Test func emptyFileBecomesANewDatabase() async throws {
        try Data().write(to: URL(fileURLWithPath: path))
        let store = SQLiteResponseStore(path: path)
        try await expectWorking(store)
        #expect(store.problems.isEmpty)
    }

    @Test(
        "The database of another application is not changed",
        arguments: [
            "CREATE TABLE users (id INTEGER)", "PRAGMA user_version = 3",
            "PRAGMA application_id = 42; CREATE TABLE entries (id INTEGER)",
            "PRAGMA application_id = 42",
            "PRAGMA application_id = 1163022916; PRAGMA user_version = 1; CREATE TABLE downloads (id)",
        ])
    func foreignDatabaseIsRefused(sql: String) async throws {
        do { try SQLiteConnection(path: path, busyMilliseconds: 0).execute(sql) }
        chmod(path, 0o640)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        do {
            let store = SQLiteResponseStore(path: path)
            for _ in 0..<2 {
                let error = await #expect(throws: RequestError.self) {
                    try await store.store(entry("x"), for: key("a"))
                }
                #expect(error?.code == .storeFailed)
                #expect(error?.message.contains("another application") == true)
                #expect(error?.message.contains("path of its own") == true)
            }
            await #expect(throws: RequestError.self) { try await store.entry(for: key("a")) }
            await #expect(throws: RequestError.self) { try await store.removeAll(where: nil) }
            #expect(store.takeProblems().count == 1)
        }
        #expect(directory.names == ["a.sqlite"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    }

    /// SQLite applies a log or a journal beside a database without a check of its owner.
    @Test(arguments: ["-wal", "-journal", "-shm"])
    func fileBesideADatabaseThatOthersMayWriteIsRefused(suffix: String) throws {
        do {
            try SQLiteConnection(path: path, busyMilliseconds: 0)
                .execute("CREATE TABLE users (id INTEGER)")
        }
        let link = path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try Data("planted".utf8).write(to: URL(fileURLWithPath: path + suffix))
        chmod(path + suffix, 0o666)
        for name in [path, link] {
            let error = #expect(throws: SQLiteFailure.self) {
                try SQLiteConnection(path: name, busyMilliseconds: 0)
            }
            #expect(error?.message.contains(suffix) == true)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + suffix)) == Data("planted".utf8))
    }

    @Test func foreignDatabaseIsNotChangedByOtherStores() async throws {
        do {
            try SQLiteConnection(path: path, busyMilliseconds: 0)
                .execute("CREATE TABLE users (id INTEGER)")
        }
        chmod(path, 0o640)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        do {
            for operation in [
                { _ = try await SQLiteOutboxStore(path: path).entries() },
                { _ = try await SQLiteCheckpointStore(path: path).unfinishedChains() },
                { _ = try await DownloadQueueDatabase(path: path).rows() },
            ] as [() async throws -> Void] {
                let error = await #expect(throws: RequestError.self) { try await operation() }
                #expect(error?.message.contains("another application") == true)
                #expect(error?.message.contains("of its own") == true)
            }
        }
        #expect(directory.names == ["a.sqlite"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    }

    @Test(
        "A store whose table was changed is replaced",
        arguments: [
            "PRAGMA application_id = 1163022916; PRAGMA user_version = 2; CREATE TABLE entries (id)",
            "PRAGMA application_id = 1163022916; PRAGMA user_version = 1; CREATE TABLE entries (id)",
            "PRAGMA application_id = 1163022916; PRAGMA user_version = 2",
        ])
    func damagedSchemaIsReplaced(sql: String) async throws {
        try SQLiteConnection(path: path, busyMilliseconds: 0).execute(sql)
        let store = SQLiteResponseStore(path: path)
        try await expectWorking(store)
        #expect(directory.names.contains("a.sqlite.broken-1"))
        #expect(store.problems.count == 1)
    }

    @Test func databaseWithDamagedPagesIsReplaced() async throws {
        do {
            let store = SQLiteResponseStore(path: path, maximumMemoryBytes: 0)
            for number in 0..<300 {
                try await store.store(
                    entry(String(repeating: "x", count: 900)), for: key("\(number)"))
            }
            try checkpoint()
        }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let end = try file.seekToEnd()
        try #require(end > 40 * 4096)
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0x5a, count: 20 * 4096))
        try file.close()

        let store = SQLiteResponseStore(path: path, maximumMemoryBytes: 0)
        for number in 0..<300 { _ = try? await store.entry(for: key("\(number)")) }
        try await expectWorking(store)
        #expect(store.problems.count == 1)
        #expect(directory.names.contains("a.sqlite.broken-1"))
    }

    @Test func truncatedDatabaseIsReplaced() async throws {
        do {
            let store = SQLiteResponseStore(path: path)
            for number in 0..<300 { try await store.store(entry("x"), for: key("\(number)")) }
            try checkpoint()
        }
        truncate(path, 5000)
        let store = SQLiteResponseStore(path: path)
        for number in 0..<300 { _ = try? await store.entry(for: key("\(number)")) }
        try await expectWorking(store)
    }

    private func checkpoint() throws {
        try SQLiteConnection(path: path, busyMilliseconds: 1000)
            .execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    @Test func modifiedBodyIsACacheMiss() async throws {
        do {
            let store = SQLiteResponseStore(path: path)
            try await store.store(entry("good"), for: key("a"))
        }
        try SQLiteConnection(path: path, busyMilliseconds: 1000)
            .execute("UPDATE entries SET body = CAST('evil' AS BLOB)")
        let store = SQLiteResponseStore(path: path)
        let error = await #expect(throws: RequestError.self) {
            try await store.entry(for: key("a"))
        }
        #expect(error?.code == .cacheMiss)
        #expect(error?.cacheMiss == .invalidData)
        #expect(try await store.entry(for: key("a")) == nil)
        #expect(store.problems.isEmpty)
    }

    @Test(
        "A modified value in any column is detected",
        arguments: [
            "stored_at = stored_at + 1", "cache_version = 1", "status = 404", "tag = 9",
            "app_version = ''", "identity = 'you'", "url = 'x'", "headers = CAST('a' AS BLOB)",
            "headers = CAST('content-type:x' || char(10) AS BLOB)", "stored_at = 'soon'",
        ])
    func modifiedColumnIsACacheMiss(assignment: String) async throws {
        let store = SQLiteResponseStore(path: path)
        try await store.store(entry("good"), for: key("a"))
        try SQLiteConnection(path: path, busyMilliseconds: 1000)
            .execute("UPDATE entries SET " + assignment)
        let error = await #expect(throws: RequestError.self) {
            try await store.entry(for: key("a"))
        }
        #expect(error?.cacheMiss == .invalidData)
    }

    @Test func atMostThreeCorruptFilesAreKept() async throws {
        for _ in 0..<6 {
            try String(repeating: "no database ", count: 100)
                .write(toFile: path, atomically: true, encoding: .utf8)
            for suffix in ["-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
            try await expectWorking(SQLiteResponseStore(path: path))
        }
        let broken = directory.names.filter { $0.contains("broken") && !$0.hasSuffix("-wal") }
        #expect(broken == ["a.sqlite.broken-1", "a.sqlite.broken-2", "a.sqlite.broken-3"])
    }
}
