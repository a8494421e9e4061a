import CSQLite
import ErrandCore
import ErrandSystem
import HTTPTypes

/// Writes an entry to a database row, reads it, and detects damage with a checksum.
enum EntryRow {
    /// The row number of a key.
    ///
    /// Two keys may have the same number; the key's text in the row distinguishes them.
    static func id(of key: CacheKey) -> Int64 { Int64(bitPattern: key.hash64) }

    /// The maximum size of the fields of an entry, in bytes: 32 times the default limit of a response head.
    ///
    /// A larger entry is not written, and a larger row is damaged: it is not parsed.
    static let maximumHeaderBytes = 8 << 20

    static let columns = """
        accessed, checksum, key, url, stored_at, cache_version, app_version, identity, tag, status, \
        headers, body, expires_at, body_id, size
        """

    static let upsert = """
        INSERT INTO entries (id, size, accessed, checksum, key, url, stored_at, cache_version,
        app_version, identity, tag, status, headers, body, expires_at, body_id, stored_day,
        expires_day) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18)
        ON CONFLICT (id) DO UPDATE SET size = excluded.size, accessed = excluded.accessed,
        checksum = excluded.checksum, key = excluded.key, url = excluded.url,
        stored_at = excluded.stored_at, cache_version = excluded.cache_version,
        app_version = excluded.app_version, identity = excluded.identity, tag = excluded.tag,
        status = excluded.status, headers = excluded.headers, body = excluded.body,
        expires_at = excluded.expires_at, body_id = excluded.body_id,
        stored_day = excluded.stored_day, expires_day = excluded.expires_day
        """

    /// Replaces an entry that has the same values in all indexed columns.
    ///
    /// SQLite rewrites an index whenever its column is assigned, even with an equal value. This
    /// statement assigns none, so that a replacement costs no more than without indexes.
    static let update = """
        UPDATE entries SET size = ?2, accessed = ?3, checksum = ?4, stored_at = ?7,
        cache_version = ?8, app_version = ?9, status = ?12, headers = ?13, body = ?14,
        expires_at = ?15 WHERE id = ?1 AND key = ?5 AND url = ?6 AND identity IS ?10 AND tag = ?11
        AND body_id IS NULL AND stored_day IS ?17 AND expires_day IS ?18
        """

    /// The day of a time, in days since 1970; ages are indexed by day.
    static func day(of time: Date) -> Int64 {
        Int64(exactly: (time.timeIntervalSince1970 / 86_400).rounded(.down)) ?? .max
    }

    /// Writes an entry.
    ///
    /// - Parameters:
    ///   - body: The body in parts; `nil` if it is in the row.
    ///   - size: The size of headers and body.
    ///   - update: Tried first; `upsert` is run if it changes no row.
    static func write(
        _ entry: StoredResponse, bodyID: Int64?, size: Int, for key: CacheKey, id: Int64,
        accessed: Int64, update: SQLiteStatement, upsert: SQLiteStatement
    ) throws(SQLiteFailure) {
        var entry = entry
        if entry.expiresAt?.timeIntervalSinceReferenceDate.isNaN == true { entry.expiresAt = nil }
        var keyText = key.canonical
        var url = entry.url
        let headers = encode(entry.headers)
        guard headers.count <= maximumHeaderBytes else {
            throw SQLiteFailure(
                code: SQLITE_TOOBIG,
                message: "its header fields have \(headers.count) bytes, and at most "
                    + "\(maximumHeaderBytes) are stored")
        }
        let result = headers.withUnsafeBytes { headers in
            entry.body.withUnsafeBytes { body in
                keyText.withUTF8 { keyText in
                    url.withUTF8 { url in
                        let sum = checksum(
                            of: entry, key: key, headers: headers, body: body, bodyID: bodyID)
                        func run(_ statement: SQLiteStatement) throws(SQLiteFailure) -> Bool {
                            bind(entry, to: statement)
                            statement.bind(id, at: 1)
                            statement.bind(Int64(size), at: 2)
                            statement.bind(accessed, at: 3)
                            statement.bind(sum, at: 4)
                            statement.bindUnowned(text: keyText, at: 5)
                            statement.bindUnowned(text: url, at: 6)
                            statement.bindUnowned(headers, at: 13)
                            statement.bindUnowned(body, at: 14)
                            if statement === upsert { statement.bind(bodyID, at: 16) }
                            defer { statement.clearBindings() }
                            return try statement.runCountingChanges() > 0
                        }
                        return Result { () throws(SQLiteFailure) in
                            if bodyID == nil, try run(update) { return }
                            _ = try run(upsert)
                        }
                    }
                }
            }
        }
        try result.get()
    }

    private static func bind(_ entry: StoredResponse, to statement: SQLiteStatement) {
        statement.bind(entry.storedAt.timeIntervalSinceReferenceDate, at: 7)
        statement.bind(Int64(entry.cacheVersion), at: 8)
        statement.bind(entry.appVersion, at: 9)
        statement.bind(entry.identity, at: 10)
        statement.bind(Int64(entry.tag), at: 11)
        statement.bind(Int64(entry.status), at: 12)
        if let expiresAt = entry.expiresAt {
            statement.bind(expiresAt.timeIntervalSinceReferenceDate, at: 15)
            statement.bind(day(of: expiresAt), at: 18)
        }
        statement.bind(day(of: entry.storedAt), at: 17)
    }

