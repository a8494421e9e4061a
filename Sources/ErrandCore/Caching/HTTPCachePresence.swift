import Synchronization

/// Whether a store may contain responses of ``CachePolicy/http``.
///
/// If not, unsafe requests skip invalidation.
///
/// Each ``MemoryResponseStore`` has one object, for all agents that share the store. Other stores
/// may contain responses from earlier runs or other processes, so they always count as used.
package final class HTTPCachePresence: Sendable {
    private let used: Atomic<Bool>

    package init(isUsed: Bool) { used = Atomic(isUsed) }

    /// The object for a store; without a store it is never used until ``note()``.
    package static func of(_ store: (any ResponseStore)?) -> HTTPCachePresence {
        if let memory = store as? MemoryResponseStore { return memory.httpCachePresence }
        return HTTPCachePresence(isUsed: store != nil)
    }

    /// Whether the store may contain such responses.
    package var isUsed: Bool { used.load(ordering: .relaxed) }

    /// Records that the store may contain such responses from now on.
    package func note() {
        if !isUsed { used.store(true, ordering: .relaxed) }
    }
}
