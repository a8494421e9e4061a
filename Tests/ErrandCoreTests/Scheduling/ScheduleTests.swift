import Testing

@testable import ErrandCore

@Suite struct ScheduleTests {
    private func lane(_ host: String, _ tag: Int? = nil) -> Schedule.Lane {
        .init(host: host, tag: tag)
    }

    /// The macro takes no mutating calls.
    private func expect<Value: Equatable>(_ value: Value, _ expected: Value) {
        #expect(value == expected)
    }

    @Test func aFullHostDoesNotHoldUpAnother() {
        var schedule = Schedule()
        schedule.use(RequestLimits(total: 3, perHost: 1))
        expect(schedule.arrive(1, lane: lane("a"), priority: .normal), .enters)
        expect(schedule.arrive(2, lane: lane("a"), priority: .high), .waits)
        expect(schedule.arrive(3, lane: lane("b"), priority: .low), .enters)
        expect(schedule.admit(), nil)
        schedule.leave(lane("a"))
        expect(schedule.admit(), 2)
        expect(schedule.admit(), nil)
    }

    @Test func raisedLimitsLetEverybodyInWhoFits() {
        var schedule = Schedule()
        schedule.use(RequestLimits(total: 1))
        for ticket in 1...4 {
            _ = schedule.arrive(UInt64(ticket), lane: lane("a"), priority: .normal)
        }
        schedule.use(RequestLimits(total: 3))
        let admitted = [schedule.admit(), schedule.admit(), schedule.admit()]
        #expect(admitted == [2, 3, nil])
    }

    @Test func aFullLineRefuses() {
        var schedule = Schedule()
        schedule.use(RequestLimits(total: 1, waiting: 1))
        expect(schedule.arrive(1, lane: lane("a"), priority: .normal), .enters)
        expect(schedule.arrive(2, lane: lane("a"), priority: .normal), .waits)
        expect(schedule.arrive(3, lane: lane("a"), priority: .high), .refused)
        let cancels = [schedule.cancel(2), schedule.cancel(2)]
        #expect(cancels == [true, false])
        expect(schedule.arrive(4, lane: lane("a"), priority: .normal), .waits)
    }

    @Test func aFloodOfUrgentOnesDoesNotStarveAPatientOne() {
        var line = WaitingLine()
        line.insert(1, priority: .low)
        var served = 0
        for ticket in 2...UInt64(10_000) {
            line.insert(ticket, priority: .high)
            if line.popFirst() == 1 { break }
            served += 1
        }
        #expect(served > 100 && served <= 2 * Int(WaitingRank.headStart))
    }

    @Test func aChangedPriorityMovesATicket() {
        var schedule = Schedule()
        schedule.use(RequestLimits(total: 1))
        for ticket in 1...4 {
            _ = schedule.arrive(UInt64(ticket), lane: lane("a"), priority: .normal)
        }
        schedule.setPriority(.high, of: 4)
        schedule.setPriority(.low, of: 2)
        var order: [UInt64] = []
        for _ in 0..<3 {
            schedule.leave(lane("a"))
            if let ticket = schedule.admit() { order.append(ticket) }
        }
        #expect(order == [4, 3, 2])
    }

    @Test func whoGaveAPlaceBackIsNotRefusedAndReturnsToWhereHeStood() {
        var schedule = Schedule()
        schedule.use(RequestLimits(total: 1, waiting: 1))
        expect(schedule.arrive(1, lane: lane("a"), priority: .normal), .enters)
        expect(schedule.arrive(2, lane: lane("b"), priority: .normal), .waits)
        schedule.leave(lane("a"))
        expect(schedule.admit(), 2)
        expect(schedule.arrive(3, lane: lane("c"), priority: .normal), .waits)
        let returned = schedule.arrive(1, lane: lane("a"), priority: .normal, hadPlace: true)
        #expect(returned == .waits)
        schedule.leave(lane("b"))
        expect(schedule.admit(), 1)
    }

    /// Ten thousand hosts wait: nobody looks at all of them for each that goes.
    @Test func manyHostsAreServedInOrder() {
        var schedule = Schedule()
        schedule.use(RequestLimits(total: 1, perHost: 1))
        expect(schedule.arrive(0, lane: lane("first"), priority: .normal), .enters)
        for ticket in 1...UInt64(10_000) {
            expect(schedule.arrive(ticket, lane: lane("\(ticket)"), priority: .normal), .waits)
        }
        schedule.leave(lane("first"))
        for ticket in 1...UInt64(10_000) {
            expect(schedule.admit(), ticket)
            schedule.leave(lane("\(ticket)"))
        }
        #expect(schedule.waiting == 0 && schedule.underWay == 0)
    }

    /// Against a model that keeps a list and looks at everybody.
    @Test func noLimitIsEverPassedAndNobodyWaitsWhoFits() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<60 {
            var schedule = Schedule()
            var limits = RequestLimits(total: 5, perHost: 2, perTag: [1: 1])
            schedule.use(limits)
            var inside: [UInt64: Schedule.Lane] = [:]
            var outside: [UInt64: Schedule.Lane] = [:]
            for ticket in 1...UInt64(200) {
                let tag = Int.random(in: 0...2, using: &random)
                let mine = lane(
                    ["a", "b", "c"].randomElement(using: &random) ?? "a", tag == 1 ? 1 : nil)
                let priority = RequestPriority.allCases.randomElement(using: &random) ?? .normal
                switch Int.random(in: 0..<6, using: &random) {
                case 4:
                    limits.total = Int.random(in: 4...6, using: &random)
                    limits.perHost = [1, 2, 3, nil].randomElement(using: &random) ?? nil
                    schedule.use(limits)
                    while let next = schedule.admit() {
                        inside[next] = outside.removeValue(forKey: next)
                    }
                case 5:
                    guard let some = outside.keys.randomElement(using: &random) else { continue }
                    schedule.setPriority(priority, of: some)
                case 0, 1:
                    switch schedule.arrive(ticket, lane: mine, priority: priority) {
                    case .enters: inside[ticket] = mine
                    case .waits: outside[ticket] = mine
                    case .refused: Issue.record("nothing limits the line")
                    }
                case 2:
                    guard let (gone, its) = inside.randomElement(using: &random) else { continue }
                    inside[gone] = nil
                    schedule.leave(its)
                    while let next = schedule.admit() {
                        inside[next] = outside.removeValue(forKey: next)
                    }
                default:
                    guard let gone = outside.keys.randomElement(using: &random) else { continue }
                    let wasWaiting = schedule.cancel(gone)
                    #expect(wasWaiting)
                    outside[gone] = nil
                }
                #expect(schedule.underWay == inside.count && schedule.waiting == outside.count)
                func fits(_ lane: Schedule.Lane) -> Bool {
                    inside.count < limits.total ?? .max
                        && inside.values.count { $0.host == lane.host } < limits.perHost ?? .max
                        && (lane.tag == nil || inside.values.count { $0.tag == 1 } < 1)
                }
                #expect(inside.count <= 6 && inside.values.count { $0.tag == 1 } <= 1)
                #expect(!outside.values.contains(where: fits))
            }
        }
    }
}