    /// The result of reading a row.
    enum Reading {
        case entry(StoredResponse, accessed: Int64)
        /// The body is stored in parts.
        case parts(StoredResponse, bodyID: Int64, count: Int, accessed: Int64)
        /// The row belongs to another key with the same row number.
        case otherKey
        case damaged
    }

    /// Reads the current row of a statement that selects ``columns``.
    ///
    /// - Parameter names: The names of fields that were read before.
    static func read(
        for key: CacheKey, from statement: SQLiteStatement, _ names: inout FieldNames
    ) -> Reading {
        guard let stored = statement.bytes(2) else { return .damaged }
        guard isEqual(stored, key.canonical) else { return .otherKey }
        // SQLite may move a column's bytes when it converts them to another type. Every column is
        // therefore read as bytes.
        guard let url = statement.text(3), let headers = statement.bytes(10),
            let body = statement.bytes(11), headers.count <= maximumHeaderBytes,
            let fields = decode(headers, &names)
        else { return .damaged }
        let entry = StoredResponse(
            status: Int(statement.integer(9)), headers: fields,
            body: Data(bytes: body),
            url: url, storedAt: Date(timeIntervalSinceReferenceDate: statement.double(4)),
            cacheVersion: Int(statement.integer(5)), appVersion: statement.text(6),
            identity: statement.text(7), tag: Int(statement.integer(8)),
            expiresAt: statement.isNull(12)
                ? nil : Date(timeIntervalSinceReferenceDate: statement.double(12)))
        let bodyID = statement.isNull(13) ? nil : statement.integer(13)
        let sum = checksum(of: entry, key: key, headers: headers, body: body, bodyID: bodyID)
        guard sum == statement.integer(1) else { return .damaged }
        let accessed = statement.integer(0)
        guard let bodyID else { return .entry(entry, accessed: accessed) }
        // `bodies` has the count, too; damage in one of them is detected by comparison.
        let count = statement.size(14) - entry.size
        guard count >= 0, body.isEmpty else { return .damaged }
        return .parts(entry, bodyID: bodyID, count: count, accessed: accessed)
    }

    private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ text: String) -> Bool {
        var text = text
        return text.withUTF8 { text in
            guard text.count == bytes.count else { return false }
            guard let one = text.baseAddress, let other = bytes.baseAddress else { return true }
            return memcmp(one, other, text.count) == 0
        }
    }

    /// The values of version 2 are added only if they are set, so that the checksums of rows from
    /// version 1 remain valid.
    private static func checksum(
        of entry: StoredResponse, key: CacheKey, headers: UnsafeRawBufferPointer,
        body: UnsafeRawBufferPointer, bodyID: Int64?
    ) -> Int64 {
        var sum = Checksum()
        sum.combine(key.canonical)
        sum.combine(entry.url)
        sum.combine(entry.storedAt.timeIntervalSinceReferenceDate.bitPattern)
        sum.combine(entry.cacheVersion)
        sum.combine(entry.appVersion)
        sum.combine(entry.identity)
        sum.combine(entry.tag)
        sum.combine(entry.status)
        sum.combine(headers)
        sum.combine(body)
        if let expiresAt = entry.expiresAt {
            sum.combine(1)
            sum.combine(expiresAt.timeIntervalSinceReferenceDate.bitPattern)
        }
        if let bodyID {
            sum.combine(2)
            sum.combine(UInt64(bitPattern: bodyID))
        }
        return sum.value
    }

    /// Writes one `name:value` line for each field.
    ///
    /// `HTTPField` guarantees that a value contains no line break.
    private static func encode(_ headers: HTTPFields) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32 * headers.count)
        for field in headers {
            bytes.append(contentsOf: field.name.rawName.utf8)
            bytes.append(UInt8(ascii: ":"))
            // The bytes: a value is not always UTF-8.
            field.withUnsafeBytesOfValue { bytes.append(contentsOf: $0) }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    private static func decode(
        _ bytes: UnsafeRawBufferPointer, _ names: inout FieldNames
    ) -> HTTPFields? {
        var fields = HTTPFields()
        guard let base = bytes.baseAddress else { return fields }
        fields.reserveCapacity(8)
        var start = 0
        /// The first occurrence of a byte before an offset.
        func offset(of byte: UInt8, before end: Int) -> Int? {
            let found = memchr(base + start, Int32(byte), end - start)
            return found.map { base.distance(to: UnsafeRawPointer($0)) }
        }
        while start < bytes.count {
            guard let end = offset(of: UInt8(ascii: "\n"), before: bytes.count),
                let colon = offset(of: UInt8(ascii: ":"), before: end),
                let name = names.name(UnsafeRawBufferPointer(rebasing: bytes[start..<colon])),
                // No stored response has more fields, and `HTTPFields` traps at 65,535.
                fields.count < 60_000
            else { return nil }
            let value = UnsafeRawBufferPointer(rebasing: bytes[(colon + 1)..<end])
            fields.append(
                HTTPField(name: name, value: value.assumingMemoryBound(to: UInt8.self)))
            start = end + 1
        }
        return fields
    }
}

extension Data {
    init(bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else {
            self.init()
            return
        }
        self.init(bytes: start, count: bytes.count)
    }
}
