import ErrandCaching

extension StoreState {
    // MARK: - Writing

    /// Writes an entry, after what ``WritePlan`` requires.
    mutating func write(
        _ entry: StoredResponse, for key: CacheKey, now: Int64
    ) throws(SQLiteFailure) {
        let id = EntryRow.id(of: key)
        try withDatabase { (state, database) throws(SQLiteFailure) in
            state.memoryCache.remove(id)
            let cost = RowCost(entry, key: key)
            var plan = WritePlan(cost, limits: state.limits, checksFile: !state.isFileChecked)
            var checkpoints = 0
            while true {
                let step = try database.write { () throws(SQLiteFailure) in
                    let step = plan.next(
                        try database.measure(), gate: state.logGate, now: .now)
                    switch step {
                    case .write: try database.store(entry, for: key, id: id, accessed: now)
                    case .evict(let bytes) where state.pendingAccessTimes.isEmpty:
                        plan.evicted(count: try state.evict(bytes, from: database))
                    default: break
                    }
                    return step
                }
                switch step {
                case .write:
                    state.isFileChecked = true
                    state.pendingAccessTimes[id] = nil
                    state.cacheInMemory(entry, for: key, id: id, accessed: now)
                    state.bytesSinceCheckpoint += entry.size + 8192
                    return
                case .evict:
                    // Pending times are written first: the order of eviction depends on them.
                    state.writeBackAccesses()
                case .shrink:
                    try state.removeAllRows(of: database)
                    state.emptyLog(of: database)
                case .refuse: throw state.refusal(database)
                case .checkpoint:
                    // Other processes may fill the log again before this one can write.
                    checkpoints += 1
                    guard checkpoints < 64 else { throw .busyLog }
                    try state.makeRoom(in: database)
                }
            }
        } orInMemory: { (state) throws(SQLiteFailure) in
            try state.writeWithoutFile(entry, for: key, id: id, now: now)
        }
    }

    /// Removes about this many bytes of the entries that were not read for the longest time.
    ///
    /// It runs in the caller's transaction.
    ///
    /// With up to 256 entries the order is exact. With more, it samples 256 entries at random and
    /// removes up to a quarter of them, the oldest first. That is approximately LRU and needs no
    /// index, which would slow down every write.
    ///
    /// - Returns: The number of removed entries.
    private mutating func evict(
        _ bytes: Int, from database: OpenDatabase
    ) throws(SQLiteFailure) -> Int {
        var logBytes = limits.batchBytes
        var bytes = bytes
        var count = 0
        while bytes > 0 {
            let sample = try database.sample(256).sorted { $0.accessed < $1.accessed }
            if sample.isEmpty { break }
            for row in sample.prefix(max(1, sample.count / 4)) where bytes > 0 {
                let cost = RowCost.ofRemoval(size: row.size)
                // The first one may exceed the batch alone.
                guard cost <= logBytes || count == 0 else { return count }
                try database.delete(id: row.id)
                memoryCache.remove(row.id)
                count += 1
                bytes -= row.size + 64
                logBytes -= cost
                bytesSinceCheckpoint += cost
            }
        }
        return count
    }

    /// Writes the pending access times to the database.
    ///
    /// Errors are ignored, and the times are dropped while the log is blocked: they affect only
    /// the order of eviction.
    mutating func writeBackAccesses() {
        guard !pendingAccessTimes.isEmpty, let database else { return }
        var rest = pendingAccessTimes[...]
        pendingAccessTimes.removeAll()
        while !rest.isEmpty, hasRoomForBatch(in: database) {
            // Each time changes one page.
            let batch = rest.prefix(max(1, limits.batchBytes / RowCost.frameBytes))
            rest = rest.dropFirst(batch.count)
            try? database.write { () throws(SQLiteFailure) in
                // Another process may have used the room since.
                guard decision(in: database) == .extend else { return }
                for (id, time) in batch { try database.setAccessed(time, id: id) }
            }
        }
    }

    // MARK: - Removing

