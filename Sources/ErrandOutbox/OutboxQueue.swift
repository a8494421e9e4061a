package import ErrandSystem

/// The entries of an outbox and the order in which they are sent: a pure state machine.
///
/// The entries to one origin form a lane and are sent one after another, in the order in which they
/// were added. Lanes do not wait for each other. Parked entries are in no lane. An operation takes
/// at most logarithmic time in the number of lanes, whatever the number of entries.
package struct OutboxQueue: Sendable {
    private enum Work {
        case none
        /// The first entry is being sent.
        case sending
        /// The result of the first entry is being stored; the next entry waits until it is.
        case writing
    }

    private struct Lane {
        /// The entries in order; an entry that is missing or parked in `all` has been removed.
        var order = OutboxOriginQueue()
        /// The number of entries to send.
        var count = 0
        var work = Work.none
        /// The number of consecutive failures.
        var failures = 0
        var blockedUntil: Duration?
        /// Whether the lane is blocked because another outbox sends to the origin.
        var isLeasedElsewhere = false
    }

    /// The change of the store that results from an attempt.
    package enum Change: Sendable, Equatable {
        case nothing
        case remove
        case update(OutboxEntry)
    }

    private var all: [UUID: OutboxEntry] = [:]
    private var lanes: [String: Lane] = [:]
    /// Lanes that are due, by the sequence of their first entry.
    private var ready = IndexedHeap<String, Int64>()
    /// Lanes that pause, by the time at which the pause ends.
    private var blocked = IndexedHeap<String, Duration>()
    /// The number of entries that are not parked.
    package private(set) var waiting = 0
    /// The size of all entries in bytes.
    package private(set) var bytes = 0

    package init() {}

    /// All entries in order.
    package var entries: [OutboxEntry] { all.values.sorted { $0.sequence < $1.sequence } }

    /// The number of entries, including parked ones.
    package var count: Int { all.count }

    package func contains(_ id: UUID) -> Bool { all[id] != nil }

    /// Adds an entry that is in the store.
    package mutating func add(_ entry: OutboxEntry) {
        remove(entry.id)
        all[entry.id] = entry
        bytes += entry.size
        if !entry.isParked { enter(entry) }
    }

    /// Merges entries that were read from the store, because another outbox may have changed them.
    ///
    /// Entries that are missing in `stored` are kept: they may not be written yet.
    ///
    /// - Parameter busy: Entries that are not changed, because they are being sent or written.
    /// - Returns: Whether the order of sending has changed.
    package mutating func merge(_ stored: [OutboxEntry], except busy: Set<UUID> = []) -> Bool {
        var hasChanged = false
        for entry in stored where !busy.contains(entry.id) {
            let wasWaiting = all[entry.id].map { !$0.isParked } ?? false
            if wasWaiting, !entry.isParked {
                replace(entry)
                continue
            }
            add(entry)
            guard wasWaiting || !entry.isParked else { continue }
            if lanes[entry.lane]?.isLeasedElsewhere == true {
                lanes[entry.lane]?.blockedUntil = nil
                settle(entry.lane)
            }
            hasChanged = true
        }
        return hasChanged
    }

    /// The next entry to send, which is marked as being sent; `nil` if no entry is due.
    package mutating func next(now: Duration) -> OutboxEntry? {
        while let (name, until) = blocked.first, until <= now {
            blocked.remove(name)
            guard let first = first(of: name) else { continue }
            ready.set(first.sequence, for: name)
        }
        guard let name = ready.popFirst(), let first = first(of: name) else { return nil }
        lanes[name]?.work = .sending
        return first
    }

    /// The time at which the first pause ends.
    package var wakesAt: Duration? { blocked.first?.rank }

    /// Records the end of an attempt.
    ///
    /// The next entry of the lane is sent only after ``written(_:)``.
    package mutating func ended(
        _ entry: OutboxEntry, _ verdict: OutboxVerdict, reason: String?, policy: OutboxPolicy,
        now: Duration
    ) -> Change {
        let name = entry.lane
        guard var lane = lanes[name], lane.work == .sending else { return .nothing }
        let first = first(of: name)
        // The entry may have been removed while it was being sent.
        let isThere = first?.id == entry.id
        var changed = first ?? entry
        changed.lastFailure = reason
        (lane.work, lane.isLeasedElsewhere) = (.writing, false)
        var change = Change.nothing
        switch verdict {
        case .delivered: change = .remove
        case .undeliverable: change = isThere ? .update(parked(changed)) : .nothing
        case .unreachable: change = isThere ? .update(changed) : .nothing
        case .refused where isThere:
            changed.refusals += 1
            let isEnough = changed.refusals >= policy.maximumRefusals
            change = .update(isEnough ? parked(changed) : changed)
        case .refused, .stopped, .leasedElsewhere, .gone: break
        }
        switch verdict {
        case .delivered, .undeliverable: (lane.failures, lane.blockedUntil) = (0, nil)
        case .unreachable, .stopped, .refused:
            // Also after `.stopped`: when all requests are cancelled, or the agent is shut down,
            // the entry must not be sent again at once.
            lane.failures += 1
            lane.blockedUntil = now + policy.pause(after: lane.failures, asked: verdict.asked)
        case .leasedElsewhere(let pause):
            (lane.blockedUntil, lane.isLeasedElsewhere) = (now + pause, true)
        case .gone: break
        }
        lanes[name] = lane
        if isThere, verdict == .delivered || verdict == .gone { remove(entry.id) }
        if case .update(let changed) = change { replace(changed) }
        settle(name)
        return change
    }

    /// Records that the change of an entry was stored, or that storing it failed.
    ///
    /// The next entry of the lane may be sent.
    package mutating func written(_ entry: OutboxEntry) {
        let name = entry.lane
        guard lanes[name]?.work == .writing else { return }
        lanes[name]?.work = .none
        settle(name)
    }

    /// Ends the pauses of all lanes.
    package mutating func wake() {
        for name in Array(lanes.keys) {
            lanes[name]?.failures = 0
            lanes[name]?.blockedUntil = nil
            settle(name)
        }
    }

    /// Removes an entry; an attempt in progress is not cancelled.
    package mutating func remove(_ id: UUID) {
        guard let entry = all.removeValue(forKey: id) else { return }
        bytes -= entry.size
        if !entry.isParked { leave(entry) }
    }

    /// A parked entry in the state that it has after a retry; `nil` if it is not parked.
    package func retried(_ id: UUID) -> OutboxEntry? {
        guard var entry = all[id], entry.isParked else { return nil }
        entry.isParked = false
        entry.refusals = 0
        return entry
    }

    /// Returns a parked entry to its position; returns the state to store.
    @discardableResult
    package mutating func retry(_ id: UUID) -> OutboxEntry? {
        guard let entry = retried(id) else { return nil }
        add(entry)
        return entry
    }

    private func parked(_ entry: OutboxEntry) -> OutboxEntry {
        var entry = entry
        entry.isParked = true
        return entry
    }

    /// Updates a waiting entry.
    ///
    /// It keeps its position, unless the new state is parked.
    private mutating func replace(_ entry: OutboxEntry) {
        bytes += entry.size - (all[entry.id]?.size ?? 0)
        all[entry.id] = entry
        if entry.isParked { leave(entry) }
    }

    private mutating func enter(_ entry: OutboxEntry) {
        let name = entry.lane
        let isSending = lanes[name]?.work == .sending
        waiting += 1
        // Changed in place: a copy of the lane would copy its whole array.
        lanes[name, default: Lane()].count += 1
        lanes[name]?.order.insert(
            entry.id, sequence: entry.sequence, keepsFirst: isSending)
        settle(name)
    }

    /// Removes an entry from the count of its lane; its item is dropped when it becomes the first.
    private mutating func leave(_ entry: OutboxEntry) {
        let name = entry.lane
        waiting -= 1
        lanes[name]?.count -= 1
        settle(name)
    }

    private mutating func first(of name: String) -> OutboxEntry? {
        let all = all
        return lanes[name]?.order.first { all[$0]?.isParked == false }.flatMap { all[$0] }
    }

    /// Adds a lane to `ready`, to `blocked` or to neither, according to its state.
    private mutating func settle(_ name: String) {
        guard let lane = lanes[name] else { return }
        ready.remove(name)
        blocked.remove(name)
        if lane.count == 0, lane.work == .none {
            lanes[name] = nil
            return
        }
        if lane.order.count > 2 * lane.count + 64 {
            let all = all
            lanes[name]?.order.compact { all[$0]?.isParked == false }
        }
        guard lane.work == .none, let first = first(of: name) else { return }
        if let until = lane.blockedUntil {
            blocked.set(until, for: name)
        } else {
            ready.set(first.sequence, for: name)
        }
    }
}

extension OutboxVerdict {
    /// The pause that the server requested with `Retry-After`.
    fileprivate var asked: Duration? {
        if case .refused(let asked) = self { asked } else { nil }
    }
}
