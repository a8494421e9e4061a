/// Tickets in order of urgency: an indexed binary heap, O(log n) in, out, and when a priority changes.
///
/// Priority is a head start, no caste: a step of it is worth so many places, so that a flood of urgent requests
/// passes a patient one by that much and no more.
package struct WaitingLine: Sendable {
    /// How many later arrivals of normal priority one of high priority passes.
    package static let headStart: Int64 = 1024

    private struct Entry {
        var rank: Int64
        var ticket: UInt64

        func goesBefore(_ other: Entry) -> Bool { (rank, ticket) < (other.rank, other.ticket) }
    }

    private var heap: [Entry] = []
    private var positions: [UInt64: Int] = [:]

    package init() {}

    package var isEmpty: Bool { heap.isEmpty }
    package var count: Int { heap.count }

    /// Where the first in line stands compared with the first of another line.
    package var firstRank: (rank: Int64, ticket: UInt64)? {
        heap.first.map { ($0.rank, $0.ticket) }
    }

    package mutating func insert(_ ticket: UInt64, priority: RequestPriority) {
        guard positions[ticket] == nil else { return }
        heap.append(Entry(rank: Self.rank(ticket, priority), ticket: ticket))
        positions[ticket] = heap.count - 1
        rise(heap.count - 1)
    }

    /// Takes a ticket out, wherever it stands; false when it does not stand here.
    @discardableResult
    package mutating func remove(_ ticket: UInt64) -> Bool {
        guard let index = positions[ticket] else { return false }
        removeEntry(at: index)
        return true
    }

    package mutating func setPriority(_ priority: RequestPriority, of ticket: UInt64) {
        guard let index = positions[ticket] else { return }
        heap[index].rank = Self.rank(ticket, priority)
        rise(index)
        if let now = positions[ticket] { sink(now) }
    }

    package mutating func popFirst() -> UInt64? {
        guard let first = heap.first else { return nil }
        removeEntry(at: 0)
        return first.ticket
    }

    private static func rank(_ ticket: UInt64, _ priority: RequestPriority) -> Int64 {
        Int64(truncatingIfNeeded: ticket) - Int64(priority.rawValue) * headStart
            / Int64(RequestPriority.high.rawValue)
    }

    private mutating func removeEntry(at index: Int) {
        positions[heap[index].ticket] = nil
        let last = heap.removeLast()
        guard index < heap.count else { return }
        heap[index] = last
        positions[last.ticket] = index
        rise(index)
        if let now = positions[last.ticket] { sink(now) }
    }

    private mutating func rise(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].goesBefore(heap[parent]) else { return }
            swap(child, parent)
            child = parent
        }
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            var best = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].goesBefore(heap[best]) { best = child }
            }
            guard best != parent else { return }
            swap(parent, best)
            parent = best
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        heap.swapAt(one, other)
        positions[heap[one].ticket] = one
        positions[heap[other].ticket] = other
    }
}
