import ErrandCore
import ErrandSQLite
import ErrandSystem

/// The table of an outbox: its schema, its migrations, and the leases of its rows.
///
/// Version 0 had the entries only. Version 1 added columns for the position and the lease of each
/// entry. Version 2 moved the bodies to their own column, so that entries can be read without them.
struct OutboxTable {
    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    // MARK: - The table

    /// Creates version 0.
    fileprivate static func create(in connection: SQLiteConnection) throws(SQLiteFailure) {
        // AUTOINCREMENT never reuses a number, so the order holds after removals.
        try connection.execute(
            """
            CREATE TABLE outbox (
                sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
                entry TEXT NOT NULL
            );
            """)
    }

    /// Migrates version 0 to 1: adds origin, parked flag and lease to each entry.
    fileprivate static func addPositions(
        to connection: SQLiteConnection
    ) throws(SQLiteFailure) {
        try connection.execute(
            """
            ALTER TABLE outbox ADD COLUMN lane TEXT;
            ALTER TABLE outbox ADD COLUMN aside INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE outbox ADD COLUMN owner TEXT;
            ALTER TABLE outbox ADD COLUMN taken REAL;
            ALTER TABLE outbox ADD COLUMN expires REAL;
            CREATE INDEX outbox_lane ON outbox (lane, aside, sequence);
            CREATE INDEX outbox_owner ON outbox (lane) WHERE owner IS NOT NULL;
            """)
        let select = try connection.prepare("SELECT sequence, entry FROM outbox")
        let update = try connection.prepare(
            "UPDATE outbox SET lane = ?, aside = ? WHERE sequence = ?")
        var positions: [(sequence: Int64, entry: OutboxEntry)] = []
        while try select.step() {
            let bytes = select.bytes(1).map { Data($0) } ?? Data()
            // `SQLiteOutboxStore.entries()` reports an entry that cannot be decoded.
            guard let entry = try? JSONReader().decode(OutboxEntry.self, from: bytes) else {
                continue
            }
            positions.append((select.integer(0), entry))
        }
        for (sequence, entry) in positions {
            update.bind(entry.lane, at: 1)
            update.bind(Int64(entry.isParked ? 1 : 0), at: 2)
            update.bind(sequence, at: 3)
            try update.run()
        }
    }

    /// Migrates version 1 to 2: moves the bodies from the JSON texts to their own column.
    ///
    /// One entry at a time, because all bodies together may be large.
    fileprivate static func separateBodies(
        in connection: SQLiteConnection
    ) throws(SQLiteFailure) {
        try connection.execute("ALTER TABLE outbox ADD COLUMN body BLOB")
        let next = try connection.prepare(
            "SELECT sequence, entry FROM outbox WHERE sequence > ? ORDER BY sequence LIMIT 1")
        var last = Int64.min
        while true {
            next.bind(last, at: 1)
            guard try next.step() else { break }
            last = next.integer(0)
            let bytes = next.bytes(1).map { Data($0) } ?? Data()
            next.reset()
            // An entry that cannot be decoded is kept unchanged; `entries()` reports it.
            guard var entry = try? JSONReader().decode(OutboxEntry.self, from: bytes),
                let body = entry.body
            else { continue }
            entry = entry.withoutBody
            guard let text = try? JSONEncoder().encode(entry) else { continue }
            let update = try connection.prepare(
                "UPDATE outbox SET entry = ?, body = ? WHERE sequence = ?")
            update.bind(String(decoding: text, as: UTF8.self), at: 1)
            update.bind(last, at: 3)
            try update.run(binding: body, at: 2)
        }
        next.reset()
    }

    // MARK: - Leases

    /// Decides about a claim and stores a granted lease, in one transaction: of two concurrent
    /// claims, one is granted.
    func claim(_ id: UUID, lease: OutboxLease) throws(SQLiteFailure) -> OutboxClaim {
        try connection.transaction { () throws(SQLiteFailure) in
            let claim = OutboxClaim.decide(id, lease: lease, among: try positions(relatedTo: id))
            guard claim == .granted else { return claim }
            let update = try connection.prepare(
                "UPDATE outbox SET owner = ?, taken = ?, expires = ? WHERE id = ?")
            update.bind(lease.owner.uuidString, at: 1)
            update.bind(lease.takenAt.timeIntervalSince1970, at: 2)
            update.bind(lease.expiresAt.timeIntervalSince1970, at: 3)
            update.bind(id.uuidString, at: 4)
            try update.run()
            return claim
        }
    }

    func release(_ id: UUID, by owner: UUID) throws(SQLiteFailure) {
        let update = try connection.prepare(
            "UPDATE outbox SET owner = NULL, taken = NULL, expires = NULL WHERE id = ? AND owner = ?"
        )
        update.bind(id.uuidString, at: 1)
        update.bind(owner.uuidString, at: 2)
        try update.run()
    }

    /// The positions of the entry, and of the first entry and all leased entries of its lane.
    private func positions(relatedTo id: UUID) throws(SQLiteFailure) -> [OutboxPosition] {
        let columns = "id, sequence, aside, owner, taken, expires"
        let select = try connection.prepare(
            """
            SELECT \(columns) FROM outbox WHERE id = ?1
            UNION SELECT \(columns) FROM outbox WHERE sequence = (
                SELECT min(sequence) FROM outbox WHERE aside = 0
                AND lane = (SELECT lane FROM outbox WHERE id = ?1))
            UNION SELECT \(columns) FROM outbox WHERE owner IS NOT NULL
                AND lane = (SELECT lane FROM outbox WHERE id = ?1)
            """)
        select.bind(id.uuidString, at: 1)
        var positions: [OutboxPosition] = []
        while try select.step() {
            guard let id = select.text(0).flatMap({ UUID(uuidString: $0) }) else { continue }
            let lease = select.text(3).flatMap { UUID(uuidString: $0) }.map { owner in
                OutboxLease(
                    owner: owner, takenAt: Date(timeIntervalSince1970: select.double(4)),
                    expiresAt: Date(timeIntervalSince1970: select.double(5)))
            }
            positions.append(
                OutboxPosition(
                    id: id, sequence: select.integer(1), isParked: select.integer(2) != 0,
                    lease: lease))
        }
        return positions
    }
}

/// The file of an outbox.
struct OutboxFormat: DatabaseFormat {
    let store = "outbox"
    /// The letters "ERRO".
    let applicationID: Int64 = 0x4552_524f
    let versions: ClosedRange<Int64> = 0...2

    func migrate(_ connection: SQLiteConnection, to version: Int64) throws(SQLiteFailure) {
        switch version {
        case 0: try OutboxTable.create(in: connection)
        case 1: try OutboxTable.addPositions(to: connection)
        default: try OutboxTable.separateBodies(in: connection)
        }
    }
}
