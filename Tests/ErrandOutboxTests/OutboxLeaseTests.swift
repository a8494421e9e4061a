import ErrandCore
import ErrandOutbox
import ErrandSQLite
import Foundation
import TestSupport
import Testing

/// Several stores on one file, of which only one may send an entry at a time.
@Suite(.limited)
struct OutboxLeaseTests {
    let directory: TemporaryFolder
    let path: String
    private let one = UUID()
    private let other = UUID()
    private let now = Date(timeIntervalSince1970: 1_000_000)

    init() throws {
        directory = try TemporaryFolder()
        path = directory.path("outbox.sqlite")
    }

    private static func entry(_ host: String = "a") throws -> OutboxEntry {
        let text = """
            {"id": "\(UUID().uuidString)", "sequence": 0, "addedAt": 0, "endpoint": "Note", "tag": 0,
            "method": "POST", "url": "https://\(host).example/notes", "headers": [],
            "acceptableStatusCodes": [200, 300], "refusals": 0, "isSetAside": false}
            """
        return try JSONDecoder().decode(OutboxEntry.self, from: Data(text.utf8))
    }

    private func lease(_ owner: UUID, after seconds: TimeInterval = 0) -> OutboxLease {
        let taken = now.addingTimeInterval(seconds)
        return OutboxLease(owner: owner, takenAt: taken, expiresAt: taken.addingTimeInterval(30))
    }

