public import ErrandSystem

/// The temporary right of one ``Outbox`` to send an entry.
///
/// Other outboxes do not send to the same origin meanwhile.
///
/// The outbox renews the lease while it sends the entry. If its process ends, the lease expires.
public struct OutboxLease: Sendable, Hashable {
    /// Identifies the outbox; each ``Outbox`` object has its own value.
    public var owner: UUID
    /// The time at which the lease was taken or renewed.
    public var takenAt: Date
    /// The time at which the lease expires.
    public var expiresAt: Date

    /// Creates a lease.
    public init(owner: UUID, takenAt: Date, expiresAt: Date) {
        self.owner = owner
        self.takenAt = takenAt
        self.expiresAt = expiresAt
    }

    /// Whether the lease is valid.
    ///
    /// A lease from the future is not: the clock was set back, so its real expiry is unknown.
    public func holds(at now: Date) -> Bool {
        let duration = expiresAt.timeIntervalSince(takenAt)
        return now < expiresAt && takenAt.timeIntervalSince(now) <= duration
    }
}

/// The position and the lease of an entry among the entries to the same origin.
public struct OutboxPosition: Sendable, Hashable {
    /// The entry's ``OutboxEntry/id``.
    public var id: UUID
    /// The entry's ``OutboxEntry/sequence``.
    public var sequence: Int64
    /// Whether the entry is parked.
    public var isParked: Bool
    /// The last lease of the entry, which may have expired; `nil` if it was released.
    public var lease: OutboxLease?

    /// Creates a position.
    public init(id: UUID, sequence: Int64, isParked: Bool, lease: OutboxLease? = nil) {
        self.id = id
        self.sequence = sequence
        self.isParked = isParked
        self.lease = lease
    }
}

/// The result of a claim: whether an outbox may send an entry.
public enum OutboxClaim: Sendable, Hashable {
    /// The outbox has the lease.
    case granted
    /// Another outbox is sending to this origin; its lease expires at this time unless renewed.
    case taken(until: Date)
    /// Another entry goes first, or another outbox has parked the entry: read the store again.
    case outdated
    /// Another outbox has delivered or removed the entry.
    case gone

    /// Decides about a claim: a pure function, for the transaction of a store.
    ///
    /// - Parameters:
    ///   - id: The entry to send.
    ///   - lease: The requested lease; its ``OutboxLease/takenAt`` is the current time.
    ///   - positions: Of the entries to the same origin: the entry itself, the first entry that is
    ///     not parked, and all entries with a lease. Other entries may be included.
    public static func decide(
        _ id: UUID, lease: OutboxLease, among positions: [OutboxPosition]
    ) -> OutboxClaim {
        let now = lease.takenAt
        guard let own = positions.first(where: { $0.id == id }) else { return .gone }
        if own.isParked { return .outdated }
        let others = positions.compactMap(\.lease).filter {
            $0.owner != lease.owner && $0.holds(at: now)
        }
        if let last = others.map(\.expiresAt).max() { return .taken(until: last) }
        // An entry that is being sent stays first, even if an earlier one was unparked since.
        if own.lease?.owner == lease.owner { return .granted }
        let isFirst = positions.allSatisfy { $0.isParked || $0.sequence >= own.sequence }
        return isFirst ? .granted : .outdated
    }
}