    /// Removes entries in one transaction.
    ///
    /// Removals are performed even while the log is blocked, because a removed response must not
    /// be used again.
    mutating func remove(_ keys: [CacheKey]) throws(SQLiteFailure) {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            for key in keys { state.memoryCache.remove(EntryRow.id(of: key)) }
            var isBlocked = false
            while try !database.write({ () throws(SQLiteFailure) in
                guard isBlocked || state.decision(in: database) != .checkpoint else { return false }
                for key in keys { try database.delete(key) }
                return true
            }) {
                switch state.checkpointEnded(try database.emptyLog(), database) {
                case .emptied: break
                case .tryAgain: throw .busyLog
                case .blocked: isBlocked = true
                }
            }
        } orInMemory: { state in
            for key in keys { state.removeWithoutFile(key) }
        }
    }

    mutating func removeAll() throws(SQLiteFailure) {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            try state.removeAllRows(of: database)
            // The bytes remain on the disk until the log is copied into the database.
            guard try state.checkpointEnded(database.emptyLog(), database) != .tryAgain else {
                throw .busyLog
            }
        } orInMemory: { state in
            state.removeAllWithoutFile()
        }
    }

    private mutating func removeAllRows(of database: OpenDatabase) throws(SQLiteFailure) {
        memoryCache.removeAll()
        pendingAccessTimes.removeAll()
        hasRoomForBatch(in: database)
        try database.deleteAllAndVacuum()
    }

    // MARK: - The log

    /// Empties the log before a write.
    ///
    /// - Throws: A busy error if the caller must try again after a short time.
    private mutating func makeRoom(in database: OpenDatabase) throws(SQLiteFailure) {
        let didEmpty = try database.emptyLog()
        switch checkpointEnded(didEmpty, database) {
        case .emptied: return
        case .tryAgain: throw .busyLog
        case .blocked: throw refusal(database)
        }
    }

    /// Empties the log if a batch of removals does not fit; returns whether it fits now.
    @discardableResult
    mutating func hasRoomForBatch(in database: OpenDatabase) -> Bool {
        switch decision(in: database) {
        case .extend: return true
        case .refuse: return false
        case .checkpoint: return emptyLog(of: database)
        }
    }

    /// Decides about a batch of removals or access times.
    private func decision(in database: OpenDatabase) -> LogGate.Decision {
        logGate.decide(log: database.logBytes, adding: limits.batchBytes, now: .now)
    }

    /// Tries to empty the log.
    @discardableResult
    mutating func emptyLog(of database: OpenDatabase) -> Bool {
        guard let didEmpty = try? database.emptyLog() else { return false }
        return checkpointEnded(didEmpty, database) == .emptied
    }

    private mutating func checkpointEnded(
        _ didEmpty: Bool, _ database: OpenDatabase
    ) -> LogGate.Outcome {
        let outcome = logGate.checkpointEnded(didEmpty: didEmpty, now: .now)
        if outcome == .emptied {
            bytesSinceCheckpoint = 0
            isBlockedLogReported = false
        }
        return outcome
    }

    /// The error of a write while the log is blocked; the first one is reported as a problem.
    private mutating func refusal(_ database: OpenDatabase) -> SQLiteFailure {
        let failure = SQLiteFailure.blockedLog(database.logBytes)
        if !isBlockedLogReported {
            isBlockedLogReported = true
            report(
                "The response store at \(path) stores no more responses: \(failure.message). "
                    + failure.advice, failure)
        }
        return failure
    }

    /// Whether a background checkpoint is due; resets the count if so.
    mutating func takeCheckpointRequest() -> Bool {
        guard bytesSinceCheckpoint > limits.backgroundBytes, database != nil else { return false }
        bytesSinceCheckpoint = 0
        return true
    }

    // MARK: - Size and listing

    /// The size of the database and its log in bytes.
    mutating func totalBytes() throws(SQLiteFailure) -> Int {
        try withDatabase { (_, database) throws(SQLiteFailure) in
            let sizes = try database.measure()
            return sizes.file + sizes.log
        } orInMemory: { state in
            state.memoryCache.totalCost
        }
    }

    mutating func list(after id: Int64, limit: Int) throws(SQLiteFailure) -> [(
        Int64, StoredEntryInfo
    )] {
        try withDatabase { (_, database) throws(SQLiteFailure) in
            try database.list(after: id, limit: limit)
        } orInMemory: { state in
            state.listWithoutFile(after: id, limit: limit)
        }
    }
}
