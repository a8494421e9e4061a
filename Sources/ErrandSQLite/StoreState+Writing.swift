import ErrandCore

extension StoreState {
    // MARK: - Writing

    /// Writes an entry whose body is in its row.
    mutating func write(
        _ entry: StoredResponse, for key: CacheKey, now: Int64
    ) throws(SQLiteFailure) {
        let id = EntryRow.id(of: key)
        try withDatabase { (state, database) throws(SQLiteFailure) in
            state.memoryCache.remove(id)
            try state.write(RowCost(entry, key: key), entry: id, to: database, now: now) {
                (database) throws(SQLiteFailure) in
                try database.store(entry, for: key, id: id, accessed: now)
            }
            state.pendingAccessTimes[id] = nil
            state.cacheInMemory(entry, for: key, id: id, accessed: now)
            state.maintain(database, now: now)
        } orInMemory: { (state) throws(SQLiteFailure) in
            try state.writeWithoutFile(entry, for: key, id: id, now: now)
        }
    }

    /// Writes a row, after what ``WritePlan`` requires.
    ///
    /// - Parameters:
    ///   - cost: The size of the row.
    ///   - entry: The row number of the entry; `nil` for a part of a body.
    ///   - body: The number of the unfinished body that the write belongs to.
    ///   - row: Writes the row, in a transaction.
    mutating func write(
        _ cost: RowCost, entry: Int64?, body: Int64? = nil, to database: OpenDatabase, now: Int64,
        _ row: (OpenDatabase) throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) {
        if let cause = diskGate.refusal(now: .now) { throw .suspended(after: cause) }
        do throws(SQLiteFailure) {
            try writeUngated(cost, entry: entry, body: body, to: database, now: now, row)
        } catch {
            if error.isDiskFault { suspendWriting(after: error) }
            throw error
        }
        diskGate.succeeded()
    }

    private mutating func writeUngated(
        _ cost: RowCost, entry: Int64?, body: Int64?, to database: OpenDatabase, now: Int64,
        _ row: (OpenDatabase) throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) {
        var plan = WritePlan(
            cost, limits: limits, checksFile: !isFileChecked && body == nil, isEntry: entry != nil)
        var checkpoints = 0
        while true {
            var isLogKnown = false
            let (step, sizes) = try database.write { () throws(SQLiteFailure) in
                isLogKnown = database.boundOfSizes != nil
                let (step, sizes) = try nextStep(&plan, entry: entry, in: database)
                switch step {
                case .write: try row(database)
                case .evict(let bytes) where pendingAccessTimes.isEmpty:
                    plan.evicted(
                        count: try evict(
                            bytes: bytes, keeping: body, now: now, from: database))
                case .evictEntries(let count) where pendingAccessTimes.isEmpty:
                    plan.evicted(
                        count: try evict(
                            entries: count, keeping: body, now: now, from: database))
                default: break
                }
                return (step, sizes)
            }
            switch step {
            case .write:
                database.committed(sizes.adding(cost))
                if body == nil { isFileChecked = true }
                return
            case .evict, .evictEntries:
                // Removals do not increase the sizes, except that of the log.
                if database.usedLogBytes != nil { database.committed(sizes) }
                // Pending times are written first: the order of eviction depends on them.
                writeBackAccesses()
            case .shrink:
                try removeAllRows(of: database)
                emptyLog(of: database)
            case .refuse: throw refusal(database)
            case .checkpoint:
                // Other processes may fill the log again before this one can write.
                checkpoints += 1
                guard checkpoints < 64 else { throw .busyLog }
                // If the used part of the log is unknown, only a smaller file makes room.
                database.committed(sizes)
                try makeRoom(
                    in: database, truncating: !isLogKnown || checkpoints > 1 || logGate.isBlocked)
            }
        }
    }

