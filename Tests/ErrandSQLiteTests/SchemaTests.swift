import ErrandCore
import Foundation
import TestSupport
import Testing

@testable import ErrandSQLite

/// The schema: migration from version 1, files of newer versions, and the use of indexes.
@Suite(.limited)
struct SchemaTests {
    let directory: TemporaryFolder
    let path: String

    init() throws {
        directory = try TemporaryFolder()
        path = directory.path("a.sqlite")
    }

    /// The table of release 0.1.0.
    private static let version1 = """
        PRAGMA journal_mode = WAL;
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY, size INTEGER NOT NULL, accessed INTEGER NOT NULL,
            stored_at REAL NOT NULL, cache_version INTEGER NOT NULL,
            status INTEGER NOT NULL, tag INTEGER NOT NULL, checksum INTEGER NOT NULL,
            key TEXT NOT NULL, url TEXT NOT NULL, app_version TEXT, identity TEXT,
            headers BLOB NOT NULL, body BLOB NOT NULL
        );
        PRAGMA application_id = 1163022916;
        PRAGMA user_version = 1;
        """

    private func connect() throws -> SQLiteConnection {
        try SQLiteConnection(path: path, busyMilliseconds: 1000)
    }

    /// Writes a file of version 1 with `count` entries.
    private func makeVersion1(_ count: Int) async throws {
        let source = directory.path("source.sqlite")
        do {
            let store = SQLiteResponseStore(path: source)
            for number in 0..<count {
                let entry = entry(
                    "\(number)", tag: number % 3, identity: number % 2 == 0 ? "me" : nil)
                try await store.store(entry, for: key("\(number)"))
            }
        }
        let connection = try connect()
        try connection.execute(Self.version1)
        let columns = """
            id, size, accessed, stored_at, cache_version, status, tag, checksum, key, url,
            app_version, identity, headers, body
            """
        try connection.execute(
            """
            ATTACH '\(source)' AS source;
            INSERT INTO entries SELECT \(columns) FROM source.entries;
            DETACH source;
            """)
    }

    @Test func entriesOfVersion1AreKept() async throws {
        try await makeVersion1(100)
        let store = SQLiteResponseStore(path: path)
        for number in 0..<100 {
            let expected = entry(
                "\(number)", tag: number % 3, identity: number % 2 == 0 ? "me" : nil)
            #expect(try await store.entry(for: key("\(number)")) == expected)
        }
        #expect(store.problems.isEmpty)
        #expect(try await store.usage().entries == 100)
        #expect(try connect().integer("PRAGMA user_version") == 2)
        // Rows without a day are found, too.
        let before = Date(timeIntervalSince1970: 1_700_000_001)
        #expect(try await store.entries(matching: .init(storedBefore: before)).count == 100)
        #expect(try await store.entries(matching: .init(tag: 1)).count == 33)
        #expect(try await store.removeAll(matching: .init(identity: .user("me"))) == 50)
        #expect(try await store.usage().entries == 50)
        var expiring = entry("1", tag: 1)
        expiring.expiresAt = Date(timeIntervalSince1970: 4_000_000_100)
        try await store.store(expiring, for: key("1"))
        #expect(try await store.entry(for: key("1")) == expiring)
    }

    @Test func severalStoresMigrateOneFile() async throws {
        try await makeVersion1(50)
        let stores = (0..<6).map { _ in SQLiteResponseStore(path: path) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    #expect(try await store.entry(for: key("7"))?.body == Data("7".utf8))
                    try await store.store(entry("new"), for: key("new\(index)"))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await stores[0].usage().entries == 56)
        #expect(stores.allSatisfy { $0.problems.isEmpty })
        #expect(!directory.names.contains { $0.contains("broken") })
    }

    /// A file of version 1 shrinks by itself after all entries were removed once.
    @Test func removalOfAllEntriesRenewsTheTable() async throws {
        try await makeVersion1(10)
        let store = SQLiteResponseStore(path: path)
        #expect(try await store.usage().entries == 10)
        #expect(try connect().integer("PRAGMA auto_vacuum") == 0)
        try await store.removeAll(where: nil)
        #expect(try connect().integer("PRAGMA auto_vacuum") == 2)
        #expect(try await store.usage().entries == 0)
        try await store.store(entry("x"), for: key("a"))
        #expect(try await store.entry(for: key("a")) == entry("x"))
    }

