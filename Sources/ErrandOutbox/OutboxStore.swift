public import ErrandSystem
import Synchronization

/// Stores the entries of an ``Outbox``.
///
/// A change whose method has returned without an error must survive the end of the process. Only
/// one outbox at a time may use a store that is not a ``SharedOutboxStore``.
public protocol OutboxStore: Sendable {
    /// Adds an entry after all others.
    ///
    /// - Returns: The entry with its ``OutboxEntry/sequence``, which is greater than all before.
    func append(_ entry: OutboxEntry) async throws(RequestError) -> OutboxEntry

    /// Replaces the entry with the same ``OutboxEntry/id``, except its body, which never changes;
    /// does nothing if there is none.
    func update(_ entry: OutboxEntry) async throws(RequestError)

    /// Removes an entry; does nothing if there is none.
    func remove(_ id: UUID) async throws(RequestError)

    /// All entries in the order of their sequence, with their bodies.
    func entries() async throws(RequestError) -> [OutboxEntry]

    /// The entries after a sequence, in order, without their bodies; a store in memory may include
    /// these.
    ///
    /// Default: filters ``entries()``. A store with many entries should read only the entries
    /// needed.
    func outlines(after sequence: Int64) async throws(RequestError) -> [OutboxEntry]

    /// One entry with its body; `nil` if there is none.
    ///
    /// Called before each attempt. Default: searches ``entries()``.
    func entry(_ id: UUID) async throws(RequestError) -> OutboxEntry?
}

extension OutboxStore {
    /// Filters ``entries()`` and removes the bodies.
    public func outlines(
        after sequence: Int64
    ) async throws(RequestError) -> [OutboxEntry] {
        try await entries().filter { $0.sequence > sequence }.map(\.withoutBody)
    }

    /// Searches ``entries()`` for the entry.
    public func entry(_ id: UUID) async throws(RequestError) -> OutboxEntry? {
        try await entries().first { $0.id == id }
    }
}

/// A store that several outboxes may use at the same time, also in different processes.
///
/// The outbox that holds the lease of an entry sends it.
///
/// An example is a database that an app and its extension share.
/// ``OutboxClaim/decide(_:lease:among:)`` contains the rules for the transaction of a claim.
public protocol SharedOutboxStore: OutboxStore {
    /// Takes or renews the lease of an entry: decides, and stores a granted lease, in one
    /// transaction.
    ///
    /// - Parameters:
    ///   - id: The entry.
    ///   - lease: The lease to store if it is granted.
    func claim(_ id: UUID, lease: OutboxLease) async throws(RequestError) -> OutboxClaim

    /// Releases a lease before it expires; does nothing if the owner has none.
    func release(_ id: UUID, by owner: UUID) async throws(RequestError)

    /// The entries after a sequence, in order, with their bodies.
    func entries(after sequence: Int64) async throws(RequestError) -> [OutboxEntry]
}

/// Stores entries in memory, for one outbox: for tests, and for requests that may be lost with the
/// process.
public final class MemoryOutboxStore: OutboxStore {
    private struct State {
        var entries: [UUID: OutboxEntry] = [:]
        var last: Int64 = 0
    }

    private let state = Mutex(State())

    /// Creates an empty store.
    public init() {}

    /// Adds an entry after all others.
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

    /// The entries after a sequence, with their bodies, whose bytes are shared and not copied.
    public func outlines(
        after sequence: Int64
    ) async throws(RequestError) -> [OutboxEntry] {
        try await entries().filter { $0.sequence > sequence }
    }

    /// One entry; `nil` if there is none.
    public func entry(_ id: UUID) async throws(RequestError) -> OutboxEntry? {
        state.withLock { $0.entries[id] }
    }
}
