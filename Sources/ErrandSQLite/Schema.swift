import CSQLite

/// The tables of a response store, and their migration.
///
/// Version 1 (release 0.1.0) had the table `entries` without the columns of version 2. The article
/// of this module documents version 2.
enum Schema {
    /// "ERRD": marks a file as an Errand response store, also for `file(1)`.
    static let applicationID: Int64 = 0x4552_5244
    /// Increases with every change of the tables.
    static let version: Int64 = 2

    /// The number of pages of a file without entries, which do not count as used.
    static let pages: Int64 = 12

    /// The state of a file.
    private enum State {
        case current, older, empty
    }

    /// Refuses the file of a newer version or of another application, before anything is written.
    ///
    /// A file is recognized by its `application_id` and the table `entries`. A download queue has the same
    /// `application_id` and no such table.
    static func check(_ connection: SQLiteConnection) throws(SQLiteFailure) {
        // Read first: another process commits its tables together with the numbers.
        let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
        let id = try connection.integer("PRAGMA application_id")
        let found = try connection.integer("PRAGMA user_version")
        if id == applicationID, found > version {
            // The last connection to a file copies its log into it, unless it is not to be changed.
            connection.keepLogAtClose()
            throw .newerSchema(found, upTo: version)
        }
        let entries = try connection.integer(
            "SELECT count(*) FROM sqlite_schema WHERE name = 'entries'")
        let isOwn =
            tables == 0
            ? id == applicationID || id == 0 && found == 0 : id == applicationID && entries == 1
        guard isOwn else {
            connection.keepLogAtClose()
            throw .foreign("response store")
        }
    }

    /// Creates the tables if there are none, and migrates those of an older version.
    static func prepare(_ connection: SQLiteConnection) throws(SQLiteFailure) {
        if try state(of: connection) == .current { return }
        try connection.transaction { () throws(SQLiteFailure) in
            // Another process may have created or migrated the tables since the first check.
            switch try state(of: connection) {
            case .current: return
            case .older: try migrate(connection)
            case .empty:
                guard try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else {
                    throw .foreign("response store")
                }
                try create(in: connection)
            }
        }
    }

    private static func state(of connection: SQLiteConnection) throws(SQLiteFailure) -> State {
        let id = try connection.integer("PRAGMA application_id")
        let found = try connection.integer("PRAGMA user_version")
        if id == applicationID, found == version { return .current }
        if id == applicationID, found == 1 { return .older }
        // Another process may have migrated the file since `check`.
        if id == applicationID, found > version { throw .newerSchema(found, upTo: version) }
        if id == 0 && found == 0 { return .empty }
        guard id == applicationID else { throw .foreign("response store") }
        throw .damagedSchema("it has user_version \(found)")
    }

    /// Creates the tables; call it in a transaction.
    static func create(in connection: SQLiteConnection) throws(SQLiteFailure) {
        // The columns of selections come before the body, so that reading them does not read it.
        try connection.execute(
            """
            CREATE TABLE entries (
                id INTEGER PRIMARY KEY, size INTEGER NOT NULL, accessed INTEGER NOT NULL,
                stored_at REAL NOT NULL, cache_version INTEGER NOT NULL,
                status INTEGER NOT NULL, tag INTEGER NOT NULL, checksum INTEGER NOT NULL,
                key TEXT NOT NULL, url TEXT NOT NULL, app_version TEXT, identity TEXT,
                expires_at REAL, stored_day INTEGER, expires_day INTEGER, body_id INTEGER,
                headers BLOB NOT NULL, body BLOB NOT NULL
            );
            """)
        try addIndexes(to: connection)
    }

    /// Adds the columns and tables of version 2; every entry is kept.
    ///
    /// New columns are NULL in existing rows. The checksum of such a row is still valid.
    private static func migrate(_ connection: SQLiteConnection) throws(SQLiteFailure) {
        do throws(SQLiteFailure) {
            try connection.execute(
                """
                ALTER TABLE entries ADD COLUMN expires_at REAL;
                ALTER TABLE entries ADD COLUMN stored_day INTEGER;
                ALTER TABLE entries ADD COLUMN expires_day INTEGER;
                ALTER TABLE entries ADD COLUMN body_id INTEGER;
                """)
            try addIndexes(to: connection)
        } catch {
            guard error.code == SQLITE_ERROR else { throw error }
            throw .damagedSchema("its table does not have the columns of version 1")
        }
    }

    private static func addIndexes(to connection: SQLiteConnection) throws(SQLiteFailure) {
        try connection.execute(
            """
            CREATE TABLE bodies (
                id INTEGER PRIMARY KEY, size INTEGER NOT NULL, part_size INTEGER NOT NULL,
                touched INTEGER
            );
            CREATE TABLE parts (
                id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, bytes BLOB NOT NULL
            );
            CREATE TABLE totals (id INTEGER PRIMARY KEY, entries INTEGER NOT NULL);
            INSERT INTO totals VALUES (1, (SELECT count(*) FROM entries));
            CREATE INDEX entries_url ON entries (url);
            CREATE INDEX entries_stored ON entries (stored_day);
            CREATE INDEX entries_expires ON entries (expires_day) WHERE expires_day IS NOT NULL;
            CREATE INDEX entries_tag ON entries (tag) WHERE tag != 0;
            CREATE INDEX entries_identity ON entries (identity) WHERE identity IS NOT NULL;
            CREATE INDEX bodies_unowned ON bodies (touched) WHERE touched IS NOT NULL;
            CREATE TRIGGER entry_inserted AFTER INSERT ON entries BEGIN
                UPDATE totals SET entries = entries + 1 WHERE id = 1;
            END;
            CREATE TRIGGER entry_deleted AFTER DELETE ON entries BEGIN
                UPDATE totals SET entries = entries - 1 WHERE id = 1;
            END;
            CREATE TRIGGER body_deleted AFTER DELETE ON entries
            WHEN old.body_id IS NOT NULL BEGIN
                UPDATE bodies SET touched = 0 WHERE id = old.body_id;
            END;
            CREATE TRIGGER body_replaced AFTER UPDATE OF body_id ON entries
            WHEN old.body_id IS NOT NULL AND old.body_id IS NOT new.body_id BEGIN
                UPDATE bodies SET touched = 0 WHERE id = old.body_id;
            END;
            PRAGMA application_id = \(applicationID);
            PRAGMA user_version = \(version);
            """)
    }

    /// Drops the tables and creates them with the columns in their best order; call it in a
    /// transaction.
    static func recreate(in connection: SQLiteConnection) throws(SQLiteFailure) {
        try connection.execute(
            """
            DROP TABLE entries;
            DROP TABLE bodies;
            DROP TABLE parts;
            DROP TABLE totals;
            """)
        try create(in: connection)
    }
}
