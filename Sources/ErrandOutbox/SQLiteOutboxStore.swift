public import ErrandCore
import ErrandSQLite
public import ErrandSystem

/// Stores the entries of an ``Outbox`` in a SQLite database.
///
/// An entry is on the disk before ``append(_:)`` returns. A file that is damaged or belongs to
/// another application is an error and is not changed, because its entries are not delivered yet.
/// Only the owner of the file can read it; it contains the bodies as they will be sent. Several
/// outboxes may use one file at the same time, also in different processes; a lease ensures that
/// one of them sends an entry.
public final class SQLiteOutboxStore: SharedOutboxStore {
    /// The absolute path of the database file.
    public var path: String { database.path }

    private let database: SharedDatabase

    /// Creates a store in a file that need not exist yet; nothing is opened before the first use.
    public init(path: String) {
        database = SharedDatabase(path: path, format: OutboxFormat())
    }

    /// Adds an entry after all others.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func append(_ entry: OutboxEntry) async throws(RequestError) -> OutboxEntry {
        let text = try encoded(entry)
        let sequence = try await perform { (connection) throws(SQLiteFailure) -> Int64 in
            let insert = try connection.prepare(
                "INSERT INTO outbox (id, entry, lane, aside, body) VALUES (?, ?, ?, ?, ?) RETURNING sequence"
            )
            defer { insert.reset() }
            insert.bind(entry.id.uuidString, at: 1)
            insert.bind(text, at: 2)
            insert.bind(entry.lane, at: 3)
            insert.bind(Int64(entry.isParked ? 1 : 0), at: 4)
            return try insert.readInteger(binding: entry.body, at: 5)
        }
        var stored = entry
        stored.sequence = sequence
        return stored
    }

    /// Replaces an entry, except its body.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func update(_ entry: OutboxEntry) async throws(RequestError) {
        let text = try encoded(entry)
        try await perform { (connection) throws(SQLiteFailure) in
            let update = try connection.prepare(
                "UPDATE outbox SET entry = ?, lane = ?, aside = ? WHERE id = ?")
            update.bind(text, at: 1)
            update.bind(entry.lane, at: 2)
            update.bind(Int64(entry.isParked ? 1 : 0), at: 3)
            update.bind(entry.id.uuidString, at: 4)
            try update.run()
        }
    }

    /// Removes an entry.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func remove(_ id: UUID) async throws(RequestError) {
        try await perform { (connection) throws(SQLiteFailure) in
            let delete = try connection.prepare("DELETE FROM outbox WHERE id = ?")
            delete.bind(id.uuidString, at: 1)
            try delete.run()
        }
    }

    /// All entries in order.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``, also when an entry cannot be read.
    public func entries() async throws(RequestError) -> [OutboxEntry] {
        try await entries(after: .min)
    }

    /// The entries after a sequence, in order, with their bodies.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``, also when an entry cannot be read.
    public func entries(after sequence: Int64) async throws(RequestError) -> [OutboxEntry] {
        try await read("sequence > ? ORDER BY sequence", withBodies: true) {
            $0.bind(sequence, at: 1)
        }
    }

    /// The entries after a sequence, in order, without their bodies.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``, also when an entry cannot be read.
    public func outlines(after sequence: Int64) async throws(RequestError) -> [OutboxEntry] {
        try await read("sequence > ? ORDER BY sequence", withBodies: false) {
            $0.bind(sequence, at: 1)
        }
    }

    /// One entry with its body; `nil` if there is none.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``, also when the entry cannot be read.
    public func entry(_ id: UUID) async throws(RequestError) -> OutboxEntry? {
        try await read("id = ?", withBodies: true) { $0.bind(id.uuidString, at: 1) }.first
    }

    private func read(
        _ condition: String, withBodies: Bool, _ bind: (SQLiteStatement) -> Void
    ) async throws(RequestError) -> [OutboxEntry] {
        let rows = try await perform { (connection) throws(SQLiteFailure) -> [Row] in
            let select = try connection.prepare(
                "SELECT sequence, entry\(withBodies ? ", body" : "") FROM outbox WHERE \(condition)"
            )
            bind(select)
            var rows: [Row] = []
            while try select.step() {
                rows.append(
                    Row(
                        sequence: select.integer(0),
                        text: select.bytes(1).map { Data($0) } ?? Data(),
                        body: withBodies ? select.bytes(2).map { Data($0) } : nil))
            }
            return rows
        }
        var entries: [OutboxEntry] = []
        for row in rows {
            do {
                var entry = try JSONReader().decode(OutboxEntry.self, from: row.text)
                entry.sequence = row.sequence
                if let body = row.body { entry.body = body }
                entries.append(withBodies ? entry : entry.withoutBody)
            } catch {
                throw failure("an entry cannot be read", error)
            }
        }
        return entries
    }

    private struct Row: Sendable {
        var sequence: Int64
        var text: Data
        var body: Data?
    }

    /// Claims the lease of an entry, in one transaction.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func claim(
        _ id: UUID, lease: OutboxLease
    ) async throws(RequestError) -> OutboxClaim {
        try await perform { (connection) throws(SQLiteFailure) in
            try OutboxTable(connection).claim(id, lease: lease)
        }
    }

    /// Releases a lease.
    ///
    /// - Throws: ``RequestError/Code/storeFailed``.
    public func release(_ id: UUID, by owner: UUID) async throws(RequestError) {
        try await perform { (connection) throws(SQLiteFailure) in
            try OutboxTable(connection).release(id, by: owner)
        }
    }

    private func encoded(_ entry: OutboxEntry) throws(RequestError) -> String {
        do {
            // The body has a column of its own.
            return String(
                decoding: try JSONEncoder().encode(entry.withoutBody), as: UTF8.self)
        } catch {
            throw failure("the entry cannot be written", error)
        }
    }

    private func failure(_ what: String, _ error: any Error) -> RequestError {
        let foreign = (error as? SQLiteFailure).flatMap { $0.isForeign ? $0.advice : nil }
        return RequestError(
            .storeFailed, stage: .cache,
            "The outbox at \(path) failed: \(what). "
                + (foreign
                    ?? "Repair the file or move it away; the requests in it are not delivered."),
            underlying: error)
    }

    private func perform<T: Sendable>(
        _ work: (SQLiteConnection) throws(SQLiteFailure) -> T
    ) async throws(RequestError) -> T {
        do throws(SQLiteFailure) {
            return try await database.perform(work)
        } catch {
            throw failure(error.message, error)
        }
    }
}
