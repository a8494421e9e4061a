/// Tickets in order of priority, then of arrival: a binary heap, O(log n) in and out.
package struct WaitingLine: Sendable {
    private struct Entry {
        var priority: RequestPriority
        var ticket: UInt64

        func goesBefore(_ other: Entry) -> Bool {
            priority != other.priority ? priority > other.priority : ticket < other.ticket
        }
    }

    private var heap: [Entry] = []
    private var live: Set<UInt64> = []

    package init() {}

    package var isEmpty: Bool { live.isEmpty }
    package var count: Int { live.count }

    package mutating func insert(_ ticket: UInt64, priority: RequestPriority) {
        guard live.insert(ticket).inserted else { return }
        heap.append(Entry(priority: priority, ticket: ticket))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].goesBefore(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Forgets a ticket; its entry leaves the heap when it comes to the top.
    package mutating func remove(_ ticket: UInt64) {
        live.remove(ticket)
        if live.isEmpty { heap.removeAll() }
    }

    package mutating func popFirst() -> UInt64? {
        while let first = popTop() {
            if live.remove(first.ticket) != nil { return first.ticket }
        }
        return nil
    }

    private mutating func popTop() -> Entry? {
        guard let top = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return top }
        heap[0] = last
        var parent = 0
        while true {
            var best = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].goesBefore(heap[best]) { best = child }
            }
            guard best != parent else { return top }
            heap.swapAt(parent, best)
            parent = best
        }
    }
}
