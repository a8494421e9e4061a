import Synchronization

/// Whether answers by RFC 9111 may be in a store: where none can be, no change makes anything out of date.
///
/// A store in memory has one of its own, for all agents that share it. What other stores hold from earlier, or from
/// other processes, nobody knows: there may always be some.
package final class CacheUse: Sendable {
    private let used: Atomic<Bool>

    package init(isUsed: Bool) { used = Atomic(isUsed) }

    /// What is known of a store, and of none.
    package static func of(_ store: (any ResponseStore)?) -> CacheUse {
        if let memory = store as? MemoryResponseStore { return memory.use }
        return CacheUse(isUsed: store != nil)
    }

    /// Whether any may be there.
    package var isUsed: Bool { used.load(ordering: .relaxed) }

    /// Tells that there may be some from now on.
    package func note() {
        if !isUsed { used.store(true, ordering: .relaxed) }
    }
}
