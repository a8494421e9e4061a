import ErrandCore
import ErrandSystem

/// A body that is stored in parts.
struct BodyParts: Sendable, Equatable {
    /// At most 2²⁴ parts for each body; both numbers form the row number of a part.
    private static let numberBits: Int64 = 24

    let id: Int64
    /// The number of bytes.
    let count: Int
    /// The number of bytes of each part but the last.
    let partSize: Int

    /// A random number for a new body.
    static func newID() -> Int64 { Int64.random(in: 1..<(1 << 38)) }

    /// The number of parts; also an empty body has one.
    var parts: Int { max(1, count / partSize + (count % partSize == 0 ? 0 : 1)) }

    /// Whether its parts can be numbered.
    var isValid: Bool { count >= 0 && partSize > 0 && parts <= 1 << Self.numberBits }

    /// The bytes of a part.
    func range(of part: Int) -> Range<Int> {
        part * partSize..<part * partSize + min(count - part * partSize, partSize)
    }

    static func firstRow(of id: Int64) -> Int64 { id << numberBits }
    static func lastRow(of id: Int64) -> Int64 { firstRow(of: id) | (1 << numberBits - 1) }

    func row(of part: Int) -> Int64 { Self.firstRow(of: id) | Int64(part) }

    /// The checksum of a part, which also depends on its row.
    static func checksum(row: Int64, _ bytes: UnsafeRawBufferPointer) -> Int64 {
        var sum = Checksum()
        sum.combine(UInt64(bitPattern: row))
        sum.combine(bytes)
        return sum.value
    }
}

/// Bodies in parts: the table `bodies` has a row for each, `parts` has the bytes.
///
/// `touched` is NULL for the body of an entry. For an unfinished body it is the time of the last
/// part, in milliseconds since 1970, and for a body without an entry it is 0.
extension OpenDatabase {
    /// Writes a part of an unfinished body; the first part creates the body.
    ///
    /// - Returns: False if the body was removed meanwhile.
    func write(
        part: Int, of body: BodyParts, bytes: Data, now: Int64
    ) throws(SQLiteFailure) -> Bool {
        if part == 0 {
            let insert = try statement(
                "INSERT INTO bodies (id, size, part_size, touched) VALUES (?, ?, ?, ?)")
            insert.bind(body.id, at: 1)
            insert.bind(Int64(body.count), at: 2)
            insert.bind(Int64(body.partSize), at: 3)
            insert.bind(max(now, 1), at: 4)
            try insert.run()
        } else {
            let touch = try statement("UPDATE bodies SET touched = ? WHERE id = ? AND touched > 0")
            touch.bind(max(now, 1), at: 1)
            touch.bind(body.id, at: 2)
            guard try touch.runCountingChanges() == 1 else { return false }
        }
        let row = body.row(of: part)
        let insert = try statement("INSERT INTO parts (id, checksum, bytes) VALUES (?, ?, ?)")
        insert.bind(row, at: 1)
        insert.bind(bytes.withUnsafeBytes { BodyParts.checksum(row: row, $0) }, at: 2)
        try insert.run(binding: bytes, at: 3)
        return true
    }

    /// Marks a body as the body of an entry.
    ///
    /// - Returns: False if the body was removed meanwhile.
    func finish(_ body: BodyParts) throws(SQLiteFailure) -> Bool {
        let finish = try statement("UPDATE bodies SET touched = NULL WHERE id = ? AND touched > 0")
        finish.bind(body.id, at: 1)
        return try finish.runCountingChanges() == 1
    }

    /// Marks an unfinished body for removal.
    func abandon(_ id: Int64) throws(SQLiteFailure) {
        let abandon = try statement("UPDATE bodies SET touched = 0 WHERE id = ? AND touched > 0")
        abandon.bind(id, at: 1)
        try abandon.run()
    }

    /// The body of an entry; `nil` if it was removed.
    func body(id: Int64) throws(SQLiteFailure) -> BodyParts? {
        let select = try statement("SELECT size, part_size FROM bodies WHERE id = ?")
        defer { select.reset() }
        select.bind(id, at: 1)
        guard try select.step() else { return nil }
        return BodyParts(
            id: id, count: select.size(0), partSize: select.size(1))
    }

    /// The result of reading a part.
    enum PartReading: Sendable {
        case bytes(Data)
        case missing
        case damaged
    }

    /// Reads a part.
    func read(part: Int, of body: BodyParts) throws(SQLiteFailure) -> PartReading {
        let select = try statement("SELECT checksum, bytes FROM parts WHERE id = ?")
        defer { select.reset() }
        let row = body.row(of: part)
        select.bind(row, at: 1)
        guard try select.step() else { return .missing }
        guard let bytes = select.bytes(1), bytes.count == body.range(of: part).count,
            BodyParts.checksum(row: row, bytes) == select.integer(0)
        else { return .damaged }
        return .bytes(Data(bytes: bytes))
    }

    /// Removes an entry if it still has this body.
    func delete(id: Int64, bodyID: Int64) throws(SQLiteFailure) {
        let delete = try statement("DELETE FROM entries WHERE id = ? AND body_id = ?")
        delete.bind(id, at: 1)
        delete.bind(bodyID, at: 2)
        try delete.run()
    }

    /// Up to `limit` bodies without an entry: abandoned ones, and those whose writer has not
    /// written since `time` or, after a change of the clock, writes in the future.
    func unownedBodies(
        before time: Int64, after future: Int64, limit: Int
    ) throws(SQLiteFailure) -> [Int64] {
        let select = try statement(
            """
            SELECT id FROM bodies WHERE touched < ?1 OR touched > ?2 ORDER BY touched LIMIT ?3
            """)
        defer { select.reset() }
        select.bind(time, at: 1)
        select.bind(future, at: 2)
        select.bind(Int64(limit), at: 3)
        var result: [Int64] = []
        while try select.step() { result.append(select.integer(0)) }
        return result
    }

    /// Whether removed entries have left parts.
    func hasAbandonedBodies() throws(SQLiteFailure) -> Bool {
        try statement("SELECT 1 FROM bodies WHERE touched = 0 LIMIT 1").readInteger() == 1
    }

    /// Removes up to `limit` parts of a body without an entry, and at the end the body.
    ///
    /// - Returns: The number of parts.
    func deleteParts(of id: Int64, limit: Int) throws(SQLiteFailure) -> Int {
        // An unfinished body that is removed must not get further parts.
        let mark = try statement("UPDATE bodies SET touched = 0 WHERE id = ? AND touched != 0")
        mark.bind(id, at: 1)
        try mark.run()
        let delete = try statement(
            """
            DELETE FROM parts WHERE id IN
            (SELECT id FROM parts WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3)
            """)
        delete.bind(BodyParts.firstRow(of: id), at: 1)
        delete.bind(BodyParts.lastRow(of: id), at: 2)
        delete.bind(Int64(limit), at: 3)
        let count = try delete.runCountingChanges()
        guard count < limit else { return count }
        let remove = try statement("DELETE FROM bodies WHERE id = ?")
        remove.bind(id, at: 1)
        try remove.run()
        return count
    }
}
