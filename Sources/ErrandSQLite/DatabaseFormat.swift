/// The marks of the database files of one kind of store, and the changes that create and migrate their tables.
///
/// Files of a newer version and of other applications are refused before anything is written.
package protocol DatabaseFormat: Sendable {
    /// The store in errors, for example "download queue".
    var store: String { get }
    /// The `application_id` of the files, four letters.
    var applicationID: Int64 { get }
    /// The range of the `user_version` of files that are read.
    var versions: ClosedRange<Int64> { get }

    /// Creates the tables of the first version, or changes those of the version before and keeps all rows.
    func migrate(_ connection: SQLiteConnection, to version: Int64) throws(SQLiteFailure)
}

extension DatabaseFormat {
    /// Refuses a file; returns the versions that it lacks.
    @discardableResult
    func check(_ connection: SQLiteConnection) throws(SQLiteFailure) -> Range<Int64> {
        // Read first: another process commits its tables together with the numbers.
        let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
        let id = try connection.integer("PRAGMA application_id")
        let found = try connection.integer("PRAGMA user_version")
        let end = versions.upperBound + 1
        if id == applicationID, versions.contains(found) { return found + 1..<end }
        if id == 0, found == 0, tables == 0 { return versions.lowerBound..<end }
        // The last connection to a file copies its log into it, unless the file is not to be changed.
        connection.keepLogAtClose()
        throw id == applicationID ? .newerSchema(found, upTo: versions.upperBound) : .foreign(store)
    }

    /// Creates the tables, or migrates those of an older version, in one transaction.
    func prepare(_ connection: SQLiteConnection) throws(SQLiteFailure) {
        guard try !check(connection).isEmpty else { return }
        try connection.transaction { () throws(SQLiteFailure) in
            // Another process may have created or migrated the tables since the first check.
            for version in try check(connection) { try migrate(connection, to: version) }
            try connection.execute(
                "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(versions.upperBound);"
            )
        }
    }
}