    @Test func fileOfANewerVersionIsLeftAlone() async throws {
        let newer =
            "PRAGMA user_version = 3; CREATE TABLE future (x); INSERT INTO future VALUES (7)"
        try connect().execute(Self.version1 + newer)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        do {
            let store = SQLiteResponseStore(path: path)
            try await store.store(entry("x"), for: key("a"))
            #expect(try await store.entry(for: key("a")) == entry("x"))
            try await store.removeAll(where: nil)
            try await store.store(entry("y"), for: key("a"))
            #expect(store.takeProblems().count == 1)
            #expect(store.problems.first?.message.contains("newer version") == true)
            #expect(store.problems.first?.message.contains("Update this program") == true)
            let other = SQLiteResponseStore(path: path)
            #expect(try await other.entry(for: key("a")) == nil)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(directory.names.isSubset(of: ["a.sqlite", "a.sqlite-wal", "a.sqlite-shm"]))
        #expect(try connect().integer("SELECT x FROM future") == 7)
    }

    /// The log of a newer version is not copied into its file when the store closes.
    @Test func logOfANewerVersionIsLeftAlone() async throws {
        let writer = try connect()
        try writer.execute(Self.version1 + "PRAGMA user_version = 3; CREATE TABLE future (x)")
        let copy = directory.path("copy.sqlite")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: copy + "-wal"))
        try #require(!before.isEmpty)
        do {
            let store = SQLiteResponseStore(path: copy)
            #expect(try await store.entry(for: key("a")) == nil)
            #expect(store.problems.count == 1)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy + "-wal")) == before)
        withExtendedLifetime(writer) {}
    }

    @Test(arguments: [
        (StoredEntryInfo.Selection(urlPrefix: "http://test/"), "entries_url"),
        (.init(tag: 2), "entries_tag"), (.init(identity: .user("me")), "entries_identity"),
        (.init(storedBefore: Date()), "entries_stored"),
        (.init(expiredAt: Date()), "entries_expires"),
    ])
    func selectionsUseAnIndex(selection: StoredEntryInfo.Selection, index: String) throws {
        let database = try OpenDatabase(path: path)
        for query in SelectionQuery.queries(for: selection) {
            let plan = try database.connection.prepare(
                "EXPLAIN QUERY PLAN SELECT id FROM entries WHERE \(query.condition)")
            var steps: [String] = []
            while try plan.step() { steps.append(plan.text(3) ?? "") }
            #expect(steps.contains { $0.contains("INDEX \(index)") }, "\(steps)")
            #expect(!steps.contains { $0.hasPrefix("SCAN") }, "\(steps)")
        }
    }

    @Test func replacementWithTheSameIndexedValuesKeepsTheIndexes() async throws {
        let store = SQLiteResponseStore(path: path)
        var first = entry("one", tag: 2, identity: "me")
        first.url = "http://test/url"
        first.expiresAt = Date(timeIntervalSince1970: 4_000_000_500)
        try await store.store(first, for: key("a"))
        var second = first
        second.body = Data("two".utf8)
        second.expiresAt = Date(timeIntervalSince1970: 4_000_000_600)
        try await store.store(second, for: key("a"))
        #expect(try await store.entries(matching: .init(urlPrefix: "http://test/u")).count == 1)
        let time = Date(timeIntervalSince1970: 4_000_000_550)
        #expect(try await store.entries(matching: .init(expiredAt: time)).isEmpty)
        var third = second
        third.tag = 5
        third.expiresAt = Date(timeIntervalSince1970: 3_900_000_000)
        try await store.store(third, for: key("a"))
        #expect(try await store.entries(matching: .init(tag: 2)).isEmpty)
        #expect(try await store.entries(matching: .init(tag: 5, expiredAt: time)).count == 1)
        let check = try connect().prepare("PRAGMA integrity_check")
        #expect(try check.step() && check.text(0) == "ok")
    }
}
