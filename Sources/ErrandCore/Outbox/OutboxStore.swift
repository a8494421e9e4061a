public import Foundation
import Synchronization

/// Where an ``Outbox`` keeps its entries.
///
/// What returned without an error is there after the death of the process. One outbox at a time uses a store, unless it is
/// a ``SharedOutboxStore``.
public protocol OutboxStore: Sendable {
    /// Adds an entry behind all others.
    ///
    /// - Returns: The entry with its ``OutboxEntry/sequence``, which is greater than that of any before.
    func append(_ entry: OutboxEntry) async throws(RequestError) -> OutboxEntry

    /// Replaces an entry by its ``OutboxEntry/id``, its body excepted, which never changes; nothing happens where there
    /// is none.
    func update(_ entry: OutboxEntry) async throws(RequestError)

    /// Removes an entry; nothing happens where there is none.
    func remove(_ id: UUID) async throws(RequestError)

    /// All entries in the order of their sequence, with their bodies.
    func entries() async throws(RequestError) -> [OutboxEntry]

    /// The entries behind a sequence, in order, without their bodies where these take memory of their own.
    ///
    /// Default: ``entries()``, without what is not wanted; a store that can read less reads less.
    func outlines(after sequence: Int64) async throws(RequestError) -> [OutboxEntry]

    /// One entry with its body; `nil` where there is none.
    ///
    /// Called before each attempt. Default: looks for it among ``entries()``.
    func entry(_ id: UUID) async throws(RequestError) -> OutboxEntry?
}

extension OutboxStore {
    /// What ``entries()`` has, without bodies.
    public func outlines(
        after sequence: Int64
    ) async throws(RequestError) -> [OutboxEntry] {
        try await entries().filter { $0.sequence > sequence }.map(\.withoutBody)
    }

    /// The entry among all ``entries()``.
    public func entry(_ id: UUID) async throws(RequestError) -> OutboxEntry? {
        try await entries().first { $0.id == id }
    }
}

/// A store that several outboxes use at once, also in different processes: each entry is sent by the one that has its lease.
///
/// For example a table that an app and its extension share. ``OutboxClaim/decide(_:lease:among:)`` is what to do within the
/// transaction of a claim.
public protocol SharedOutboxStore: OutboxStore {
    /// Asks for the right to send an entry, or to go on with that, and writes it down where it is granted: both or neither.
    ///
    /// - Parameters:
    ///   - id: The entry.
    ///   - lease: By whom, from now, until when.
    func claim(_ id: UUID, lease: OutboxLease) async throws(RequestError) -> OutboxClaim

    /// Gives a lease back before it lapses; nothing happens where the owner has none.
    func release(_ id: UUID, by owner: UUID) async throws(RequestError)

    /// The entries behind a sequence, in order, with their bodies.
    func entries(after sequence: Int64) async throws(RequestError) -> [OutboxEntry]
}

/// Entries in memory, for one outbox: for tests, and for what need not outlive the process.
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

    /// The entries behind a sequence; with their bodies, which are in memory only once.
    public func outlines(
        after sequence: Int64
    ) async throws(RequestError) -> [OutboxEntry] {
        try await entries().filter { $0.sequence > sequence }
    }

    /// One entry.
    public func entry(_ id: UUID) async throws(RequestError) -> OutboxEntry? {
        state.withLock { $0.entries[id] }
    }
}