    /// The next step of a write, in its transaction, and the sizes from which it follows.
    private func nextStep(
        _ plan: inout WritePlan, entry: Int64?, in database: OpenDatabase
    ) throws(SQLiteFailure) -> (WritePlan.Step, StoreMeasure) {
        var otherEntries = 0
        if limits.maximumEntries != nil, let entry {
            otherEntries = try database.entryCount() - (try database.contains(id: entry) ? 1 : 0)
        }
        // The transaction has begun: no other connection can change the version any more.
        var bound = database.boundOfSizes
        bound?.otherEntries = otherEntries
        if let bound {
            var attempt = plan
            if attempt.next(bound, gate: logGate, now: .now) == .write {
                return (.write, bound)
            }
        }
        var sizes = try database.measure()
        if let bound { sizes.log = min(sizes.log, bound.log) }
        sizes.otherEntries = otherEntries
        return (plan.next(sizes, gate: logGate, now: .now), sizes)
    }

    private mutating func suspendWriting(after failure: SQLiteFailure) {
        guard diskGate.failed(failure, now: .now) else { return }
        report(
            "The response store at \(path) cannot write: \(failure.message). It tries again after "
                + "\(limits.diskPause), and later at least every \(limits.maximumDiskPause). "
                + "\(failure.advice)", failure)
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
    ///
    /// - Returns: Whether removed entries have left parts; see ``sweep(now:)``.
    mutating func remove(_ keys: [CacheKey]) throws(SQLiteFailure) -> Bool {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            for key in keys { state.memoryCache.remove(EntryRow.id(of: key)) }
            try state.removeInTransaction(from: database) { (database) throws(SQLiteFailure) in
                for key in keys { try database.delete(key) }
            }
            return try database.hasAbandonedBodies()
        } orInMemory: { state in
            for key in keys { state.removeWithoutFile(key) }
            return false
        }
    }

    /// Runs removals in one transaction, after emptying a log that is full.
    mutating func removeInTransaction(
        from database: OpenDatabase, _ body: (OpenDatabase) throws(SQLiteFailure) -> Void
    ) throws(SQLiteFailure) {
        var isBlocked = false
        while try !database.write({ () throws(SQLiteFailure) in
            guard isBlocked || decision(in: database) != .checkpoint else { return false }
            try body(database)
            return true
        }) {
            switch checkpointEnded(try database.emptyLog(), database) {
            case .emptied: break
            case .tryAgain: throw .busyLog
            case .blocked: isBlocked = true
            }
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

    mutating func removeAllRows(of database: OpenDatabase) throws(SQLiteFailure) {
        memoryCache.removeAll()
        pendingAccessTimes.removeAll()
        hasRoomForBatch(in: database)
        try database.deleteAllAndVacuum()
    }

    // MARK: - The log

    /// Empties the log before a write.
    ///
    /// - Throws: A busy error if the caller must try again after a short time.
    private mutating func makeRoom(
        in database: OpenDatabase, truncating: Bool
    ) throws(SQLiteFailure) {
        let didEmpty = try database.emptyLog(truncating: truncating)
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
    func decision(in database: OpenDatabase) -> LogGate.Decision {
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
        let outcome = logGate.checkpointEnded(
            didEmpty: didEmpty, generation: didEmpty ? nil : database.logGeneration, now: .now)
        if outcome == .emptied {
            checkpointDemand = CheckpointDemand()
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

    /// Whether a background checkpoint is due; counts from here if so.
    mutating func takeCheckpointRequest() -> Bool {
        guard let database else { return false }
        // Before the first write of this connection, only the size of the file is known.
        if let bytes = database.usedLogBytes { checkpointDemand.observe(log: bytes) }
        return checkpointDemand.take(above: limits.backgroundBytes)
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

    /// The number of entries, the pages in use, and the limits.
    mutating func usage() throws(SQLiteFailure) -> StoredEntryInfo.Usage {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            StoredEntryInfo.Usage(
                entries: try database.entryCount(), bytes: try database.measure().used,
                maximumEntries: state.limits.maximumEntries, maximumBytes: state.limits.bytes,
                evictions: state.evictions)
        } orInMemory: { state in
            state.usageWithoutFile()
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
