import Errand
import ErrandCore
import ErrandOutbox
import ErrandWorkflows
import Foundation
import TestSupport
import Testing

@testable import ErrandDownloadQueue
@testable import ErrandSQLite

/// Files with a damaged value in any column of any table.
///
/// An operation may fail, and an entry may be lost; the process goes on, and the store works afterwards.
@Suite(.limited)
struct DamagedValuesTests {
    let directory: TemporaryFolder
    let path: String

    init() throws {
        directory = try TemporaryFolder()
        path = directory.path("a.sqlite")
    }

    private static let values = [
        "-9223372036854775808", "9223372036854775807", "-1", "0", "4611686018427387904", "-61380",
        "9223372036854775800", "1e300", "9e999", "'text'", "''", "x'00ff'", "zeroblob(70000)",
        "NULL",
    ]

    /// Assigns a value to all rows of a table; the declared constraints are not checked.
    private func damage(_ table: String, _ column: String, _ value: String) throws {
        let connection = try SQLiteConnection(path: path, busyMilliseconds: 1000)
        // NOT NULL constraints are part of the schema's text.
        try connection.execute(
            """
            PRAGMA ignore_check_constraints = ON;
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') WHERE type = 'table';
            PRAGMA writable_schema = RESET;
            """)
        // A key is assigned to one row, because it must be unique.
        try? connection.execute(
            "UPDATE \(table) SET \(column) = \(value) WHERE rowid = (SELECT min(rowid) FROM \(table))"
        )
        try? connection.execute("UPDATE OR IGNORE \(table) SET \(column) = \(value)")
    }

    private func columns(of tables: [String]) throws -> [(table: String, column: String)] {
        let connection = try SQLiteConnection(path: path, busyMilliseconds: 1000)
        var columns: [(String, String)] = []
        for table in tables {
            let statement = try connection.prepare("SELECT name FROM pragma_table_info('\(table)')")
            while try statement.step() { columns.append((table, statement.text(0) ?? "")) }
        }
        return columns
    }

    private func removeFiles() {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    // MARK: - Responses

    private func store(entries: Int? = 8) -> SQLiteResponseStore {
        SQLiteResponseStore(
            path: path, maximumBytes: 4 << 20, maximumMemoryBytes: 0, maximumEntries: entries)
    }

    private func fill() async throws {
        let store = store()
        for number in 0..<4 {
            var entry = entry("\(number)", tag: number, identity: "me")
            entry.expiresAt = Date(timeIntervalSince1970: 1)
            try await store.store(entry, for: key("\(number)"))
        }
        try await store.store(entry(bytes: 1_200_000), for: key("large"))
    }

    /// Every operation of a store.
    private func use(_ store: SQLiteResponseStore) async {
        for name in ["0", "1", "large"] {
            _ = try? await store.entry(for: key(name))
            if let opened = try? await store.open(key(name)) {
                _ = try? await opened.body.bytes(in: 0..<min(opened.body.count, 600_000))
            }
        }
        _ = try? await store.usage()
        _ = try? await store.entries()
        _ = try? await store.entries(matching: .init(identity: .user("me")))
        _ = try? await store.entries(matching: .init(expiredAt: Date()))
        for number in 0..<12 {
            _ = try? await store.store(entry(bytes: 50_000), for: key("new\(number)"))
        }
        // Evicts by size.
        _ = try? await store.store(entry(bytes: 1_500_000), for: key("larger"))
        _ = try? await store.store(entry(bytes: 1_500_000), for: key("largest"))
        _ = try? await store.removeAll(matching: .init(tag: 2))
        _ = try? await store.removeAll { $0.size > 10 }
        _ = try? await store.removeAll(where: nil)
    }

    @Test func damagedResponsesDoNotEndTheProcess() async throws {
        try await fill()
        let columns = try columns(of: ["entries", "bodies", "parts", "totals"])
        #expect(columns.count > 20)
        for (table, column) in columns {
            for value in Self.values {
                removeFiles()
                try await fill()
                try damage(table, column, value)
                await use(store())
                let after = store(entries: nil)
                try await after.store(entry("after"), for: key("after"))
                #expect(
                    try await after.entry(for: key("after")) == entry("after"),
                    "\(table).\(column) = \(value)")
            }
        }
    }

    /// The values that overflow in a sum, quickly.
    @Test(arguments: ["-9223372036854775808", "9223372036854775807"])
    func damagedSizesDoNotEndTheProcess(value: String) async throws {
        try await fill()
        try damage("entries", "size", value)
        await use(store())
    }

    @Test func damagedNumberOfEntriesIsCountedAgain() async throws {
        do {
            let store = store()
            for number in 0..<5 { try await store.store(entry("\(number)"), for: key("\(number)")) }
        }
        for value in Self.values where value != "0" {
            try damage("totals", "entries", value)
            let usage = try await store().usage()
            #expect(usage.entries == 5, "\(value)")
        }
    }

