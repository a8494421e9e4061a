#if Redis
    import ErrandCore
    import ErrandSystem
    import Synchronization

    /// What a store keeps in the process: the memory tier, its problems, and missed removals.
    final class StoreMemory: Sendable {
        private struct State: Sendable {
            var tier: MemoryTier
            var missed = MissedRemovals()
            var problems: [RequestError] = []
            var newProblems: [RequestError] = []
            var hits = 0
            var recover: (@Sendable () -> Void)?
        }

        let address: String
        private let keys: StoreKeys
        private let state: Mutex<State>

        init(address: String, keys: StoreKeys, limit: Int) {
            self.address = address
            self.keys = keys
            state = Mutex(State(tier: MemoryTier(limit: limit)))
        }

        enum Lookup: Sendable {
            case hit(StoredResponse)
            /// Read the server; the number is for ``finish(_:for:_:read:lifetime:)``.
            case read(UInt64)
        }

        /// Looks for an entry, and otherwise begins a read.
        func lookUp(_ key: CacheKey, _ id: EntryID, beginsRead: Bool = true) -> Lookup {
            let now = RedisTime.now
            return state.withLock { state in
                if let entry = state.tier.entry(for: key, id, now: now) {
                    state.hits += 1
                    return .hit(entry)
                }
                return .read(beginsRead ? state.tier.beginRead(id, now: now) : 0)
            }
        }

        /// Ends a read.
        ///
        /// - Parameter lifetime: How long the entry may be used, in milliseconds.
        func finish(
            _ entry: StoredResponse?, for key: CacheKey, _ id: EntryID, read: UInt64,
            lifetime: Int = 0
        ) {
            let now = RedisTime.now
            state.withLock {
                $0.tier.finish(
                    entry, for: key, id, read: read, end: now + Int64(lifetime) * 1_000_000,
                    now: now)
            }
        }

        func invalidate(_ id: EntryID) { state.withLock { $0.tier.invalidate(id) } }

        func invalidateAll() { state.withLock { $0.tier.invalidateAll() } }

        /// Removes the entries that a removal concerns.
        func invalidate(_ removal: (inout MissedRemovals) -> Void) {
            var removals = MissedRemovals()
            removal(&removals)
            state.withLock { state in
                if removals.removesAll || !removals.rules.isEmpty { state.tier.invalidateAll() }
                for id in removals.ids { state.tier.invalidate(id) }
            }
        }

        /// The number of reads that were served from memory.
        var hits: Int { state.withLock { $0.hits } }

        /// The number of entries in memory.
        var count: Int { state.withLock { $0.tier.count } }

        // MARK: - Missed removals

        func setRecovery(_ recover: @escaping @Sendable () -> Void) {
            state.withLock { $0.recover = recover }
        }

        /// Notes removals that the server did not perform.
        func miss(_ change: (inout MissedRemovals) -> Void) {
            state.withLock { change(&$0.missed) }
        }

        func takeMissed() -> MissedRemovals {
            state.withLock { state in
                defer { state.missed = MissedRemovals() }
                return state.missed
            }
        }

        // MARK: - Problems

        var problems: [RequestError] { state.withLock { $0.problems } }

        func takeNewProblems() -> [RequestError] {
            state.withLock { state in
                defer { state.newProblems = [] }
                return state.newProblems
            }
        }

        /// Adds a problem; the last 16 are kept.
        func note(_ problem: RequestError) {
            state.withLock { state in
                state.problems = state.problems.suffix(15) + [problem]
                state.newProblems = state.newProblems.suffix(15) + [problem]
            }
        }

        func note(_ message: String) {
            note(
                RequestError(
                    .storeFailed, stage: .cache, "The response store at \(address): \(message)"))
        }

        // MARK: - Notices of the client

        var handlers: RedisClient.Handlers {
            RedisClient.Handlers(
                problem: { self.note($0.requestError(address: self.address)) },
                invalidated: { keys in
                    guard let keys else { return self.invalidateAll() }
                    let ids = keys.compactMap { self.keys.id(ofEntry: $0) }
                    self.state.withLock { for id in ids { $0.tier.invalidate(id) } }
                },
                heartbeat: { time in self.state.withLock { $0.tier.heartbeat(time) } },
                needsRecovery: { self.state.withLock { !$0.missed.isEmpty } },
                recover: { self.state.withLock { $0.recover }?() })
        }
    }
#endif
