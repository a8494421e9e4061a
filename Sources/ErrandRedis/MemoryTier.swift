#if Redis
    import ErrandCore
    import ErrandHTTP

    /// The entries that a store keeps in memory, and the reads that may add one; pure.
    ///
    /// An entry is returned only while notices of changes are known to arrive: the connection for
    /// notices has replied within the last second. A read that was in progress when a notice about
    /// its key arrived adds nothing. Times are nanoseconds of a monotonic clock.
    struct MemoryTier: Sendable {
        /// How long a sign of life of the connection for notices counts.
        static let trustedTime: Int64 = 1_000_000_000

        private struct Item: Sendable {
            var key: CacheKey
            var entry: StoredResponse
            var end: Int64
        }

        private struct Read: Sendable {
            var serial: UInt64
            var count: Int
        }

        private var table: LRUTable<EntryID, Item>
        private var reads: [EntryID: Read] = [:]
        private var serial: UInt64 = 0
        private var lastSign: Int64?

        /// - Parameter limit: The maximum size in bytes; 0 keeps nothing.
        init(limit: Int) { table = LRUTable(limit: limit) }

        var isUsed: Bool { table.limit > 0 }
        var count: Int { table.count }

        /// Whether entries may be returned.
        func isTrusted(now: Int64) -> Bool {
            lastSign.map { now - $0 < Self.trustedTime } ?? false
        }

        /// The entry of a key, if it is in memory and current.
        mutating func entry(for key: CacheKey, _ id: EntryID, now: Int64) -> StoredResponse? {
            guard isUsed, isTrusted(now: now), let item = table.value(for: id), item.key == key
            else { return nil }
            guard now < item.end else {
                table.remove(id)
                return nil
            }
            return item.entry
        }

        /// Notes the beginning of a read; returns the number for ``finish(_:for:_:read:end:now:)``.
        mutating func beginRead(_ id: EntryID, now: Int64) -> UInt64 {
            // Notices about this read might be lost.
            guard isUsed, isTrusted(now: now) else { return 0 }
            if reads[id] == nil {
                serial += 1
                reads[id] = Read(serial: serial, count: 0)
            }
            reads[id]?.count += 1
            return reads[id]?.serial ?? 0
        }

        /// Notes the end of a read, and keeps the entry unless its key was changed meanwhile.
        ///
        /// - Parameters:
        ///   - entry: `nil` if there was none.
        ///   - end: The time at which the entry is removed.
        mutating func finish(
            _ entry: StoredResponse?, for key: CacheKey, _ id: EntryID, read: UInt64, end: Int64,
            now: Int64
        ) {
            guard var current = reads[id], current.serial == read else { return }
            current.count -= 1
            reads[id] = current.count > 0 ? current : nil
            guard let entry, isUsed, isTrusted(now: now) else { return }
            let cost = entry.size + 300 + key.canonical.utf8.count
            // One large entry must not evict all others.
            guard cost <= table.limit / 4 else { return }
            table.insert(Item(key: key, entry: entry, end: end), for: id, cost: cost)
        }

        /// Removes an entry that was changed, here or by another client.
        mutating func invalidate(_ id: EntryID) {
            table.remove(id)
            reads[id] = nil
        }

        /// Removes all entries.
        mutating func invalidateAll() {
            table.removeAll()
            reads = [:]
        }

        /// Notes a sign of life of the connection for notices, or its loss.
        ///
        /// - Parameter time: The time at which the server was asked for it; `nil` for the loss.
        mutating func heartbeat(_ time: Int64?) {
            lastSign = time
            if time == nil { invalidateAll() }
        }
    }
#endif
