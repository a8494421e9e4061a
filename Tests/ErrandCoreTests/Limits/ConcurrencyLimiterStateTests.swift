import ErrandHTTP
import TestSupport
import Testing

@testable import ErrandCore

@Suite struct ConcurrencyLimiterStateTests {
    private func lane(_ host: String, _ tag: Int? = nil) -> ConcurrencyLimiterState.Lane {
        .init(host: host, tag: tag)
    }

    @Test func fullHostDoesNotBlockAnother() {
        var limiter = ConcurrencyLimiterState()
        limiter.use(RequestLimits(total: 3, perHost: 1))
        expectEqual(limiter.arrive(1, lane: lane("a"), priority: .normal), .enters)
        expectEqual(limiter.arrive(2, lane: lane("a"), priority: .high), .waits)
        expectEqual(limiter.arrive(3, lane: lane("b"), priority: .low), .enters)
        expectEqual(limiter.admit(), nil)
        limiter.leave(lane("a"))
        expectEqual(limiter.admit(), 2)
        expectEqual(limiter.admit(), nil)
    }

    @Test func raisedLimitsAdmitWaitingTickets() {
        var limiter = ConcurrencyLimiterState()
        limiter.use(RequestLimits(total: 1))
        for ticket in 1...4 {
            _ = limiter.arrive(UInt64(ticket), lane: lane("a"), priority: .normal)
        }
        limiter.use(RequestLimits(total: 3))
        let admitted = [limiter.admit(), limiter.admit(), limiter.admit()]
        #expect(admitted == [2, 3, nil])
    }

    @Test func obstacleIsTheLimitThatIsReached() {
        var limiter = ConcurrencyLimiterState()
        limiter.use(RequestLimits(total: 3, perHost: 2, perTag: [7: 1]))
        _ = limiter.arrive(1, lane: lane("a", 7), priority: .normal)
        _ = limiter.arrive(2, lane: lane("b", 7), priority: .normal)
        #expect(limiter.obstacle(of: 1) == nil)
        #expect(limiter.obstacle(of: 2) == .tag(7, 1))
        _ = limiter.arrive(3, lane: lane("a"), priority: .normal)
        _ = limiter.arrive(4, lane: lane("a"), priority: .normal)
        #expect(limiter.obstacle(of: 4) == .host("a", 2))
        _ = limiter.arrive(5, lane: lane("c"), priority: .normal)
        #expect(limiter.obstacle(of: 4) == .total(3))
        // A permit is free, and ticket 4 is about to be admitted.
        limiter.leave(lane("a"))
        #expect(limiter.obstacle(of: 4) == .others)
        #expect(limiter.obstacle(of: 99) == nil)
    }

    @Test func fullQueueRefuses() {
        var limiter = ConcurrencyLimiterState()
        limiter.use(RequestLimits(total: 1, waiting: 1))
        expectEqual(limiter.arrive(1, lane: lane("a"), priority: .normal), .enters)
        expectEqual(limiter.arrive(2, lane: lane("a"), priority: .normal), .waits)
        expectEqual(limiter.arrive(3, lane: lane("a"), priority: .high), .refused)
        let cancels = [limiter.cancel(2), limiter.cancel(2)]
        #expect(cancels == [true, false])
        expectEqual(limiter.arrive(4, lane: lane("a"), priority: .normal), .waits)
    }

    @Test func highPriorityTicketsDoNotStarveALowOne() {
        var queue = WaitQueue()
        queue.insert(1, priority: .low)
        var served = 0
        for ticket in 2...UInt64(10_000) {
            queue.insert(ticket, priority: .high)
            if queue.popFirst() == 1 { break }
            served += 1
        }
        #expect(served > 100 && served <= 2 * Int(WaitRank.headStart))
    }

    @Test func changedPriorityReordersATicket() {
        var limiter = ConcurrencyLimiterState()
        limiter.use(RequestLimits(total: 1))
        for ticket in 1...4 {
            _ = limiter.arrive(UInt64(ticket), lane: lane("a"), priority: .normal)
        }
        limiter.setPriority(.high, of: 4)
        limiter.setPriority(.low, of: 2)
        var order: [UInt64] = []
        for _ in 0..<3 {
            limiter.leave(lane("a"))
            if let ticket = limiter.admit() { order.append(ticket) }
        }
        #expect(order == [4, 3, 2])
    }

