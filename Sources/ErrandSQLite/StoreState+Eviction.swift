import ErrandCore

/// Removals that hold the limits or free unused bytes.
extension StoreState {
    /// Removes about this many bytes, or this number of entries, in the caller's transaction: first
    /// bodies without an entry, then the entries that were not read for the longest time, and at
    /// last unfinished bodies of other writers.
    ///
    /// With up to 256 entries the order is exact. With more, it samples 256 entries at random and
    /// removes up to a quarter of them, the oldest first. That is approximately LRU and needs no
    /// index, which would slow down every write. Entries whose bodies are being read in this process
    /// are removed only if the sample has no others.
    ///
    /// - Parameter keeping: An unfinished body that is kept.
    /// - Returns: The number of removed entries and parts.
    mutating func evict(
        bytes: Int = 0, entries: Int = 0, keeping: Int64?, now: Int64, from database: OpenDatabase
    ) throws(SQLiteFailure) -> Int {
        var budget = EvictionBudget(bytes: bytes, entries: entries, log: limits.batchBytes)
        if bytes > 0 {
            let bodies = try unownedBodies(of: database, now: now, isUrgent: false)
            try remove(bodies, keeping: keeping, from: database, &budget)
        }
        while budget.wantsMore {
            let sample = try database.sample(256).sorted { $0.accessed < $1.accessed }
            if sample.isEmpty { break }
            let free = sample.filter { entry in
                entry.bodyID.map { !BodyLeases.shared.contains($0) } ?? true
            }
            let candidates = (free.isEmpty ? sample : free).prefix(max(1, sample.count / 4))
            for entry in candidates where budget.wantsMore {
                guard budget.allows(entry.removalCost) else { return budget.count }
                try database.delete(id: entry.id)
                memoryCache.remove(entry.id)
                evictions += 1
                budget.removedEntry(entry)
                if let body = entry.bodyID {
                    try remove([body], keeping: keeping, from: database, &budget)
                }
            }
        }
        if budget.wantsMore, bytes > 0 {
            let bodies = try unownedBodies(of: database, now: now, isUrgent: true)
            try remove(bodies, keeping: keeping, from: database, &budget)
        }
        return budget.count
    }

    /// The bodies that belong to no entry.
    ///
    /// - Parameter isUrgent: Whether bodies that may still be written or read are included.
    private func unownedBodies(
        of database: OpenDatabase, now: Int64, isUrgent: Bool
    ) throws(SQLiteFailure) -> [Int64] {
        if isUrgent { return try database.unownedBodies(before: .max, after: .max, limit: 8) }
        let patience = limits.unfinishedPatience
        let leased = BodyLeases.shared.ids
        return try database.unownedBodies(
            before: now - patience, after: now + patience, limit: 8 + leased.count
        ).filter { !leased.contains($0) }
    }

    /// Removes parts of bodies as far as the budget allows.
    private mutating func remove(
        _ bodies: [Int64], keeping: Int64?, from database: OpenDatabase,
        _ budget: inout EvictionBudget
    ) throws(SQLiteFailure) {
        for id in bodies where id != keeping {
            guard let body = try database.body(id: id) else { continue }
            let cost = RowCost(bytes: body.partSize).log
            let limit = budget.parts(costing: cost)
            guard limit > 0 else { return }
            let count = try database.deleteParts(of: id, limit: limit)
            budget.removedParts(count, size: body.partSize, cost: cost)
        }
    }

