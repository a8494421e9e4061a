#if Redis
    import ErrandCore

    /// The removals that could not be performed, repeated before the server is used again; pure.
    struct MissedRemovals: Sendable {
        /// Above these numbers, all entries are removed.
        private static let maximumKeys = 10_000
        private static let maximumRules = 100

        /// Entries to remove: by a selection or by a predicate.
        enum Rule: Sendable {
            case selection(StoredEntryInfo.Selection)
            case predicate(@Sendable (StoredEntryInfo) -> Bool)
        }

        private(set) var ids: Set<EntryID> = []
        private(set) var rules: [Rule] = []
        private(set) var removesAll = false

        var isEmpty: Bool { ids.isEmpty && rules.isEmpty && !removesAll }

        /// Adds the removal of all entries.
        mutating func addAll() {
            self = MissedRemovals()
            removesAll = true
        }

        /// Adds the removal of an entry.
        mutating func add(_ id: EntryID) {
            guard !removesAll else { return }
            if ids.count < Self.maximumKeys { ids.insert(id) } else { addAll() }
        }

        /// Adds the removal of several entries.
        mutating func add(_ rule: Rule) {
            guard !removesAll else { return }
            if rules.count < Self.maximumRules { rules.append(rule) } else { addAll() }
        }

        /// Adds the removals of another value.
        mutating func add(_ other: MissedRemovals) {
            if other.removesAll { return addAll() }
            for id in other.ids { add(id) }
            for rule in other.rules { add(rule) }
        }
    }
#endif
