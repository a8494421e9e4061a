import ErrandCaching
import Foundation
import HTTPTypes

/// Writes an entry to a database row, reads it, and detects damage with a checksum.
enum EntryRow {
    /// The row number of a key.
    ///
    /// Two keys may have the same number; the key's text in the row distinguishes them.
    static func id(of key: CacheKey) -> Int64 { Int64(bitPattern: key.hash64) }

    static let columns = """
        accessed, checksum, key, url, stored_at, cache_version, app_version, identity, tag, status, \
        headers, body
        """

    static let upsert = """
        INSERT INTO entries (id, size, \(columns)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)
        ON CONFLICT (id) DO UPDATE SET size = excluded.size, accessed = excluded.accessed,
        checksum = excluded.checksum, key = excluded.key, url = excluded.url,
        stored_at = excluded.stored_at, cache_version = excluded.cache_version,
        app_version = excluded.app_version, identity = excluded.identity, tag = excluded.tag,
        status = excluded.status, headers = excluded.headers, body = excluded.body
        """

    static func write(
        _ entry: StoredResponse, for key: CacheKey, id: Int64, accessed: Int64,
        with statement: SQLiteStatement
    ) throws(SQLiteFailure) {
        let headers = encode(entry.headers)
        statement.bind(id, at: 1)
        statement.bind(Int64(entry.size), at: 2)
        statement.bind(accessed, at: 3)
        statement.bind(key.canonical, at: 5)
        statement.bind(entry.url, at: 6)
        statement.bind(entry.storedAt.timeIntervalSinceReferenceDate, at: 7)
        statement.bind(Int64(entry.cacheVersion), at: 8)
        statement.bind(entry.appVersion, at: 9)
        statement.bind(entry.identity, at: 10)
        statement.bind(Int64(entry.tag), at: 11)
        statement.bind(Int64(entry.status), at: 12)
        let result = headers.withUnsafeBytes { headers in
            entry.body.withUnsafeBytes { body in
                let sum = checksum(of: entry, key: key, headers: headers, body: body)
                statement.bind(sum, at: 4)
                statement.bindUnowned(headers, at: 13)
                statement.bindUnowned(body, at: 14)
                defer { statement.clearBindings() }
                return Result { () throws(SQLiteFailure) in try statement.run() }
            }
        }
        try result.get()
    }

    /// The result of reading a row.
    enum Reading {
        case entry(StoredResponse, accessed: Int64)
        /// The row belongs to another key with the same row number.
        case otherKey
        case damaged
    }

    /// Reads the current row of a statement that selects ``columns``.
    static func read(for key: CacheKey, from statement: SQLiteStatement) -> Reading {
        guard let stored = statement.bytes(2) else { return .damaged }
        guard isEqual(stored, key.canonical) else { return .otherKey }
        // SQLite may move a column's bytes when it converts them to another type. Every column is
        // therefore read as bytes.
        guard let url = statement.text(3), let headers = statement.bytes(10),
            let body = statement.bytes(11), let fields = decode(headers)
        else { return .damaged }
        let entry = StoredResponse(
            status: Int(statement.integer(9)), headers: fields,
            body: Data(bytes: body),
            url: url, storedAt: Date(timeIntervalSinceReferenceDate: statement.double(4)),
            cacheVersion: Int(statement.integer(5)), appVersion: statement.text(6),
            identity: statement.text(7), tag: Int(statement.integer(8)))
        let sum = checksum(of: entry, key: key, headers: headers, body: body)
        guard sum == statement.integer(1) else { return .damaged }
        return .entry(entry, accessed: statement.integer(0))
    }

    private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ text: String) -> Bool {
        var text = text
        return text.withUTF8 { text in
            guard text.count == bytes.count else { return false }
            guard let one = text.baseAddress, let other = bytes.baseAddress else { return true }
            return memcmp(one, other, text.count) == 0
        }
    }

    private static func checksum(
        of entry: StoredResponse, key: CacheKey, headers: UnsafeRawBufferPointer,
        body: UnsafeRawBufferPointer
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
        return sum.value
    }

    /// Writes one `name:value` line for each field.
    ///
    /// `HTTPField` guarantees that a value contains no line break.
    private static func encode(_ headers: HTTPFields) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in headers {
            bytes.append(contentsOf: field.name.rawName.utf8)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: field.value.utf8)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer) -> HTTPFields? {
        var fields = HTTPFields()
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self)),
                // No stored response has more fields, and `HTTPFields` traps at 65,535.
                fields.count < 60_000
            else { return nil }
            let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }
}

extension Data {
    fileprivate init(bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else {
            self.init()
            return
        }
        self.init(bytes: start, count: bytes.count)
    }
}
