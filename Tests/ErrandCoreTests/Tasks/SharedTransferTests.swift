import Foundation
import TestSupport
import Testing

@testable import ErrandCore

/// A shared transfer with two requests, in every order of its events.
@Suite(.limited) struct SharedTransferTests {
    enum Action: CaseIterable {
        case followerJoins, leaderLeaves, followerLeaves
        case suspendLeader, suspendFollower, resumeBoth, transferEnds
    }

    @Test func lastLeaverCancelsAndAllTogetherSuspendTheTransfer() {
        for length in 1...5 {
            for order in sequences(of: Action.allCases, length: length) { check(order) }
        }
    }

    private func check(_ order: [Action]) {
        let leader = RequestTask.forTest()
        let follower = RequestTask.forTest()
        let sharedTransfer = SharedTransfer(leader: leader)
        let transfer = RequestTask(sharedTransfer: sharedTransfer, of: leader)
        sharedTransfer.run(transfer) { Task {} }
        var joined: [Int: RequestTask] = [SharedTransfer.leaderID: leader]
        var followerIndex: Int?
        var hasEnded = false
        var isAbandoned = false
        for action in order {
            switch action {
            case .followerJoins where followerIndex == nil:
                followerIndex = sharedTransfer.join(follower)
                #expect((followerIndex != nil) == (!hasEnded && !isAbandoned), "\(order)")
                if let followerIndex { joined[followerIndex] = follower }
            case .leaderLeaves where joined[SharedTransfer.leaderID] != nil:
                sharedTransfer.leave(SharedTransfer.leaderID)
                joined[SharedTransfer.leaderID] = nil
            case .followerLeaves:
                guard let index = followerIndex, joined[index] != nil else { break }
                sharedTransfer.leave(index)
                joined[index] = nil
            case .suspendLeader: leader.pause.pause()
            case .suspendFollower: follower.pause.pause()
            case .resumeBoth:
                leader.pause.open()
                follower.pause.open()
            case .transferEnds where !hasEnded:
                hasEnded = true
                sharedTransfer.finish(.failure(.cancelled))
            default: break
            }
            if joined.isEmpty, !hasEnded { isAbandoned = true }
            let allPaused = !joined.isEmpty && joined.values.allSatisfy { $0.pause.isPaused }
            #expect(transfer.pause.isPaused == allPaused, "\(order)")
            #expect(transfer.scope.isCancelled == isAbandoned, "\(order)")
            guard !hasEnded, let oldest = joined.keys.min() else { continue }
            #expect(sharedTransfer.eventOwner === joined[oldest], "\(order)")
        }
    }

    @Test func leaderThatLeavesBeforeTheTransferStartsCancelsIt() {
        let leader = RequestTask.forTest()
        let sharedTransfer = SharedTransfer(leader: leader)
        sharedTransfer.leave(SharedTransfer.leaderID)
        let transfer = RequestTask(sharedTransfer: sharedTransfer, of: leader)
        sharedTransfer.run(transfer) { Task {} }
        #expect(transfer.scope.isCancelled)
        #expect(sharedTransfer.join(RequestTask.forTest()) == nil)
    }

    @Test func transferHasTheHighestPriorityOfItsRequests() throws {
        let (leader, follower) = (RequestTask.forTest(), RequestTask.forTest())
        leader.priority = .low
        let sharedTransfer = SharedTransfer(leader: leader)
        let transfer = RequestTask(sharedTransfer: sharedTransfer, of: leader)
        sharedTransfer.run(transfer) { Task {} }
        #expect(transfer.priority == .low)
        let followerIndex = try #require(sharedTransfer.join(follower))
        #expect(transfer.priority == .normal)
        leader.priority = .high
        #expect(transfer.priority == .high)
        sharedTransfer.leave(SharedTransfer.leaderID)
        #expect(transfer.priority == .normal)
        // A request that has left no longer counts.
        leader.priority = .low
        follower.priority = .high
        #expect(transfer.priority == .high && follower.priority == .high)
        sharedTransfer.leave(followerIndex)
        follower.priority = .low
        #expect(transfer.priority == .high)
    }

    @Test func priorityChangedBeforeTheTransferStartsIsApplied() {
        let leader = RequestTask.forTest()
        let sharedTransfer = SharedTransfer(leader: leader)
        let transfer = RequestTask(sharedTransfer: sharedTransfer, of: leader)
        leader.priority = .high
        sharedTransfer.run(transfer) { Task {} }
        #expect(transfer.priority == .high)
    }

    @Test func everyRequestReceivesTheProgress() async {
        let (leader, follower) = (RequestTask.forTest(), RequestTask.forTest())
        let sharedTransfer = SharedTransfer(leader: leader)
        sharedTransfer.progress.update { $0.bytesReceived = 3 }
        let followerIndex = sharedTransfer.join(follower)
        #expect(follower.hub.current.bytesReceived == 3)
        sharedTransfer.progress.update { $0.bytesReceived = 5 }
        #expect(leader.hub.current.bytesReceived == 5)
        #expect(follower.hub.current.bytesReceived == 5)
        if let followerIndex { sharedTransfer.leave(followerIndex) }
        sharedTransfer.progress.update { $0.bytesReceived = 9 }
        #expect(follower.hub.current.bytesReceived == 5)
    }
}
