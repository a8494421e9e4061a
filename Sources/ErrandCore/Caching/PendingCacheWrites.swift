import ErrandHTTP
package import ErrandSystem
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
        /// No write is queued, and these selections are being removed: read the store, and ignore an
        /// entry of one of them.
        case unknownExcept([StoredEntryInfo.Selection])
    }

    private struct Write {
        var operation: Operation
        var store: any ResponseStore
        var isUnderWay = false
        var serial: UInt64
        var onEnd: [@Sendable (RequestError?) -> Void]

        var size: Int {
            guard case .store(let entry) = operation else { return 0 }
            // A body that is read in parts is not in memory.
            return entry.size - (entry.largeBody?.parts.count ?? 0)
        }
    }

    /// The removal of all entries.
    private struct Removal {
        var store: any ResponseStore
        var onEnd: [@Sendable (RequestError?) -> Void]
    }

    /// The removal of the entries of a selection.
    private struct Selected {
        var selection: StoredEntryInfo.Selection
        var store: any ResponseStore
        var serial: UInt64
        var onEnd: @Sendable (Result<Int, RequestError>) -> Void
    }

    /// A selection whose entries are not stored by requests with lower tickets.
    private struct Cleared {
        var selection: StoredEntryInfo.Selection
        var before: UInt64
    }

    private enum Item {
        case write(Write, for: CacheKey)
        case removal(Removal)
        case selected(Selected)
    }

    private struct State {
        var writes: [CacheKey: Write] = [:]
        /// The keys of the queued writes, after ``removal``.
        var order: [CacheKey] = []
        /// The queued removal; it is performed before all queued writes.
        var removal: Removal?
        var isRemoving = false
        /// The queued removals of selections and the running one; performed after ``removal`` and
        /// before all queued writes.
        var selected: [Selected] = []
        /// The selections that were removed, the earliest first.
        var cleared: [Cleared] = []
        /// Entries of requests with lower tickets are not stored.
        var firstTicket: UInt64 = 0
        var bytes = 0
        var serial: UInt64 = 0
        var isDraining = false
        var waiters: [Waiter] = []
        var digestKey: Data?
    }

    private let state = Mutex(State())
    private let maximumBytes: Int
    /// The number of selections that are kept for requests that started before their removal.
    private static let maximumCleared = 64
    /// Counts the uses of the store.
    package let counters = CacheCounters()

    /// - Parameter maximumBytes: The size of queued entries, in bytes, above which `enqueue`
    ///   returns false. Default 16 MiB.
    package init(maximumBytes: Int = 16 << 20) { self.maximumBytes = maximumBytes }

    /// The store's key for digests.
    ///
    /// If the store cannot be used, the key of this process, until it can.
    package func digestKey(of store: any ResponseStore) async -> Data {
        if let key = state.withLock({ $0.digestKey }) { return key }
        guard let key = try? await store.digestKey(), !key.isEmpty else {
            return DigestKey.ofProcess
        }
        return state.withLock { state in
            if let first = state.digestKey { return first }
            state.digestKey = key
            return key
        }
    }

    /// The state that the key has after all writes queued so far.
    package func reading(of key: CacheKey) -> Reading {
        state.withLock { state in
            switch state.writes[key]?.operation {
            case .store(let entry): .entry(entry)
            case .remove: .removed
            case nil:
                if state.removal != nil || state.isRemoving {
                    .removed
                } else if state.selected.isEmpty {
                    .unknown
                } else {
                    .unknownExcept(state.selected.map(\.selection))
                }
            }
        }
    }

    /// Removes all entries: those in the store, those of queued writes, and those of a running write.
    ///
    /// - Parameter ticket: Later writes of requests with lower tickets are discarded.
    /// - Returns: The error of the store if it failed.
    package func clear(_ store: any ResponseStore, before ticket: UInt64) async -> RequestError? {
        await withCheckedContinuation { continuation in
            let (mustDrain, discarded) = state.withLock { state in
                var removal = state.removal ?? Removal(store: store, onEnd: [])
                removal.onEnd.append { continuation.resume(returning: $0) }
                var discarded: [@Sendable (RequestError?) -> Void] = []
                for (key, write) in state.writes {
                    state.bytes -= write.size
                    if write.isUnderWay {
                        state.writes[key]?.operation = .remove
                    } else {
                        state.writes[key] = nil
                        switch write.operation {
                        case .store: discarded += write.onEnd
                        case .remove: removal.onEnd += write.onEnd
                        }
                    }
                }
                state.order = []
                state.removal = removal
                state.firstTicket = max(state.firstTicket, ticket)
                defer { state.isDraining = true }
                return (!state.isDraining, discarded)
            }
            for end in discarded { end(Self.wasCleared) }
            if mustDrain { Task.detached { await self.drain() } }
        }
    }

    /// Removes the entries of a selection: those in the store, those of queued writes, and that of a running write.
    ///
    /// Writes that are queued later are performed after the removal.
    ///
    /// - Parameter ticket: Later writes of requests with lower tickets are discarded if their entry
    ///   belongs to the selection.
    /// - Returns: The number of entries that were removed from the store.
    package func clear(
        _ selection: StoredEntryInfo.Selection, in store: any ResponseStore, before ticket: UInt64
    ) async throws(RequestError) -> Int {
        let result = await withCheckedContinuation { continuation in
            let (mustDrain, discarded) = state.withLock { state in
                var discarded: [@Sendable (RequestError?) -> Void] = []
                for (key, write) in state.writes {
                    guard case .store(let entry) = write.operation,
                        selection.contains(StoredEntryInfo(key: key, entry: entry))
                    else { continue }
                    state.bytes -= write.size
                    if write.isUnderWay {
                        state.writes[key]?.operation = .remove
                    } else {
                        state.writes[key] = nil
                        discarded += write.onEnd
                    }
                }
                state.serial &+= 1
                state.selected.append(
                    Selected(selection: selection, store: store, serial: state.serial) {
                        continuation.resume(returning: $0)
                    })
                state.cleared.append(Cleared(selection: selection, before: ticket))
                if state.cleared.count > Self.maximumCleared {
                    // The oldest selection is forgotten: requests from before it store nothing at all.
                    state.firstTicket = max(state.firstTicket, state.cleared.removeFirst().before)
                }
                defer { state.isDraining = true }
                return (!state.isDraining, discarded)
            }
            for end in discarded { end(Self.wasCleared) }
            if mustDrain { Task.detached { await self.drain() } }
        }
        return try result.get()
    }

    /// Queues a write and returns at once.
    ///
    /// - Parameters:
    ///   - ticket: The number of the request; a write of a request from before ``clear(_:before:)``
    ///     is discarded, and `onEnd` is called with an error.
    ///   - onEnd: Called when the write has ended, from any thread, with its error if it failed. A
    ///     replaced write ends with the write that replaced it.
    /// - Returns: False if the queue is full; the caller should then wait for ``flush()``.
    @discardableResult
    package func enqueue(
        _ operation: Operation, for key: CacheKey, in store: any ResponseStore,
        ticket: UInt64 = .max, onEnd: @escaping @Sendable (RequestError?) -> Void = { _ in }
    ) -> Bool {
        let added = state.withLock { state -> (mustDrain: Bool, hasRoom: Bool)? in
            guard ticket >= state.firstTicket else { return nil }
            if case .store(let entry) = operation, !state.cleared.isEmpty {
                let info = StoredEntryInfo(key: key, entry: entry)
                let isCleared = state.cleared.contains {
                    ticket < $0.before && $0.selection.contains(info)
                }
                if isCleared { return nil }
            }
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
        guard let added else {
            onEnd(Self.wasCleared)
            return true
        }
        if added.mustDrain { Task.detached { await self.drain() } }
        return added.hasRoom
    }

    private static var wasCleared: RequestError {
        RequestError(
            .storeFailed, stage: .cache,
            "The response was not stored: the cache was cleared after the request had started.")
    }

    /// Queues a write and waits for its end; returns its error if it failed.
    package func write(
        _ operation: Operation, for key: CacheKey, in store: any ResponseStore,
        ticket: UInt64 = .max
    ) async -> RequestError? {
        await withCheckedContinuation { continuation in
            enqueue(operation, for: key, in: store, ticket: ticket) {
                continuation.resume(returning: $0)
            }
        }
    }

    /// Waits until the queue is empty, or the calling Swift task is cancelled.
    package func flush() async {
        await Waiter.wait { waiter in
            state.withLock { state in
                if state.isDraining { state.waiters.append(waiter) }
                return state.isDraining
            }
        } leave: { waiter in
            state.withLock { $0.waiters.removeAll { $0 === waiter } }
        }
    }

    private func drain() async {
        while let item = takeNext() {
            var failure: RequestError?
            var count = 0
            do throws(RequestError) {
                switch item {
                case .write(let write, let key):
                    if case .store(let entry) = write.operation {
                        try await write.store.storeInParts(entry, for: key)
                    } else {
                        try await write.store.remove(key)
                    }
                case .removal(let removal): try await removal.store.removeAll(where: nil)
                case .selected(let removal):
                    count = try await removal.store.removeAll(matching: removal.selection)
                }
            } catch { failure = error }
            for end in ended(item) { end(failure) }
            if case .selected(let removal) = item {
                removal.onEnd(failure.map { .failure($0) } ?? .success(count))
            }
        }
    }

    /// Forgets an item that was performed; returns its closures.
    private func ended(_ item: Item) -> [@Sendable (RequestError?) -> Void] {
        state.withLock { state in
            switch item {
            case .removal(let removal):
                state.isRemoving = false
                return removal.onEnd
            case .selected(let removal):
                state.selected.removeAll { $0.serial == removal.serial }
                return []
            case .write(let write, let key):
                // Keep a write for the same key that was queued meanwhile.
                if let latest = state.writes[key], latest.serial == write.serial {
                    state.bytes -= latest.size
                    state.writes[key] = nil
                }
                return write.onEnd
            }
        }
    }

    /// The next item; if there is none, resumes the callers of ``flush()`` and returns `nil`.
    private func takeNext() -> Item? {
        let (next, waiters) = state.withLock {
            state -> (Item?, [Waiter]) in
            if let removal = state.removal.take() {
                state.isRemoving = true
                return (.removal(removal), [])
            }
            if let removal = state.selected.first { return (.selected(removal), []) }
            while !state.order.isEmpty {
                let key = state.order.removeFirst()
                guard let write = state.writes[key] else { continue }
                state.writes[key]?.isUnderWay = true
                return (.write(write, for: key), [])
            }
            state.isDraining = false
            defer { state.waiters = [] }
            return (nil, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return next
    }
}
