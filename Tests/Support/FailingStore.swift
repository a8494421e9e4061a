package import ErrandCore
import Synchronization

/// A memory store whose reads and writes can be made to fail, and whose writes can be held.
package final class FailingStore: ResponseStore {
    package let inner = MemoryResponseStore()
    private let failure = Mutex<
        (reads: RequestError?, writes: RequestError?, removals: RequestError?)
    >((nil, nil, nil))
    private let heldWrites = Mutex(HeldWrites())

    private struct HeldWrites {
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var observers: [CheckedContinuation<Void, Never>] = []
    }

    package init() {}

    package func fail(
        reads: RequestError? = nil, writes: RequestError? = nil, removals: RequestError? = nil
    ) {
        failure.withLock { $0 = (reads, writes, removals) }
    }

    package func holdWrites() { heldWrites.withLock { $0.isHeld = true } }

    /// Waits until a write is held.
    package func untilHeld() async {
        await withCheckedContinuation { continuation in
            let isThere = heldWrites.withLock { heldWrites in
                if heldWrites.waiting.isEmpty { heldWrites.observers.append(continuation) }
                return !heldWrites.waiting.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }

    package func releaseWrites() {
        let waiting = heldWrites.withLock { heldWrites in
            heldWrites.isHeld = false
            defer { heldWrites.waiting = [] }
            return heldWrites.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    package func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? {
        if let error = failure.withLock({ $0.reads }) { throw error }
        return try await inner.entry(for: key)
    }

    package func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
        await withCheckedContinuation { continuation in
            let (isHeld, observers) = heldWrites.withLock { heldWrites in
                if heldWrites.isHeld { heldWrites.waiting.append(continuation) }
                defer { heldWrites.observers = [] }
                return (heldWrites.isHeld, heldWrites.observers)
            }
            if !isHeld { continuation.resume() }
            for observer in observers { observer.resume() }
        }
        if let error = failure.withLock({ $0.writes }) { throw error }
        try await inner.store(entry, for: key)
    }

    package func remove(_ key: CacheKey) async throws(RequestError) { try await inner.remove(key) }

    package func removeAll(
        where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
    ) async throws(RequestError) {
        if let error = failure.withLock({ $0.removals }) { throw error }
        try await inner.removeAll(where: predicate)
    }

    package func removeAll(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> Int {
        if let error = failure.withLock({ $0.removals }) { throw error }
        return try await inner.removeAll(matching: selection)
    }

    package func entries() async throws(RequestError) -> [StoredEntryInfo] {
        try await inner.entries()
    }
}