    /// Removes some parts of bodies without an entry.
    mutating func sweep(now: Int64) throws(SQLiteFailure) -> Progress {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            try state.sweep(database, now: now)
        } orInMemory: { _ in
            .done
        }
    }

    /// The result of one step of a removal.
    enum Progress: Sendable {
        /// Nothing is left.
        case done
        /// Something was removed, and more may be left.
        case more
        /// The log has no room, and a checkpoint is in progress: try again after a short time.
        case busy
        /// The log has no room for a longer time.
        case blocked
    }

    /// The result of a step that found no room in the log.
    private func withoutRoom(in database: OpenDatabase) -> Progress {
        decision(in: database) == .refuse ? .blocked : .busy
    }

    private mutating func sweep(
        _ database: OpenDatabase, now: Int64
    ) throws(SQLiteFailure) -> Progress {
        let bodies = try unownedBodies(of: database, now: now, isUrgent: false)
        guard !bodies.isEmpty else { return .done }
        guard hasRoomForBatch(in: database) else { return withoutRoom(in: database) }
        var budget = EvictionBudget(bytes: .max, entries: 0, log: limits.batchBytes)
        return try database.write { () throws(SQLiteFailure) in
            // Another process may have used the room since.
            guard decision(in: database) == .extend else { return withoutRoom(in: database) }
            try remove(bodies, keeping: nil, from: database, &budget)
            return .more
        }
    }

    /// Shrinks the file by some free pages.
    ///
    /// - Parameter keeping: The number of free bytes that may remain.
    mutating func shrink(keeping: Int) throws(SQLiteFailure) -> Progress {
        try withDatabase { (state, database) throws(SQLiteFailure) in
            try state.shrink(database, keeping: keeping)
        } orInMemory: { _ in
            .done
        }
    }

    private mutating func shrink(
        _ database: OpenDatabase, keeping: Int
    ) throws(SQLiteFailure) -> Progress {
        let free = try database.freePages()
        guard free * RowCost.pageBytes > keeping else { return .done }
        guard hasRoomForBatch(in: database) else { return withoutRoom(in: database) }
        // Moving a page also changes the page that refers to it, and the map of pages.
        let pages = max(1, min(limits.batchBytes / (3 * RowCost.frameBytes), 256))
        return try database.write { () throws(SQLiteFailure) in
            guard decision(in: database) == .extend else { return withoutRoom(in: database) }
            try database.vacuum(pages: pages)
            // A file of version 1 does not shrink before all entries are removed.
            return try database.freePages() < free ? .more : .done
        }
    }

    /// Removes some expired entries, bodies without an entry and free pages, and returns soon.
    ///
    /// Errors are ignored: the next write meets them as well and reports them.
    mutating func maintain(_ database: OpenDatabase, now: Int64) {
        let pause = limits.maintenancePause
        guard now >= nextMaintenance || nextMaintenance - now > pause else { return }
        let steps = [
            try? removeExpired(from: database, now: now), try? sweep(database, now: now),
            try? shrink(database, keeping: limits.freeBytes),
        ]
        nextMaintenance = steps.allSatisfy { $0 == .done || $0 == nil } ? now + pause : now
    }

    /// Removes up to 16 entries that expired long ago.
    private mutating func removeExpired(
        from database: OpenDatabase, now: Int64
    ) throws(SQLiteFailure) -> Progress {
        guard let keepsExpired = limits.keepsExpired else { return .done }
        let seconds = Double(now) / 1000 - keepsExpired
        let day = Int64(exactly: (seconds / 86_400).rounded(.down)) ?? .min
        let entries = try database.expired(before: day, limit: 16)
        guard !entries.isEmpty else { return .done }
        guard hasRoomForBatch(in: database) else { return withoutRoom(in: database) }
        var budget = EvictionBudget(bytes: .max, entries: 0, log: limits.batchBytes)
        return try database.write { () throws(SQLiteFailure) in
            guard decision(in: database) == .extend else { return withoutRoom(in: database) }
            for entry in entries where budget.allows(entry.removalCost) {
                try database.delete(id: entry.id)
                memoryCache.remove(entry.id)
                budget.removedEntry(entry)
            }
            return .more
        }
    }
}

/// How much one transaction still removes.
struct EvictionBudget {
    private var bytes: Int
    private var entries: Int
    private var log: Int
    /// The number of removed entries and parts.
    private(set) var count = 0

    /// - Parameters:
    ///   - bytes: The bytes to remove.
    ///   - entries: The entries to remove.
    ///   - log: The bytes that the removals may append to the log; the first may exceed them.
    init(bytes: Int, entries: Int, log: Int) {
        self.bytes = bytes
        self.entries = entries
        self.log = log
    }

    var wantsMore: Bool { bytes > 0 || entries > 0 }

    func allows(_ cost: Int) -> Bool { cost <= log || count == 0 }

    /// How many parts may be removed.
    func parts(costing cost: Int) -> Int { max(log / cost, count == 0 ? 1 : 0) }

    mutating func removedEntry(_ entry: SampledEntry) {
        count += 1
        entries -= 1
        bytes -= (entry.bodyID == nil ? entry.size : 0) + 64
        log -= entry.removalCost
    }

    mutating func removedParts(_ number: Int, size: Int, cost: Int) {
        count += number
        bytes -= number * size
        log -= number * cost
    }
}
