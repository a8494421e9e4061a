import Testing

@testable import ErrandCore

/// Who is let through next, in every order of what can happen to three who wait behind one (row CAN-7).
@Suite(.timeLimit(.minutes(5))) struct TurnLineTests {
    enum Action: Equatable {
        case enter(Int)
        case arrive(Int)
        case giveUp(Int)
        /// Whoever was let through has ended.
        case end
    }

    /// What a line comes to: who was let through, and who was told that it is in vain.
    private struct World {
        var line = TurnLine<Int>()
        var places: [Int: TurnLine<Int>.Place] = [:]
        var present: Set<Int> = []
        var arrived: Set<Int> = []
        var called: Set<Int> = []
        /// Whose turn it is: -1 is whoever came first, `nil` nobody.
        var turn: Int? = -1
        var turns: [Int] = []

        mutating func play(_ action: Action) {
            switch action {
            case .enter(let who) where places[who] == nil && turn != nil:
                // Tickets run against the order of the names.
                places[who] = line.enter(ticket: UInt64(10 - who))
                present.insert(who)
            case .arrive(let who): arrive(who)
            case .giveUp(let who): giveUp(who)
            case .end where turn == -1 || turn.map { called.contains($0) } == true: pass()
            default: break
            }
        }

        mutating func arrive(_ who: Int) {
            guard let place = places[who], arrived.insert(who).inserted else { return }
            switch line.arrive(place, who) {
            case .called:
                #expect(turn == who)
                called.insert(who)
            case .gone: #expect(!present.contains(who))
            case .waits: #expect(turn != who && present.contains(who))
            }
        }

        mutating func giveUp(_ who: Int) {
            guard let place = places[who] else { return }
            let isHis = turn == who
            switch line.giveUp(place) {
            case .waited(let call): #expect(call == who && !isHis && arrived.contains(who))
            case .passes:
                #expect(isHis && !called.contains(who))
                pass()
            case .silent: #expect(!present.contains(who) || !arrived.contains(who) || isHis)
            }
            present.remove(who)
        }

        mutating func pass() {
            let expected = present.max()
            switch line.next() {
            case .call(let who):
                #expect(who == expected && arrived.contains(who))
                called.insert(who)
            case .isHis: #expect(expected.map { !arrived.contains($0) } == true)
            case .nobody: #expect(expected == nil)
            }
            turn = expected
            if let expected {
                present.remove(expected)
                turns.append(expected)
            }
        }
    }

    private static let actions: [Action] =
        (0..<3).flatMap { [.enter($0), .arrive($0), .giveUp($0)] } + [.end]

    @Test func theLowestTicketIsNextWhoeverIsReady() {
        for length in 1...6 { play(length, World()) }
    }

    private func play(_ length: Int, _ world: World) {
        guard length > 0 else { return }
        for action in Self.actions {
            var world = world
            world.play(action)
            play(length - 1, world)
        }
    }

    @Test func whoIsCalledBeforeHeIsReadyIsNotPassedBy() {
        var line = TurnLine<String>()
        let early = line.enter(ticket: 1)
        let late = line.enter(ticket: 2)
        #expect(line.arrive(late, "late") == .waits)
        guard case .isHis = line.next() else {
            Issue.record("somebody else was let through")
            return
        }
        #expect(line.arrive(early, "early") == .called)
        guard case .call("late") = line.next() else {
            Issue.record("the late one was lost")
            return
        }
    }

    @Test func whoGivesUpWhenItIsHisTurnPassesItOn() {
        var line = TurnLine<String>()
        let early = line.enter(ticket: 1)
        let late = line.enter(ticket: 2)
        _ = line.arrive(late, "late")
        _ = line.next()
        guard case .passes = line.giveUp(early), case .call("late") = line.next() else {
            Issue.record("the late one waits for ever")
            return
        }
        #expect(line.arrive(early, "early") == .gone)
    }
}
