import ErrandHTTP
import TestSupport
import Testing

@testable import ErrandCore

@Suite struct WaitQueueTests {
    @Test func higherPrioritiesFirstThenInOrderOfArrival() {
        var queue = WaitQueue()
        queue.insert(1, priority: .normal)
        queue.insert(2, priority: .low)
        queue.insert(3, priority: .high)
        queue.insert(4, priority: .normal)
        queue.insert(5, priority: .high)
        #expect(drain(&queue) == [3, 5, 1, 4, 2])
    }

    @Test func removedTicketsAreSkipped() {
        var queue = WaitQueue()
        for ticket in 1...5 { queue.insert(UInt64(ticket), priority: .normal) }
        queue.remove(1)
        queue.remove(4)
        #expect(queue.count == 3)
        #expect(drain(&queue) == [2, 3, 5])
        #expect(queue.isEmpty)
    }

    @Test func matchesASortOverRandomQueues() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var queue = WaitQueue()
            var expected: [(RequestPriority, UInt64)] = []
            for ticket in 0..<UInt64.random(in: 0...60, using: &random) {
                let priority = RequestPriority.allCases.randomElement(using: &random) ?? .normal
                queue.insert(ticket, priority: priority)
                expected.append((priority, ticket))
            }
            expected.removeAll { entry in
                guard Bool.random(using: &random) else { return false }
                queue.remove(entry.1)
                return true
            }
            expected.sort { ($1.0, $0.1) < ($0.0, $1.1) }
            #expect(drain(&queue) == expected.map(\.1))
        }
    }

    private func drain(_ queue: inout WaitQueue) -> [UInt64] {
        var tickets: [UInt64] = []
        while let ticket = queue.popFirst() { tickets.append(ticket) }
        return tickets
    }
}
