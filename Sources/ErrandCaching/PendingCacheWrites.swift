import Synchronization

/// A queue of writes to the store.
///
/// Readers see queued writes before they are in the store.
///
/// Each agent has one queue. Writes are performed one after another, so that the latest write for a
/// key wins; a write that has not started is replaced by a later one for its key. The owner calls
/// ``flush()`` before it releases the store or ends the process.
package final class PendingCacheWrites: Sendable {
    /// A write for a key.
    package enum Operation: Sendable {
        case store(StoredResponse)
        case remove
    }

    /// The state of a key after all queued writes.
    package enum Reading: Sendable {
        /// A queued write stores this entry.
        case entry(StoredResponse)
        /// A queued write removes the entry.
        case removed
        /// No write is queued: read the store.
        case unknown
    }

    private struct Write {
        var operation: Operation
        var store: any ResponseStore
        var isUnderWay = false
        var serial: UInt64
        var onEnd: [@Sendable (RequestError?) -> Void]

        var size: Int {
            guard case .store(let entry) = operation else { return 0 }
            return entry.size
        }
    }

    private struct State {
        var writes: [CacheKey: Write] = [:]
        var order: [CacheKey] = []
        var bytes = 0
        var serial: UInt64 = 0
        var isDraining = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let maximumBytes: Int

    /// - Parameter maximumBytes: The size of queued entries, in bytes, above which `enqueue`
    ///   returns false. Default 16 MiB.
    package init(maximumBytes: Int = 16 << 20) { self.maximumBytes = maximumBytes }

    /// The state that the key has after all writes queued so far.
    package func reading(of key: CacheKey) -> Reading {
        state.withLock { state in
            switch state.writes[key]?.operation {
            case .store(let entry): .entry(entry)
            case .remove: .removed
            case nil: .unknown
            }
        }
    }

    /// Queues a write and returns at once.
    ///
    /// - Parameter onEnd: Called when the write has ended, from any thread, with its error if it
    ///   failed. A replaced write ends with the write that replaced it.
    /// - Returns: False if the queue is full; the caller should then wait for ``flush()``.
    @discardableResult
    package func enqueue(
        _ operation: Operation, for key: CacheKey, in store: any ResponseStore,
        onEnd: @escaping @Sendable (RequestError?) -> Void = { _ in }
    ) -> Bool {
        let (mustDrain, hasRoom) = state.withLock { state in
            state.serial &+= 1
            var write = Write(
                operation: operation, store: store, serial: state.serial, onEnd: [onEnd])
            if let earlier = state.writes[key] {
                state.bytes -= earlier.size
                // A running write calls its own closures at its end. Otherwise the later write
                // replaces it and calls the closures of both.
                if !earlier.isUnderWay { write.onEnd = earlier.onEnd + write.onEnd }
            }
            if state.writes[key]?.isUnderWay ?? true { state.order.append(key) }
            state.bytes += write.size
            state.writes[key] = write
            defer { state.isDraining = true }
            return (!state.isDraining, state.bytes <= maximumBytes)
        }
        if mustDrain { Task.detached { await self.drain() } }
        return hasRoom
    }

    /// Queues a write and waits for its end; returns its error if it failed.
    package func write(
        _ operation: Operation, for key: CacheKey, in store: any ResponseStore
    ) async -> RequestError? {
        await withCheckedContinuation { continuation in
            enqueue(operation, for: key, in: store) { continuation.resume(returning: $0) }
        }
    }

    /// Waits until the queue is empty.
    package func flush() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.isDraining { state.waiters.append(continuation) }
                return !state.isDraining
            }
            if isIdle { continuation.resume() }
        }
    }

    private func drain() async {
        while let (key, write) = takeNext() {
            var failure: RequestError?
            do throws(RequestError) {
                switch write.operation {
                case .store(let entry): try await write.store.store(entry, for: key)
                case .remove: try await write.store.remove(key)
                }
            } catch { failure = error }
            state.withLock { state in
                // Keep a write for the same key that was queued meanwhile.
                guard state.writes[key]?.serial == write.serial else { return }
                state.writes[key] = nil
                state.bytes -= write.size
            }
            for end in write.onEnd { end(failure) }
        }
    }

    /// The next write; if there is none, resumes the callers of ``flush()`` and returns `nil`.
    private func takeNext() -> (CacheKey, Write)? {
        let (next, waiters) = state.withLock { state in
            while !state.order.isEmpty {
                let key = state.order.removeFirst()
                guard let write = state.writes[key] else { continue }
                state.writes[key]?.isUnderWay = true
                return ((key, write) as (CacheKey, Write)?, [CheckedContinuation<Void, Never>]())
            }
            state.isDraining = false
            defer { state.waiters = [] }
            return (nil, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return next
    }
}