    @Test func onlyOneStoreGetsTheLease() async throws {
        let (here, there) = (SQLiteOutboxStore(path: path), SQLiteOutboxStore(path: path))
        let first = try await here.append(try Self.entry())
        let second = try await there.append(try Self.entry())
        let elsewhere = try await there.append(try Self.entry("b"))
        #expect(try await here.claim(first.id, lease: lease(one)) == .granted)
        let until = now.addingTimeInterval(30)
        #expect(try await there.claim(first.id, lease: lease(other)) == .taken(until: until))
        #expect(try await there.claim(second.id, lease: lease(other)) == .taken(until: until))
        #expect(try await there.claim(elsewhere.id, lease: lease(other)) == .granted)
        // A renewed lease expires later.
        #expect(try await here.claim(first.id, lease: lease(one, after: 20)) == .granted)
        #expect(try await there.claim(first.id, lease: lease(other, after: 40)) != .granted)
        // Only the owner can release a lease.
        try await there.release(first.id, by: other)
        #expect(try await there.claim(first.id, lease: lease(other, after: 40)) != .granted)
        try await here.release(first.id, by: one)
        #expect(try await there.claim(second.id, lease: lease(other)) == .outdated)
        #expect(try await there.claim(first.id, lease: lease(other)) == .granted)
        try await there.remove(first.id)
        #expect(try await here.claim(first.id, lease: lease(one)) == .gone)
        #expect(try await here.claim(second.id, lease: lease(one)) == .granted)
        #expect(
            try await here.entries(after: first.sequence).map(\.id) == [second.id, elsewhere.id])
    }

    @Test func parkedEntryDoesNotBlockOthers() async throws {
        let store = SQLiteOutboxStore(path: path)
        var first = try await store.append(try Self.entry())
        let second = try await store.append(try Self.entry())
        #expect(try await store.claim(second.id, lease: lease(one)) == .outdated)
        first.isParked = true
        try await store.update(first)
        #expect(try await store.claim(second.id, lease: lease(one)) == .granted)
        #expect(try await store.claim(first.id, lease: lease(one)) == .outdated)
    }

    @Test func concurrentClaimsGrantOneLease() async throws {
        let stores = (0..<4).map { _ in SQLiteOutboxStore(path: path) }
        for _ in 0..<20 {
            let entry = try await stores[0].append(try Self.entry())
            let granted = try await withThrowingTaskGroup(of: Bool.self) { group in
                for store in stores {
                    let lease = lease(UUID())
                    group.addTask { try await store.claim(entry.id, lease: lease) == .granted }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(granted == 1)
            try await stores[0].remove(entry.id)
        }
    }

    /// The table of the first file version.
    private static let firstTable = """
        CREATE TABLE outbox (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
            entry TEXT NOT NULL
        );
        """

    /// The first file version has no columns for lanes and leases.
    @Test func fileOfTheFirstVersionIsMigrated() async throws {
        let entries = [try Self.entry(), try Self.entry(), try Self.entry("b")]
        do {
            let connection = try SQLiteConnection(path: path, busyMilliseconds: 20)
            try connection.execute(
                """
                \(Self.firstTable)
                PRAGMA application_id = \(0x4552_524f);
                """)
            let insert = try connection.prepare("INSERT INTO outbox (id, entry) VALUES (?, ?)")
            for entry in entries {
                insert.bind(entry.id.uuidString, at: 1)
                insert.bind(
                    String(decoding: try JSONEncoder().encode(entry), as: UTF8.self), at: 2)
                try insert.run()
            }
        }
        let store = SQLiteOutboxStore(path: path)
        #expect(try await store.entries().map(\.id) == entries.map(\.id))
        #expect(try await store.claim(entries[1].id, lease: lease(one)) == .outdated)
        #expect(try await store.claim(entries[2].id, lease: lease(one)) == .granted)
        let again = SQLiteOutboxStore(path: path)
        #expect(try await again.claim(entries[2].id, lease: lease(other)) != .granted)
    }

    /// The second file version stores bodies within the entries.
    @Test func fileOfTheSecondVersionIsMigrated() async throws {
        var entries = [try Self.entry(), try Self.entry("b")]
        entries[0].body = Data([0, 1, 255])
        do {
            let connection = try SQLiteConnection(path: path, busyMilliseconds: 20)
            try connection.execute(
                """
                \(Self.firstTable)
                ALTER TABLE outbox ADD COLUMN lane TEXT;
                ALTER TABLE outbox ADD COLUMN aside INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE outbox ADD COLUMN owner TEXT;
                ALTER TABLE outbox ADD COLUMN taken REAL;
                ALTER TABLE outbox ADD COLUMN expires REAL;
                PRAGMA application_id = \(0x4552_524f);
                PRAGMA user_version = 1;
                """)
            let insert = try connection.prepare(
                "INSERT INTO outbox (id, entry, lane) VALUES (?, ?, ?)")
            for entry in entries {
                insert.bind(entry.id.uuidString, at: 1)
                insert.bind(
                    String(decoding: try JSONEncoder().encode(entry), as: UTF8.self), at: 2)
                insert.bind(entry.lane, at: 3)
                try insert.run()
            }
        }
        let store = SQLiteOutboxStore(path: path)
        #expect(try await store.entries().map(\.body) == [Data([0, 1, 255]), nil])
        let outlines = try await store.outlines(after: .min)
        #expect(outlines.map(\.body) == [nil, nil] && outlines.map(\.bodyBytes) == [3, 0])
        #expect(try await store.entry(entries[0].id)?.body == Data([0, 1, 255]))
        // An update of the other values keeps the body.
        var changed = outlines[0]
        changed.refusals = 7
        try await store.update(changed)
        let read = try await SQLiteOutboxStore(path: path).entry(entries[0].id)
        #expect(read?.refusals == 7 && read?.body == Data([0, 1, 255]))
        #expect(try await store.entry(UUID()) == nil)
    }

    @Test func unreadableEntryIsKeptAndReported() async throws {
        do {
            let connection = try SQLiteConnection(path: path, busyMilliseconds: 20)
            try connection.execute(
                """
                \(Self.firstTable)
                PRAGMA application_id = \(0x4552_524f);
                INSERT INTO outbox (id, entry) VALUES ('x', 'nonsense');
                """)
        }
        let error = await #expect(throws: RequestError.self) {
            try await SQLiteOutboxStore(path: path).entries()
        }
        #expect(error?.code == .storeFailed)
        let connection = try SQLiteConnection(path: path, busyMilliseconds: 20)
        #expect(try connection.integer("SELECT count(*) FROM outbox WHERE entry = 'nonsense'") == 1)
    }

    @Test func newerFileVersionIsAnError() async throws {
        do {
            let store = SQLiteOutboxStore(path: path)
            _ = try await store.append(try Self.entry())
            let connection = try SQLiteConnection(path: path, busyMilliseconds: 20)
            try connection.execute("PRAGMA user_version = 99")
        }
        let error = await #expect(throws: RequestError.self) {
            try await SQLiteOutboxStore(path: path).entries()
        }
        #expect(error?.code == .storeFailed)
        #expect(error?.message.contains("newer version") == true)
    }

    @Test func leaseOfAKilledProcessIsValidUntilItExpires() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = SQLiteOutboxStore(path: path)
            let entry = try await store.append(try OutboxLeaseTests.entry())
            let now = Date()
            let lease = OutboxLease(
                owner: UUID(), takenAt: now, expiresAt: now.addingTimeInterval(3600))
            guard try await store.claim(entry.id, lease: lease) == .granted else { exit(3) }
            kill(getpid(), SIGKILL)
        }
        let store = SQLiteOutboxStore(path: path)
        let left = try #require(try await store.entries().first)
        func claim(at date: Date) async throws -> OutboxClaim {
            try await store.claim(
                left.id,
                lease: OutboxLease(
                    owner: one, takenAt: date, expiresAt: date.addingTimeInterval(30)))
        }
        guard case .taken(let until) = try await claim(at: Date()) else {
            Issue.record("a lease was granted that had not expired")
            return
        }
        #expect(try await claim(at: until.addingTimeInterval(-1)) == .taken(until: until))
        #expect(try await claim(at: until) == .granted)
    }
}
