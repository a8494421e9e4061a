public import Foundation
import Synchronization

/// Where an ``Outbox`` keeps its entries.
///
/// What returned without an error is there after the death of the process. One outbox at a time uses a store.
public protocol OutboxStore: Sendable {
    /// Adds an entry behind all others.
    ///
    /// - Returns: The entry with its ``OutboxEntry/sequence``, which is greater than that of any before.
    func append(_ entry: OutboxEntry) async throws(RequestError) -> OutboxEntry

    /// Replaces an entry by its ``OutboxEntry/id``; nothing happens where there is none.
    func update(_ entry: OutboxEntry) async throws(RequestError)

    /// Removes an entry; nothing happens where there is none.
    func remove(_ id: UUID) async throws(RequestError)

    /// All entries in the order of their sequence.
    func entries() async throws(RequestError) -> [OutboxEntry]
}

/// Entries in memory: for tests, and for what need not outlive the process.
public final class MemoryOutboxStore: OutboxStore {
    private struct State {
        var entries: [UUID: OutboxEntry] = [:]
        var last: Int64 = 0
    }

    private let state = Mutex(State())

    /// Makes a store without entries.
    public init() {}

    /// Adds an entry behind all others.
    public func append(_ entry: OutboxEntry) async throws(RequestError) -> OutboxEntry {
        state.withLock { state in
            state.last += 1
            var entry = entry
            entry.sequence = state.last
            state.entries[entry.id] = entry
            return entry
        }
    }

    /// Replaces an entry.
    public func update(_ entry: OutboxEntry) async throws(RequestError) {
        state.withLock { state in
            if state.entries[entry.id] != nil { state.entries[entry.id] = entry }
        }
    }

    /// Removes an entry.
    public func remove(_ id: UUID) async throws(RequestError) {
        state.withLock { $0.entries[id] = nil }
    }

    /// All entries in order.
    public func entries() async throws(RequestError) -> [OutboxEntry] {
        state.withLock { $0.entries.values.sorted { $0.sequence < $1.sequence } }
    }
}
