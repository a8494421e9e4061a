public import ErrandCore
public import ErrandSystem

extension SQLiteResponseStore {
    /// The random bytes of the file, which its first user makes; while it cannot be opened, those of this process.
    public func digestKey() async throws(RequestError) -> Data {
        try await perform { (state) throws(SQLiteFailure) in
            try state.withDatabase { (_, database) throws(SQLiteFailure) in
                try database.digestKey()
            } orInMemory: { _ in
                nil
            }
        } ?? DigestKey.ofProcess
    }
}

extension OpenDatabase {
    /// The key of the file; the first of several processes makes it.
    ///
    /// Its table is no part of ``Schema``: a file of an earlier version gets it, too, and removing all entries keeps it.
    func digestKey() throws(SQLiteFailure) -> Data {
        if let key = try? storedDigestKey() { return key }
        try write { () throws(SQLiteFailure) in
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS digest_key (
                    id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL
                );
                """)
            // A damaged key is replaced: the entries with credentials are then not found any more.
            try connection.execute(
                "DELETE FROM digest_key WHERE typeof(bytes) != 'blob' OR length(bytes) < \(DigestKey.count)"
            )
            try connection.prepare("INSERT OR IGNORE INTO digest_key VALUES (1, ?)").run(
                binding: DigestKey.random(), at: 1)
        }
        return try storedDigestKey() ?? DigestKey.ofProcess
    }

    /// The key of the file; `nil` if it is missing or too short.
    private func storedDigestKey() throws(SQLiteFailure) -> Data? {
        let select = try connection.prepare("SELECT bytes FROM digest_key WHERE id = 1")
        defer { select.reset() }
        guard try select.step(), let bytes = select.bytes(0) else { return nil }
        return bytes.count >= DigestKey.count ? Data(bytes) : nil
    }
}
