package import Foundation

/// The entries of an outbox and what to do about them: a pure machine.
///
/// Entries to one origin stand in one lane and go one after another, in the order in which they were added; lanes do
/// not wait for each other. What is set aside stands in no lane.
package struct OutboxQueue: Sendable {
    private enum Work {
        case none
        /// The first entry is on its way.
        case sending
        /// What became of it is not in the store yet: whoever followed now would find the old state there.
        case writing
    }

    private struct Lane {
        /// In order.
        var entries: [OutboxEntry] = []
        var work = Work.none
        /// How often in a row the lane failed.
        var failures = 0
        var blockedUntil: Duration?
        /// What it is blocked by is another outbox.
        var isElsewhere = false
    }

    /// What has to be done to the store.
    package enum Change: Sendable, Equatable {
        case nothing
        case remove
        case update(OutboxEntry)
    }

    private var lanes: [String: Lane] = [:]
    private var setAside: [UUID: OutboxEntry] = [:]

    package init() {}

    /// Everything, in order.
    package var entries: [OutboxEntry] {
        (lanes.values.flatMap(\.entries) + setAside.values).sorted { $0.sequence < $1.sequence }
    }

    package var waiting: Int { lanes.values.reduce(0) { $0 + $1.entries.count } }

    /// Takes an entry that the store has.
    package mutating func add(_ entry: OutboxEntry) {
        if entry.isSetAside {
            setAside[entry.id] = entry
            return
        }
        var lane = lanes[entry.lane] ?? Lane()
        // Two that were added at once may come in the other order; what is under way stays first.
        var place = lane.entries.endIndex
        while place > (lane.work == .sending ? 1 : 0),
            lane.entries[place - 1].sequence > entry.sequence
        {
            place -= 1
        }
        lane.entries.insert(entry, at: place)
        lanes[entry.lane] = lane
    }

    /// Takes up what another outbox has done to the store; returns whether anything is to be sent in another order.
    ///
    /// What is missing is not forgotten: it may be on its way into the store.
    ///
    /// - Parameter busy: What stays as it is: it is under way, or its change is being written.
    package mutating func merge(_ stored: [OutboxEntry], except busy: Set<UUID> = []) -> Bool {
        var hasChanged = false
        for entry in stored where !busy.contains(entry.id) {
            let place = lanes[entry.lane]?.entries.firstIndex { $0.id == entry.id }
            if place == nil, entry.isSetAside {
                setAside[entry.id] = entry
                continue
            }
            if let place, !entry.isSetAside {
                lanes[entry.lane]?.entries[place] = entry
                continue
            }
            remove(entry.id)
            add(entry)
            if lanes[entry.lane]?.isElsewhere == true { lanes[entry.lane]?.blockedUntil = nil }
            hasChanged = true
        }
        return hasChanged
    }

    /// The next entry to send, marked as under way; the caller asks until there is none.
    package mutating func next(now: Duration) -> OutboxEntry? {
        let ready = lanes.filter { _, lane in
            lane.work == .none && !lane.entries.isEmpty && (lane.blockedUntil ?? now) <= now
        }
        let first = ready.min {
            ($0.value.entries.first?.sequence ?? 0) < ($1.value.entries.first?.sequence ?? 0)
        }
        guard let name = first?.key else { return nil }
        lanes[name]?.work = .sending
        return lanes[name]?.entries.first
    }

    /// When there will be something to send again, if nothing ends before.
    package var wakesAt: Duration? {
        lanes.values.filter { $0.work == .none && !$0.entries.isEmpty }.compactMap(\.blockedUntil)
            .min()
    }

    /// An attempt at an entry is over; nobody follows it before its change is ``written(_:)``.
    package mutating func ended(
        _ entry: OutboxEntry, _ verdict: OutboxVerdict, reason: String?, policy: OutboxPolicy,
        now: Duration
    ) -> Change {
        guard var lane = lanes[entry.lane], lane.work == .sending else { return .nothing }
        (lane.work, lane.isElsewhere) = (.writing, false)
        defer { keep(lane, entry.lane) }
        // It may have been removed while it was under way.
        let isThere = lane.entries.first?.id == entry.id
        var changed = lane.entries.first ?? entry
        changed.lastFailure = reason
        switch verdict {
        case .delivered:
            (lane.failures, lane.blockedUntil) = (0, nil)
            if isThere { lane.entries.removeFirst() }
            return .remove
        case .stopped:
            // Whoever stops all requests, or shuts the agent down, is not answered with the same one at once.
            lane.failures += 1
            lane.blockedUntil = now + policy.pause(after: lane.failures, asked: nil)
            return .nothing
        case .elsewhere(let pause):
            lane.blockedUntil = now + pause
            lane.isElsewhere = true
            return .nothing
        case .gone:
            if isThere { lane.entries.removeFirst() }
            return .nothing
        case .unreachable:
            lane.failures += 1
            lane.blockedUntil = now + policy.pause(after: lane.failures, asked: nil)
            if isThere { lane.entries[0] = changed }
            return isThere ? .update(changed) : .nothing
        case .refused(let asked):
            lane.failures += 1
            lane.blockedUntil = now + policy.pause(after: lane.failures, asked: asked)
            guard isThere else { return .nothing }
            changed.refusals += 1
            guard changed.refusals < policy.maximumRefusals else {
                return putAside(changed, &lane)
            }
            lane.entries[0] = changed
            return .update(changed)
        case .hopeless:
            (lane.failures, lane.blockedUntil) = (0, nil)
            return isThere ? putAside(changed, &lane) : .nothing
        }
    }

    /// The store has what became of an entry, or has failed; the next one may go.
    package mutating func written(_ entry: OutboxEntry) {
        guard var lane = lanes[entry.lane], lane.work == .writing else { return }
        lane.work = .none
        keep(lane, entry.lane)
    }

    /// Somebody believes that hosts are back: nobody waits any longer.
    package mutating func wake() {
        lanes = lanes.mapValues { lane in
            var lane = lane
            (lane.failures, lane.blockedUntil) = (0, nil)
            return lane
        }
    }

    /// Takes an entry out; what is under way is not called back.
    package mutating func remove(_ id: UUID) {
        setAside[id] = nil
        for (name, lane) in lanes {
            guard let place = lane.entries.firstIndex(where: { $0.id == id }) else { continue }
            var lane = lane
            lane.entries.remove(at: place)
            keep(lane, name)
        }
    }

    /// An entry that was set aside as it will be when it is put back.
    package func retried(_ id: UUID) -> OutboxEntry? {
        guard var entry = setAside[id] else { return nil }
        entry.isSetAside = false
        entry.refusals = 0
        return entry
    }

    /// Puts an entry that was set aside back where it belongs; returns it as the store should have it.
    @discardableResult
    package mutating func retry(_ id: UUID) -> OutboxEntry? {
        guard let entry = retried(id) else { return nil }
        setAside[id] = nil
        add(entry)
        return entry
    }

    private mutating func putAside(_ entry: OutboxEntry, _ lane: inout Lane) -> Change {
        var entry = entry
        entry.isSetAside = true
        lane.entries.removeFirst()
        setAside[entry.id] = entry
        return .update(entry)
    }

    private mutating func keep(_ lane: Lane, _ name: String) {
        lanes[name] = lane.entries.isEmpty && lane.work == .none ? nil : lane
    }
}
