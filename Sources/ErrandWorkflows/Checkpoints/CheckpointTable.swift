import Errand
import ErrandSQLite
import ErrandSystem

/// The tables of a checkpoint store: one row for each chain, for each step of its definition, and for each output.
///
/// All methods run in a transaction, so that a reader sees a whole checkpoint, and a crash leaves the previous one.
struct CheckpointTable {
    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// The checkpoint of a chain; `nil` if there is none.
    func checkpoint(of chain: String) throws(SQLiteFailure) -> Checkpoint? {
        try connection.transaction { () throws(SQLiteFailure) in
            guard let revision = try revision(of: chain) else { return nil }
            // A row that was changed by other means; the chain then refuses its definition.
            var row = Checkpoint(
                chain: chain, revision: UUID(uuidString: revision) ?? UUID(), definition: [],
                outputs: [])
            let steps = try connection.prepare(
                "SELECT definition FROM steps WHERE chain = ? ORDER BY step")
            steps.bind(chain, at: 1)
            while try steps.step() { row.definition.append(steps.text(0) ?? "") }
            steps.reset()
            let outputs = try connection.prepare(
                "SELECT output FROM outputs WHERE chain = ? ORDER BY step")
            outputs.bind(chain, at: 1)
            while try outputs.step() { row.outputs.append(outputs.bytes(0).map { Data($0) }) }
            outputs.reset()
            return row
        }
    }

    private func revision(of chain: String) throws(SQLiteFailure) -> String? {
        let select = try connection.prepare("SELECT revision FROM checkpoints WHERE chain = ?")
        select.bind(chain, at: 1)
        defer { select.reset() }
        return try select.step() ? select.text(0) ?? "" : nil
    }

    /// Stores a checkpoint in place of the previous one; returns `false` if the table has another one.
    ///
    /// Definitions and outputs that have not changed are not written again.
    func save(
        _ row: Checkpoint, replacing previous: UUID?
    ) throws(SQLiteFailure) -> Bool {
        try connection.transaction { () throws(SQLiteFailure) in
            guard try revision(of: row.chain) == previous?.uuidString else { return false }
            let replace = try connection.prepare(
                "REPLACE INTO checkpoints (chain, revision) VALUES (?, ?)")
            replace.bind(row.chain, at: 1)
            replace.bind(row.revision.uuidString, at: 2)
            try replace.run()
            try write(
                row.definition.map { Data($0.utf8) }, of: row.chain, to: "definition", in: "steps",
                as: "TEXT")
            try write(row.outputs, of: row.chain, to: "output", in: "outputs", as: "BLOB")
            return true
        }
    }

    private func write(
        _ values: [Data?], of chain: String, to column: String, in table: String, as type: String
    ) throws(SQLiteFailure) {
        let write = try connection.prepare(
            """
            INSERT INTO \(table) (chain, step, \(column)) VALUES (?, ?, CAST(? AS \(type)))
            ON CONFLICT (chain, step) DO UPDATE SET \(column) = excluded.\(column)
            WHERE \(column) IS NOT excluded.\(column)
            """)
        for (step, value) in values.enumerated() {
            write.bind(chain, at: 1)
            write.bind(Int64(step), at: 2)
            try write.run(binding: value, at: 3)
        }
        let delete = try connection.prepare("DELETE FROM \(table) WHERE chain = ? AND step >= ?")
        delete.bind(chain, at: 1)
        delete.bind(Int64(values.count), at: 2)
        try delete.run()
    }

    /// Removes the checkpoint of a chain; does nothing if there is none.
    func remove(_ chain: String) throws(SQLiteFailure) {
        try connection.transaction { () throws(SQLiteFailure) in
            for table in ["checkpoints", "steps", "outputs"] {
                let delete = try connection.prepare("DELETE FROM \(table) WHERE chain = ?")
                delete.bind(chain, at: 1)
                try delete.run()
            }
        }
    }

    /// The names of all chains with a checkpoint, in the order of their bytes.
    func chains() throws(SQLiteFailure) -> [String] {
        let select = try connection.prepare("SELECT chain FROM checkpoints ORDER BY chain")
        defer { select.reset() }
        var names: [String] = []
        while try select.step() { names.append(select.text(0) ?? "") }
        return names
    }
}

/// The file of a checkpoint store.
struct CheckpointFormat: DatabaseFormat {
    let store = "checkpoint store"
    /// The letters "ERRC".
    let applicationID: Int64 = 0x4552_5243
    let versions: ClosedRange<Int64> = 1...1

    func migrate(_ connection: SQLiteConnection, to version: Int64) throws(SQLiteFailure) {
        try connection.execute(
            """
            CREATE TABLE checkpoints (
                chain TEXT NOT NULL PRIMARY KEY, revision TEXT NOT NULL
            );
            CREATE TABLE steps (
                chain TEXT NOT NULL, step INTEGER NOT NULL, definition TEXT NOT NULL,
                PRIMARY KEY (chain, step)
            );
            CREATE TABLE outputs (
                chain TEXT NOT NULL, step INTEGER NOT NULL, output BLOB,
                PRIMARY KEY (chain, step)
            );
            """)
    }
}
