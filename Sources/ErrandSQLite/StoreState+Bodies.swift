import ErrandCore
import ErrandSystem

/// Bodies that are read and written in parts.
extension StoreState {
    /// Whether bodies can be stored in parts: not while the file cannot be opened.
    mutating func storesParts() throws(SQLiteFailure) -> Bool {
        try withDatabase { _, _ in
            true
        } orInMemory: { _ in
            false
        }
    }

    /// Writes a part of an unfinished body.
    mutating func write(
        part: Int, of body: BodyParts, bytes: Data, now: Int64
    ) throws(SQLiteFailure) {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            let cost = RowCost(bytes: bytes.count + 64)
            try state.write(cost, entry: nil, body: body.id, to: database, now: now) {
                (database) throws(SQLiteFailure) in
                guard try database.write(part: part, of: body, bytes: bytes, now: now) else {
                    throw .lostBody
                }
            }
            state.maintain(database, now: now)
        } orInMemory: { (state) throws(SQLiteFailure) in
            throw state.unavailability?.failure ?? .lostBody
        }
    }

    /// Writes an entry whose parts are complete.
    mutating func finish(
        _ entry: StoredResponse, body: BodyParts, for key: CacheKey, now: Int64
    ) throws(SQLiteFailure) {
        let id = EntryRow.id(of: key)
        try withDatabase { (state, database) throws(SQLiteFailure) in
            state.memoryCache.remove(id)
            var row = entry
            row.body = Data()
            try state.write(
                RowCost(row, key: key), entry: id, body: body.id, to: database, now: now
            ) { (database) throws(SQLiteFailure) in
                guard try database.finish(body) else { throw .lostBody }
                try database.store(row, body: body, for: key, id: id, accessed: now)
            }
            state.pendingAccessTimes[id] = nil
            state.maintain(database, now: now)
        } orInMemory: { (state) throws(SQLiteFailure) in
            throw state.unavailability?.failure ?? .lostBody
        }
    }

    /// Marks an unfinished body for removal.
    mutating func abandon(_ body: BodyParts) throws(SQLiteFailure) {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            try state.removeInTransaction(from: database) { (database) throws(SQLiteFailure) in
                try database.abandon(body.id)
            }
        } orInMemory: { _ in
        }
    }

    /// Reads a part.
    mutating func read(
        part: Int, of body: BodyParts, entry id: Int64
    ) throws(SQLiteFailure) -> OpenDatabase.PartReading {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            let reading = try database.read(part: part, of: body)
            switch reading {
            case .bytes: break
            case .damaged, .missing:
                // Does nothing if the entry was removed or replaced.
                state.hasRoomForBatch(in: database)
                try database.delete(id: id, bodyID: body.id)
            }
            return reading
        } orInMemory: { _ in
            .missing
        }
    }

    /// Reads an entry with all parts of its body, in one transaction, so that another process
    /// cannot replace it meanwhile.
    mutating func readWhole(
        _ key: CacheKey, id: Int64, from database: OpenDatabase
    ) throws(SQLiteFailure) -> Reading {
        let reading = try database.snapshot { () throws(SQLiteFailure) -> Reading in
            switch try database.entry(for: key, id: id) {
            case .parts(var entry, let bodyID, let count, _):
                guard let body = try database.body(id: bodyID), body.count == count, body.isValid
                else { return .damaged }
                entry.body.reserveCapacity(min(count, 64 << 20))
                for part in 0..<body.parts {
                    guard case .bytes(let bytes) = try database.read(part: part, of: body) else {
                        return .damaged
                    }
                    entry.body.append(bytes)
                }
                return .entry(entry)
            case .entry(let entry, _): return .entry(entry)
            case .damaged: return .damaged
            case .otherKey, nil: return .none
            }
        }
        if case .damaged = reading { return try removeDamaged(id, from: database) }
        return reading
    }
}
