import ErrandCore
import Synchronization

/// A memory store whose reads and writes can be made to fail, and whose writes can be held.
final class FailingStore: ResponseStore {
    let inner = MemoryResponseStore()
    private let failure = Mutex<
        (reads: RequestError?, writes: RequestError?, removals: RequestError?)
    >((nil, nil, nil))
    private let heldWrites = Mutex(HeldWrites())

    private struct HeldWrites {
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var observers: [CheckedContinuation<Void, Never>] = []
    }

    func fail(
        reads: RequestError? = nil, writes: RequestError? = nil, removals: RequestError? = nil
    ) {
        failure.withLock { $0 = (reads, writes, removals) }
    }

    func holdWrites() { heldWrites.withLock { $0.isHeld = true } }

    /// Waits until a write is held.
    func untilHeld() async {
        await withCheckedContinuation { continuation in
            let isThere = heldWrites.withLock { heldWrites in
                if heldWrites.waiting.isEmpty { heldWrites.observers.append(continuation) }
                return !heldWrites.waiting.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }

    func releaseWrites() {
        let waiting = heldWrites.withLock { heldWrites in
            heldWrites.isHeld = false
            defer { heldWrites.waiting = [] }
            return heldWrites.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func entry(for key: CacheKey) async throws(RequestError) -> StoredResponse? {
        if let error = failure.withLock({ $0.reads }) { throw error }
        return try await inner.entry(for: key)
    }

    func store(_ entry: StoredResponse, for key: CacheKey) async throws(RequestError) {
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

    func remove(_ key: CacheKey) async throws(RequestError) { try await inner.remove(key) }

    func removeAll(
        where predicate: (@Sendable (StoredEntryInfo) -> Bool)?
    ) async throws(RequestError) {
        if let error = failure.withLock({ $0.removals }) { throw error }
        try await inner.removeAll(where: predicate)
    }

    func removeAll(
        matching selection: StoredEntryInfo.Selection
    ) async throws(RequestError) -> Int {
        if let error = failure.withLock({ $0.removals }) { throw error }
        return try await inner.removeAll(matching: selection)
    }

    func entries() async throws(RequestError) -> [StoredEntryInfo] { try await inner.entries() }
}