    /// A row with 100 MB of fields, such as a damaged or foreign one, is not parsed.
    @Test func fieldsAreBounded() async throws {
        let store = store()
        try await store.store(entry("a"), for: key("a"))
        let connection = try SQLiteConnection(path: path, busyMilliseconds: 1000)
        try connection.execute("UPDATE entries SET headers = zeroblob(9000000)")
        let error = await #expect(throws: RequestError.self) {
            try await store.entry(for: key("a"))
        }
        #expect(error?.cacheMiss == .invalidData)
        var large = entry("b")
        for number in 0..<9 {
            let name = try #require(HTTPField.Name("x-\(number)"))
            large.headers[name] = String(repeating: "v", count: 1 << 20)
        }
        let roomy = SQLiteResponseStore(path: directory.path("b.sqlite"))
        let refused = await #expect(throws: RequestError.self) {
            try await roomy.store(large, for: key("b"))
        }
        #expect(refused?.code == .storeFailed)
        #expect(refused?.message.contains("header fields") == true)
    }

    /// A row whose checksum is valid is damaged, too, if its fields exceed the limit.
    @Test(arguments: [7, 9]) func fieldsWithAValidChecksumAreBounded(mebibytes: Int) async throws {
        let written = entry("a")
        let store = SQLiteResponseStore(path: path, maximumMemoryBytes: 0)
        try await store.store(written, for: key("a"))
        let line = ":" + String(repeating: "v", count: (1 << 20) - 8) + "\n"
        var headers = Array((0..<mebibytes).map { "x-\($0)" + line }.joined().utf8)
        var sum = Checksum()
        sum.combine(key("a").canonical)
        sum.combine(written.url)
        sum.combine(written.storedAt.timeIntervalSinceReferenceDate.bitPattern)
        sum.combine(written.cacheVersion)
        sum.combine(written.appVersion)
        sum.combine(written.identity)
        sum.combine(written.tag)
        sum.combine(written.status)
        headers.withUnsafeBytes { sum.combine($0) }
        written.body.withUnsafeBytes { sum.combine($0) }
        let connection = try SQLiteConnection(path: path, busyMilliseconds: 1000)
        let update = try connection.prepare("UPDATE entries SET headers = ?1, checksum = ?2")
        try headers.withUnsafeMutableBytes { bytes in
            update.bindUnowned(UnsafeRawBufferPointer(bytes), at: 1)
            update.bind(sum.value, at: 2)
            try update.run()
        }
        let fields = try? await store.entry(for: key("a"))?.headers.count
        #expect(fields == (mebibytes < 8 ? mebibytes : nil))
    }

    // MARK: - Outbox, checkpoints, queue

    private func outboxEntry(_ number: Int) throws -> OutboxEntry {
        let json = """
            {"id": "\(UUID())", "sequence": \(number), "addedAt": 0, "endpoint": "E", "tag": 0, "method": "POST",
            "url": "http://test/\(number)", "headers": [], "acceptableStatusCodes": [200, 300], "refusals": 0,
            "isSetAside": false}
            """
        return try JSONDecoder().decode(OutboxEntry.self, from: Data(json.utf8))
    }

    @Test func damagedOutboxDoesNotEndTheProcess() async throws {
        _ = try await SQLiteOutboxStore(path: path).append(outboxEntry(1))
        let columns = try columns(of: ["outbox"])
        for (table, column) in columns {
            for value in Self.values {
                removeFiles()
                let filled = SQLiteOutboxStore(path: path)
                let first = try await filled.append(outboxEntry(1))
                _ = try await filled.append(outboxEntry(2))
                try damage(table, column, value)
                let store = SQLiteOutboxStore(path: path)
                _ = try? await store.entries()
                _ = try? await store.outlines(after: 0)
                _ = try? await store.entry(first.id)
                let lease = OutboxLease(
                    owner: UUID(), takenAt: Date(), expiresAt: Date(timeIntervalSinceNow: 60))
                _ = try? await store.claim(first.id, lease: lease)
                _ = try? await store.append(outboxEntry(3))
                _ = try? await store.remove(first.id)
            }
        }
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807", "-1"])
    func numbersOfOutboxEntriesAreClamped(number: String) throws {
        let json = """
            {"id": "\(UUID())", "sequence": \(number), "addedAt": 0, "endpoint": "E", "tag": \(number),
            "method": "POST", "url": "http://test/", "headers": [], "acceptableStatusCodes": [200, 300],
            "refusals": \(number), "bodyBytes": \(number), "isSetAside": false}
            """
        var entry = try JSONDecoder().decode(OutboxEntry.self, from: Data(json.utf8))
        entry.refusals += 1
        #expect(entry.size + entry.size > 0)
    }

    @Test func damagedCheckpointsAndQueuesDoNotEndTheProcess() async throws {
        let row = Checkpoint(
            chain: "c", revision: UUID(), definition: ["a", "b"], outputs: [Data("1".utf8), nil])
        _ = try await SQLiteCheckpointStore(path: path).save(row, replacing: nil)
        for (table, column) in try columns(of: ["checkpoints", "steps", "outputs"]) {
            for value in Self.values {
                removeFiles()
                _ = try await SQLiteCheckpointStore(path: path).save(
                    row, replacing: nil)
                try damage(table, column, value)
                let database = SQLiteCheckpointStore(path: path)
                let found = try? await database.checkpoint(of: "c")
                _ = try? await database.unfinishedChains()
                _ = try? await database.save(row, replacing: found?.revision)
                _ = try? await database.removeCheckpoint(of: "c")
            }
        }
        removeFiles()
        for value in Self.values {
            removeFiles()
            let queued = DownloadQueueDatabase.Row(id: UUID(), sequence: 1, entry: Data())
            try await DownloadQueueDatabase(path: path).save([queued])
            try damage("downloads", "sequence", value)
            let rows = try await DownloadQueueDatabase(path: path).rows()
            // The next download gets the next number.
            #expect(rows.allSatisfy { $0.sequence < .max - 1000 })
        }
    }
}
