package import Foundation

/// The entries of an outbox and what to do about them: a pure machine.
///
/// Entries to one origin stand in one lane and go one after another, in the order in which they were added; lanes do
/// not wait for each other. What is set aside stands in no lane. Each operation takes the logarithm of the number of
/// lanes at most, however many entries there are.
package struct OutboxQueue: Sendable {
    private enum Work {
        case none
        /// The first entry is on its way.
        case sending
        /// What became of it is not in the store yet: whoever followed now would find the old state there.
        case writing
    }

    private struct Lane {
        /// In order; who is missing in `all`, or set aside there, has gone.
        var line = OutboxLine()
        var count = 0
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

    private var all: [UUID: OutboxEntry] = [:]
    private var lanes: [String: Lane] = [:]
    /// Lanes that may go, by the sequence of their first entry.
    private var ready = RankedHeap<String, Int64>()
    /// Lanes that wait, by the time until which they do.
    private var blocked = RankedHeap<String, Duration>()
    /// How many are to be sent.
    package private(set) var waiting = 0
    /// How many bytes all entries have.
    package private(set) var bytes = 0

    package init() {}

    /// Everything, in order.
    package var entries: [OutboxEntry] { all.values.sorted { $0.sequence < $1.sequence } }

    /// How many there are, those that were set aside included.
    package var count: Int { all.count }

    package func contains(_ id: UUID) -> Bool { all[id] != nil }

    /// Takes an entry that the store has.
    package mutating func add(_ entry: OutboxEntry) {
        remove(entry.id)
        all[entry.id] = entry
        bytes += entry.size
        if !entry.isSetAside { enter(entry) }
    }

    /// Takes up what another outbox has done to the store; returns whether anything is to be sent in another order.
    ///
    /// What is missing is not forgotten: it may be on its way into the store.
    ///
    /// - Parameter busy: What stays as it is: it is under way, or its change is being written.
    package mutating func merge(_ stored: [OutboxEntry], except busy: Set<UUID> = []) -> Bool {
        var hasChanged = false
        for entry in stored where !busy.contains(entry.id) {
            let wasWaiting = all[entry.id].map { !$0.isSetAside } ?? false
            if wasWaiting, !entry.isSetAside {
                replace(entry)
                continue
            }
            add(entry)
            guard wasWaiting || !entry.isSetAside else { continue }
            if lanes[entry.lane]?.isElsewhere == true {
                lanes[entry.lane]?.blockedUntil = nil
                settle(entry.lane)
            }
            hasChanged = true
        }
        return hasChanged
    }

    /// The next entry to send, marked as under way; the caller asks until there is none.
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

    /// When there will be something to send again, if nothing ends before.
    package var wakesAt: Duration? { blocked.first?.rank }

    /// An attempt at an entry is over; nobody follows it before its change is ``written(_:)``.
    package mutating func ended(
        _ entry: OutboxEntry, _ verdict: OutboxVerdict, reason: String?, policy: OutboxPolicy,
        now: Duration
    ) -> Change {
        let name = entry.lane
        guard var lane = lanes[name], lane.work == .sending else { return .nothing }
        let first = first(of: name)
        // It may have been removed while it was under way.
        let isThere = first?.id == entry.id
        var changed = first ?? entry
        changed.lastFailure = reason
        (lane.work, lane.isElsewhere) = (.writing, false)
        var change = Change.nothing
        switch verdict {
        case .delivered: change = .remove
        case .hopeless: change = isThere ? .update(aside(changed)) : .nothing
        case .unreachable: change = isThere ? .update(changed) : .nothing
        case .refused where isThere:
            changed.refusals += 1
            let isEnough = changed.refusals >= policy.maximumRefusals
            change = .update(isEnough ? aside(changed) : changed)
        case .refused, .stopped, .elsewhere, .gone: break
        }
        switch verdict {
        case .delivered, .hopeless: (lane.failures, lane.blockedUntil) = (0, nil)
        case .unreachable, .stopped, .refused:
            // Whoever stops all requests, or shuts the agent down, is not answered with the same one at once.
            lane.failures += 1
            lane.blockedUntil = now + policy.pause(after: lane.failures, asked: verdict.asked)
        case .elsewhere(let pause):
            (lane.blockedUntil, lane.isElsewhere) = (now + pause, true)
        case .gone: break
        }
        lanes[name] = lane
        if isThere, verdict == .delivered || verdict == .gone { remove(entry.id) }
        if case .update(let changed) = change { replace(changed) }
        settle(name)
        return change
    }

    /// The store has what became of an entry, or has failed; the next one may go.
    package mutating func written(_ entry: OutboxEntry) {
        let name = entry.lane
        guard lanes[name]?.work == .writing else { return }
        lanes[name]?.work = .none
        settle(name)
    }

    /// Somebody believes that hosts are back: nobody waits any longer.
    package mutating func wake() {
        for name in Array(lanes.keys) {
            lanes[name]?.failures = 0
            lanes[name]?.blockedUntil = nil
            settle(name)
        }
    }

    /// Takes an entry out; what is under way is not called back.
    package mutating func remove(_ id: UUID) {
        guard let entry = all.removeValue(forKey: id) else { return }
        bytes -= entry.size
        if !entry.isSetAside { leave(entry) }
    }

    /// An entry that was set aside as it will be when it is put back.
    package func retried(_ id: UUID) -> OutboxEntry? {
        guard var entry = all[id], entry.isSetAside else { return nil }
        entry.isSetAside = false
        entry.refusals = 0
        return entry
    }

    /// Puts an entry that was set aside back where it belongs; returns it as the store should have it.
    @discardableResult
    package mutating func retry(_ id: UUID) -> OutboxEntry? {
        guard let entry = retried(id) else { return nil }
        add(entry)
        return entry
    }

    private func aside(_ entry: OutboxEntry) -> OutboxEntry {
        var entry = entry
        entry.isSetAside = true
        return entry
    }

    /// Takes a new state of an entry that waits; it keeps its place, unless it is set aside.
    private mutating func replace(_ entry: OutboxEntry) {
        bytes += entry.size - (all[entry.id]?.size ?? 0)
        all[entry.id] = entry
        if entry.isSetAside { leave(entry) }
    }

    private mutating func enter(_ entry: OutboxEntry) {
        let name = entry.lane
        let isSending = lanes[name]?.work == .sending
        waiting += 1
        // In place: a copy of the lane would be one of its whole line.
        lanes[name, default: Lane()].count += 1
        lanes[name]?.line.insert(
            entry.id, sequence: entry.sequence, isBehindFirst: isSending)
        settle(name)
    }

    /// An entry of a lane has gone; its place goes when it is its turn.
    private mutating func leave(_ entry: OutboxEntry) {
        let name = entry.lane
        waiting -= 1
        lanes[name]?.count -= 1
        settle(name)
    }

    private mutating func first(of name: String) -> OutboxEntry? {
        let all = all
        return lanes[name]?.line.first { all[$0]?.isSetAside == false }.flatMap { all[$0] }
    }

    /// Puts a lane where it belongs: to those that may go, to those that wait, or to neither.
    private mutating func settle(_ name: String) {
        guard let lane = lanes[name] else { return }
        ready.remove(name)
        blocked.remove(name)
        if lane.count == 0, lane.work == .none {
            lanes[name] = nil
            return
        }
        if lane.line.count > 2 * lane.count + 64 {
            let all = all
            lanes[name]?.line.compact { all[$0]?.isSetAside == false }
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
    /// The pause that a server asked for.
    fileprivate var asked: Duration? {
        if case .refused(let asked) = self { asked } else { nil }
    }
}
