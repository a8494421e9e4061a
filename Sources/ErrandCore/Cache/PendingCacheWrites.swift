import Synchronization

/// Writes that are on their way to the store: who reads meanwhile sees them already.
///
/// One table serves one agent. Writes happen one after the other, so that of two for one key the
/// later one stays; a write that has not begun is replaced by a later one. The owner calls
/// ``flush()`` before it lets go of the store, or the process.
package final class PendingCacheWrites: Sendable {
    /// What is to be done with a key.
    package enum Operation: Sendable {
        case store(StoredResponse)
        case remove
    }

    /// What the table knows of a key.
    package enum Reading: Sendable {
        /// This will be there.
        case entry(StoredResponse)
        /// Nothing will be there.
        case removed
        /// Ask the store.
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

    /// - Parameter maximumBytes: Beyond this many waiting bytes ``write(_:for:in:)`` waits instead.
    package init(maximumBytes: Int = 16 << 20) { self.maximumBytes = maximumBytes }

    /// What a reader finds who reads after every write so far.
    package func reading(of key: CacheKey) -> Reading {
        state.withLock { state in
            switch state.writes[key]?.operation {
            case .store(let entry): .entry(entry)
            case .remove: .removed
            case nil: .unknown
            }
        }
    }

    /// Does it soon.
    ///
    /// - Returns: False when so much waits that the caller had better wait for ``flush()``.
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
                // Under way: its end is told by who carries it out. Else the later one stands for
                // both.
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

    /// Does it and waits until it is done, after everything that waits already.
    package func write(
        _ operation: Operation, for key: CacheKey, in store: any ResponseStore
    ) async -> RequestError? {
        await withCheckedContinuation { continuation in
            enqueue(operation, for: key, in: store) { continuation.resume(returning: $0) }
        }
    }

    /// Waits until nothing waits any more.
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
                // A later write for the key came meanwhile: it stays and will be carried out.
                guard state.writes[key]?.serial == write.serial else { return }
                state.writes[key] = nil
                state.bytes -= write.size
            }
            for end in write.onEnd { end(failure) }
        }
    }

    /// The next write, or `nil` after having told those who wait for the end.
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
