import Testing

@testable import ErrandCore

@Suite struct WaitingLineTests {
    @Test func urgentFirstThenInOrderOfArrival() {
        var line = WaitingLine()
        line.insert(1, priority: .normal)
        line.insert(2, priority: .low)
        line.insert(3, priority: .high)
        line.insert(4, priority: .normal)
        line.insert(5, priority: .high)
        #expect(drain(&line) == [3, 5, 1, 4, 2])
    }

    @Test func aTicketThatLeftIsPassedOver() {
        var line = WaitingLine()
        for ticket in 1...5 { line.insert(UInt64(ticket), priority: .normal) }
        line.remove(1)
        line.remove(4)
        #expect(line.count == 3)
        #expect(drain(&line) == [2, 3, 5])
        #expect(line.isEmpty)
    }

    @Test func agreesWithASortOverRandomLines() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            var line = WaitingLine()
            var expected: [(RequestPriority, UInt64)] = []
            for ticket in 0..<UInt64.random(in: 0...60, using: &random) {
                let priority = RequestPriority.allCases.randomElement(using: &random) ?? .normal
                line.insert(ticket, priority: priority)
                expected.append((priority, ticket))
            }
            expected.removeAll { entry in
                guard Bool.random(using: &random) else { return false }
                line.remove(entry.1)
                return true
            }
            expected.sort { ($1.0, $0.1) < ($0.0, $1.1) }
            #expect(drain(&line) == expected.map(\.1))
        }
    }

    private func drain(_ line: inout WaitingLine) -> [UInt64] {
        var tickets: [UInt64] = []
        while let ticket = line.popFirst() { tickets.append(ticket) }
        return tickets
    }
}

/// SplitMix64: the same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
