public import Foundation

/// The right of one ``Outbox`` to send an entry, for a while: nobody else sends to the same origin meanwhile.
///
/// It is renewed while the entry is under way. Whoever dies with it gives it back by letting it lapse.
public struct OutboxLease: Sendable, Hashable {
    /// The outbox; another one at each start of the process.
    public var owner: UUID
    /// When it was taken, or renewed.
    public var takenAt: Date
    /// When it lapses.
    public var expiresAt: Date

    /// Makes a lease.
    public init(owner: UUID, takenAt: Date, expiresAt: Date) {
        self.owner = owner
        self.takenAt = takenAt
        self.expiresAt = expiresAt
    }

    /// Whether it counts.
    ///
    /// One from the future does not: the clock was put back, and nobody would know for how long to wait.
    public func holds(at now: Date) -> Bool {
        let duration = expiresAt.timeIntervalSince(takenAt)
        return now < expiresAt && takenAt.timeIntervalSince(now) <= duration
    }
}

/// An entry's place among those that go to the same origin, as a store has it.
public struct OutboxPlace: Sendable, Hashable {
    /// The entry's ``OutboxEntry/id``.
    public var id: UUID
    /// The entry's ``OutboxEntry/sequence``.
    public var sequence: Int64
    /// Whether it was set aside.
    public var isSetAside: Bool
    /// Who was last allowed to send it, if nobody gave that back.
    public var lease: OutboxLease?

    /// Makes a place.
    public init(id: UUID, sequence: Int64, isSetAside: Bool, lease: OutboxLease? = nil) {
        self.id = id
        self.sequence = sequence
        self.isSetAside = isSetAside
        self.lease = lease
    }
}

/// What a store says to an outbox that wants to send an entry.
public enum OutboxClaim: Sendable, Hashable {
    /// It has the lease.
    case granted
    /// Another outbox is sending to this origin, until this moment unless it renews.
    case taken(until: Date)
    /// Something else goes first, or the entry was set aside by another outbox: read the store again.
    case outdated
    /// The entry was delivered or removed by another outbox.
    case gone

    /// Decides about a claim: a pure function, for the transaction of a store.
    ///
    /// - Parameters:
    ///   - id: The entry that somebody wants to send.
    ///   - lease: What they ask for; its ``OutboxLease/takenAt`` is now.
    ///   - places: Of the entries to the same origin the entry itself, the first that is not set aside, and all with
    ///     a lease; others do no harm.
    public static func decide(
        _ id: UUID, lease: OutboxLease, among places: [OutboxPlace]
    ) -> OutboxClaim {
        let now = lease.takenAt
        guard let own = places.first(where: { $0.id == id }) else { return .gone }
        if own.isSetAside { return .outdated }
        let others = places.compactMap(\.lease).filter {
            $0.owner != lease.owner && $0.holds(at: now)
        }
        if let last = others.map(\.expiresAt).max() { return .taken(until: last) }
        // What is under way stays in front of what was put back before it.
        if own.lease?.owner == lease.owner { return .granted }
        let isFirst = places.allSatisfy { $0.isSetAside || $0.sequence >= own.sequence }
        return isFirst ? .granted : .outdated
    }
}
