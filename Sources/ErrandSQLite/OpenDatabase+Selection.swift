import ErrandCore
import ErrandSystem

/// Lists of entries.
extension OpenDatabase {
    private static let infoColumns = "id, size, stored_at, tag, key, url, identity, expires_at"

    private static func info(_ statement: SQLiteStatement) -> StoredEntryInfo {
        StoredEntryInfo(
            key: CacheKey(canonical: statement.text(4) ?? ""), url: statement.text(5) ?? "",
            storedAt: Date(timeIntervalSinceReferenceDate: statement.double(2)),
            size: statement.size(1), tag: Int(statement.integer(3)),
            identity: statement.text(6),
            expiresAt: statement.isNull(7)
                ? nil : Date(timeIntervalSinceReferenceDate: statement.double(7)))
    }

    /// Up to `limit` entries with greater row numbers than `id`, ordered by row number.
    func list(after id: Int64, limit: Int) throws(SQLiteFailure) -> [(Int64, StoredEntryInfo)] {
        let statement = try statement(
            "SELECT \(Self.infoColumns) FROM entries WHERE id > ? ORDER BY id LIMIT ?")
        defer { statement.reset() }
        statement.bind(id, at: 1)
        statement.bind(Int64(limit), at: 2)
        var result: [(Int64, StoredEntryInfo)] = []
        while try statement.step() {
            result.append((statement.integer(0), Self.info(statement)))
        }
        return result
    }

    /// The metadata of a row; `nil` if there is none.
    func info(id: Int64) throws(SQLiteFailure) -> StoredEntryInfo? {
        let statement = try statement("SELECT \(Self.infoColumns) FROM entries WHERE id = ?")
        defer { statement.reset() }
        statement.bind(id, at: 1)
        return try statement.step() ? Self.info(statement) : nil
    }

    /// The row numbers of the entries that may belong to a selection, found with an index.
    ///
    /// Rows of version 1 have no day; the same index finds them.
    func candidates(_ selection: StoredEntryInfo.Selection) throws(SQLiteFailure) -> [Int64] {
        if let keys = selection.keys { return keys.map(EntryRow.id(of:)) }
        var result: [Int64] = []
        for query in SelectionQuery.queries(for: selection) {
            let statement = try statement("SELECT id FROM entries WHERE \(query.condition)")
            defer {
                statement.reset()
                statement.clearBindings()
            }
            for (index, value) in query.values.enumerated() {
                value.bind(to: statement, at: Int32(index + 1))
            }
            while try statement.step() { result.append(statement.integer(0)) }
        }
        return result
    }

    /// Access times and sizes of up to `count` entries, chosen at random.
    ///
    /// Row numbers are hashes, so consecutive rows after a random number are a random sample.
    func sample(_ count: Int) throws(SQLiteFailure) -> [SampledEntry] {
        let statement = try statement(
            """
            SELECT id, accessed, size, body_id FROM entries
            WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3
            """)
        defer { statement.reset() }
        let start = Int64.random(in: (.min + 1) ... .max)
        var result: [SampledEntry] = []
        for range in [(start, Int64.max), (Int64.min, start - 1)] where result.count < count {
            statement.bind(range.0, at: 1)
            statement.bind(range.1, at: 2)
            statement.bind(Int64(count - result.count), at: 3)
            while try statement.step() {
                result.append(
                    SampledEntry(
                        id: statement.integer(0), accessed: statement.integer(1),
                        size: statement.size(2),
                        bodyID: statement.isNull(3) ? nil : statement.integer(3)))
            }
            statement.reset()
        }
        return result
    }

    /// Row numbers and sizes of up to `limit` entries that expired before a day.
    func expired(before day: Int64, limit: Int) throws(SQLiteFailure) -> [SampledEntry] {
        let statement = try statement(
            "SELECT id, size, body_id FROM entries WHERE expires_day < ? LIMIT ?")
        defer { statement.reset() }
        statement.bind(day, at: 1)
        statement.bind(Int64(limit), at: 2)
        var result: [SampledEntry] = []
        while try statement.step() {
            result.append(
                SampledEntry(
                    id: statement.integer(0), accessed: 0, size: statement.size(1),
                    bodyID: statement.isNull(2) ? nil : statement.integer(2)))
        }
        return result
    }