    @Test func returningTicketIsNotRefusedAndKeepsItsOrder() {
        var limiter = ConcurrencyLimiterState()
        limiter.use(RequestLimits(total: 1, waiting: 1))
        expectEqual(limiter.arrive(1, lane: lane("a"), priority: .normal), .enters)
        expectEqual(limiter.arrive(2, lane: lane("b"), priority: .normal), .waits)
        limiter.leave(lane("a"))
        expectEqual(limiter.admit(), 2)
        expectEqual(limiter.arrive(3, lane: lane("c"), priority: .normal), .waits)
        let returned = limiter.arrive(1, lane: lane("a"), priority: .normal, hadPermit: true)
        #expect(returned == .waits)
        limiter.leave(lane("b"))
        expectEqual(limiter.admit(), 1)
    }

    /// With ten thousand waiting hosts: an admission does not scan all of them.
    @Test func manyHostsAreServedInOrder() {
        var limiter = ConcurrencyLimiterState()
        limiter.use(RequestLimits(total: 1, perHost: 1))
        expectEqual(limiter.arrive(0, lane: lane("first"), priority: .normal), .enters)
        for ticket in 1...UInt64(10_000) {
            expectEqual(limiter.arrive(ticket, lane: lane("\(ticket)"), priority: .normal), .waits)
        }
        limiter.leave(lane("first"))
        for ticket in 1...UInt64(10_000) {
            expectEqual(limiter.admit(), ticket)
            limiter.leave(lane("\(ticket)"))
        }
        #expect(limiter.waiting == 0 && limiter.underWay == 0)
    }

    /// Compares the state with a model that scans all tickets.
    @Test func limitsHoldAndNoAdmissibleTicketWaits() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<60 {
            var limiter = ConcurrencyLimiterState()
            var limits = RequestLimits(total: 5, perHost: 2, perTag: [1: 1])
            limiter.use(limits)
            var admitted: [UInt64: ConcurrencyLimiterState.Lane] = [:]
            var waiting: [UInt64: ConcurrencyLimiterState.Lane] = [:]
            for ticket in 1...UInt64(200) {
                let tag = Int.random(in: 0...2, using: &random)
                let newLane = lane(
                    ["a", "b", "c"].randomElement(using: &random) ?? "a", tag == 1 ? 1 : nil)
                let priority = RequestPriority.allCases.randomElement(using: &random) ?? .normal
                switch Int.random(in: 0..<6, using: &random) {
                case 4:
                    limits.total = Int.random(in: 4...6, using: &random)
                    limits.perHost = [1, 2, 3, nil].randomElement(using: &random) ?? nil
                    limiter.use(limits)
                    while let next = limiter.admit() {
                        admitted[next] = waiting.removeValue(forKey: next)
                    }
                case 5:
                    guard let some = waiting.keys.randomElement(using: &random) else { continue }
                    limiter.setPriority(priority, of: some)
                case 0, 1:
                    switch limiter.arrive(ticket, lane: newLane, priority: priority) {
                    case .enters: admitted[ticket] = newLane
                    case .waits: waiting[ticket] = newLane
                    case .refused: Issue.record("The queue has no limit.")
                    }
                case 2:
                    guard let (gone, lane) = admitted.randomElement(using: &random) else {
                        continue
                    }
                    admitted[gone] = nil
                    limiter.leave(lane)
                    while let next = limiter.admit() {
                        admitted[next] = waiting.removeValue(forKey: next)
                    }
                default:
                    guard let gone = waiting.keys.randomElement(using: &random) else { continue }
                    let wasWaiting = limiter.cancel(gone)
                    #expect(wasWaiting)
                    waiting[gone] = nil
                }
                #expect(limiter.underWay == admitted.count && limiter.waiting == waiting.count)
                func fits(_ lane: ConcurrencyLimiterState.Lane) -> Bool {
                    admitted.count < limits.total ?? .max
                        && admitted.values.count { $0.host == lane.host } < limits.perHost ?? .max
                        && (lane.tag == nil || admitted.values.count { $0.tag == 1 } < 1)
                }
                #expect(admitted.count <= 6 && admitted.values.count { $0.tag == 1 } <= 1)
                #expect(!waiting.values.contains(where: fits))
            }
        }
    }
}
