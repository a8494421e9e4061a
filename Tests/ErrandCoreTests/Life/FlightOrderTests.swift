import ErrandTesting
import Foundation
import Testing

@testable import ErrandCore

/// A shared transfer with two passengers, in every order of what can happen to it.
@Suite(.timeLimit(.minutes(5))) struct FlightOrderTests {
    enum Action: CaseIterable {
        case board, leaderLeaves, followerLeaves, suspendLeader, suspendFollower, resumeBoth, land
    }

    @Test func theLastToLeaveCancelsAndOnlyEverybodyTogetherSuspends() {
        for length in 1...5 {
            for order in orders(of: length) { play(order) }
        }
    }

    private func play(_ order: [Action]) {
        let leader = context()
        let follower = context()
        let flight = Flight(leader: leader)
        let transfer = TaskContext(flight: flight, of: leader)
        flight.depart(Flight.Transfer(work: Task {}, context: transfer))
        var onBoard: [Int: TaskContext] = [Flight.leaderSeat: leader]
        var seat: Int?
        var landed = false
        var abandoned = false
        for action in order {
            switch action {
            case .board where seat == nil:
                seat = flight.board(follower)
                #expect((seat != nil) == (!landed && !abandoned), "\(order)")
                if let seat { onBoard[seat] = follower }
            case .leaderLeaves where onBoard[Flight.leaderSeat] != nil:
                flight.leave(Flight.leaderSeat)
                onBoard[Flight.leaderSeat] = nil
            case .followerLeaves:
                guard let mine = seat, onBoard[mine] != nil else { break }
                flight.leave(mine)
                onBoard[mine] = nil
            case .suspendLeader: leader.pause.pause()
            case .suspendFollower: follower.pause.pause()
            case .resumeBoth:
                leader.pause.open()
                follower.pause.open()
            case .land where !landed:
                landed = true
                flight.land(.failure(.cancelled))
            default: break
            }
            if onBoard.isEmpty, !landed { abandoned = true }
            let allPaused = !onBoard.isEmpty && onBoard.values.allSatisfy(\.pause.isPaused)
            #expect(flight.pause.isPaused == allPaused, "\(order)")
            #expect(transfer.scope.isCancelled == abandoned, "\(order)")
            guard !landed, let oldest = onBoard.keys.min() else { continue }
            #expect(flight.teller === onBoard[oldest], "\(order)")
        }
    }

    @Test func aLeaderThatLeavesBeforeTheTransferIsKnownEndsItToo() {
        let leader = context()
        let flight = Flight(leader: leader)
        flight.leave(Flight.leaderSeat)
        let transfer = TaskContext(flight: flight, of: leader)
        flight.depart(Flight.Transfer(work: Task {}, context: transfer))
        #expect(transfer.scope.isCancelled)
        #expect(flight.board(context()) == nil)
    }

    @Test func theTransferIsAsUrgentAsTheMostUrgentOnBoard() throws {
        let (leader, follower) = (context(), context())
        leader.priority = .low
        let flight = Flight(leader: leader)
        let transfer = TaskContext(flight: flight, of: leader)
        flight.depart(Flight.Transfer(work: Task {}, context: transfer))
        #expect(transfer.priority == .low)
        let seat = try #require(flight.board(follower))
        #expect(transfer.priority == .normal)
        leader.priority = .high
        #expect(transfer.priority == .high)
        flight.leave(Flight.leaderSeat)
        #expect(transfer.priority == .normal)
        // Whoever has left has no say.
        leader.priority = .low
        follower.priority = .high
        #expect(transfer.priority == .high && follower.priority == .high)
        flight.leave(seat)
        follower.priority = .low
        #expect(transfer.priority == .high)
    }

    @Test func aPriorityThatChangedBeforeTheTransferIsKnownCounts() {
        let leader = context()
        let flight = Flight(leader: leader)
        let transfer = TaskContext(flight: flight, of: leader)
        leader.priority = .high
        flight.depart(Flight.Transfer(work: Task {}, context: transfer))
        #expect(transfer.priority == .high)
    }

    @Test func everyPassengerSeesTheProgress() async {
        let (leader, follower) = (context(), context())
        let flight = Flight(leader: leader)
        flight.progress.update { $0.bytesReceived = 3 }
        let seat = flight.board(follower)
        #expect(follower.progress.current.bytesReceived == 3)
        flight.progress.update { $0.bytesReceived = 5 }
        #expect(leader.progress.current.bytesReceived == 5)
        #expect(follower.progress.current.bytesReceived == 5)
        if let seat { flight.leave(seat) }
        flight.progress.update { $0.bytesReceived = 9 }
        #expect(follower.progress.current.bytesReceived == 5)
    }

    private func context() -> TaskContext {
        TaskContext(
            id: UUID(), description: RequestDescription(endpoint: "Test", url: ""),
            configuration: Configuration(), transport: ScriptedTransport(), store: nil,
            clock: ManualClock())
    }

    private func orders(of length: Int) -> [[Action]] {
        guard length > 0 else { return [[]] }
        return orders(of: length - 1).flatMap { order in Action.allCases.map { order + [$0] } }
    }
}