    /// The number of entries, which triggers count; a damaged number is counted again.
    func entryCount() throws(SQLiteFailure) -> Int {
        let count = try statement(
            "SELECT entries FROM totals WHERE id = 1 AND typeof(entries) = 'integer'"
        ).readInteger(orWithoutRow: -1)
        if (0...Int64(UInt32.max)).contains(count) { return Int(count) }
        try statement(
            "INSERT OR REPLACE INTO totals VALUES (1, (SELECT count(*) FROM entries))"
        ).run()
        return Int(try statement("SELECT count(*) FROM entries").readInteger())
    }

    /// Whether a row exists.
    func contains(id: Int64) throws(SQLiteFailure) -> Bool {
        let statement = try statement("SELECT 1 FROM entries WHERE id = ?")
        statement.bind(id, at: 1)
        return try statement.readInteger() == 1
    }

    /// Moves up to `pages` free pages to the end of the file and removes them.
    func vacuum(pages: Int) throws(SQLiteFailure) {
        try connection.execute("PRAGMA incremental_vacuum(\(pages))")
    }
}

/// An entry that may be removed to make room.
struct SampledEntry {
    var id: Int64
    var accessed: Int64
    var size: Int
    /// The body in parts, if there is one; then the row itself is small.
    var bodyID: Int64?

    /// The bytes that the removal of the row appends to the log.
    var removalCost: Int { RowCost.ofRemoval(size: bodyID == nil ? size : 0) }
}

/// A condition on columns that have an index.
struct SelectionQuery {
    /// A bound value.
    enum Value {
        case integer(Int64)
        case real(Double)
        case text(String)
        case bytes([UInt8])

        func bind(to statement: SQLiteStatement, at index: Int32) {
            switch self {
            case .integer(let value): statement.bind(value, at: index)
            case .real(let value): statement.bind(value, at: index)
            case .text(let value): statement.bind(value, at: index)
            case .bytes(let value): statement.bind(text: value, at: index)
            }
        }
    }

    var condition: String
    var values: [Value]

    /// The queries whose results together are the entries of the selection.
    static func queries(for selection: StoredEntryInfo.Selection) -> [SelectionQuery] {
        var terms = ["1"]
        var values: [Value] = []
        if let prefix = selection.urlPrefix, !prefix.isEmpty {
            // The texts with this prefix, in the order of their UTF-8 bytes. 0xff does not occur.
            var end = Array(prefix.utf8)
            end[end.count - 1] += 1
            terms += ["url >= ?", "url < ?"]
            values += [.text(prefix), .bytes(end)]
        }
        if let tag = selection.tag {
            // The index has no entries without a tag; SQLite uses it only with this term.
            terms.append(tag == 0 ? "tag = ?" : "tag = ? AND tag != 0")
            values.append(.integer(Int64(tag)))
        }
        switch selection.identity {
        case nil: break
        case .some(.none): terms.append("identity IS NULL")
        case .user(let user):
            terms.append("identity = ?")
            values.append(.text(user))
        }
        if let time = selection.expiredAt {
            terms += ["expires_day <= ?", "expires_at <= ?"]
            values += [
                .integer(EntryRow.day(of: time)), .real(time.timeIntervalSinceReferenceDate),
            ]
        }
        guard let time = selection.storedBefore else {
            return [SelectionQuery(condition: terms.joined(separator: " AND "), values: values)]
        }
        let seconds = Value.real(time.timeIntervalSinceReferenceDate)
        return [
            (["stored_day <= ?", "stored_at < ?"], [.integer(EntryRow.day(of: time)), seconds]),
            (["stored_day IS NULL", "stored_at < ?"], [seconds]),
        ].map { (more: [String], moreValues: [Value]) in
            SelectionQuery(
                condition: (terms + more).joined(separator: " AND "), values: values + moreValues)
        }
    }
}
